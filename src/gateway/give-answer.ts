import { present } from "../message/present.ts"
import type { Receipt } from "../session/prepared.ts"
import type { Exchange } from "./exchange.ts"
import { ownHeaders } from "./http/response-headers.ts"
import type { OwnAnswer } from "./server-state/own-answer.ts"

/** Give the client an answer of the gateway's own. */
export function giveAnswer(
  { response, docket }: Pick<Exchange, "response" | "docket">,
  { status, headers, body }: OwnAnswer,
  { session, receipt }: { readonly session?: string; readonly receipt?: Receipt } = {},
): void {
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true
  Object.assign(docket.noted, { how: "answered", stream: isStream, responseBytes: Buffer.byteLength(body) })
  Object.assign(docket.noted, present({ session, receipt }))
  response.writeHead(status, [
    ...Object.entries(headers).flat(),
    "content-length",
    String(Buffer.byteLength(body)),
    ...ownHeaders({ trace: docket.id, session, receipt }),
  ])
  docket.firstByte()
  response.end(body)
  docket.close(status < 400 ? "complete" : "refused", status)
}
