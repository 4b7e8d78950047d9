import { present } from "../../message/present.ts"
import type { Receipt } from "../../session/prepared.ts"
import type { Exchange } from "../exchange.ts"
import { ownHeaders } from "../response-headers.ts"
import type { OwnAnswer } from "./own-answer.ts"

/** Give the client an answer of the gateway's own. */
export function giveAnswer(
  { response, tally }: Pick<Exchange, "response" | "tally">,
  { status, headers, body }: OwnAnswer,
  { session, receipt }: { readonly session?: string; readonly receipt?: Receipt } = {},
): void {
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true
  Object.assign(tally.noted, { how: "answered", stream: isStream, responseBytes: Buffer.byteLength(body) })
  Object.assign(tally.noted, present({ session, receipt }))
  response.writeHead(status, [
    ...Object.entries(headers).flat(),
    "content-length",
    String(Buffer.byteLength(body)),
    ...ownHeaders({ trace: tally.id, session, receipt }),
  ])
  tally.firstByte()
  response.end(body)
  tally.close(status < 400 ? "complete" : "refused", status)
}
