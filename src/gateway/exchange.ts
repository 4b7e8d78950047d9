import type { IncomingMessage, ServerResponse } from "node:http"
import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Receipt } from "../session/history/prepared.ts"
import type { Approvals } from "./admin/approvals.ts"
import { headerLines, ownHeaders, relayedHeaders } from "./http/headers.ts"
import type { Bodies } from "./http/read-body.ts"
import type { Transport, UpstreamAnswer } from "./http/transport.ts"
import { wireError, wireRefusal } from "./http/wire-error.ts"
import type { OutgoingDeps } from "./ingest-call.ts"
import type { OwnAnswer } from "./server-state/compaction-answer.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import type { RecentExchanges, RequestLog } from "./telemetry/recent-exchanges.ts"

export type ExchangeDeps = GatewayOptions &
  OutgoingDeps & {
    readonly transport: Transport
    readonly recentExchanges: RecentExchanges
    readonly bodies: Bodies
    readonly approvals: Approvals
  }

/** One HTTP request in progress, with its response. */
export type Exchange = {
  readonly deps: ExchangeDeps
  readonly incoming: IncomingMessage
  /** Its headers by lower-case name; repeated ones are joined. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly response: ServerResponse
  /** Call when the request body has arrived completely. Returns false if the limit on concurrent requests is reached. */
  readonly arrived: () => boolean
  readonly requestLog: RequestLog
  readonly tenant: string
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal
}

export const busy = ({ limits }: Pick<ExchangeDeps, "limits">): Problem => ({
  code: "gateway-busy",
  what: "requests at a time",
  limit: limits.requests,
})

/** Responds with a problem as an error body in the client's wire format. */
export function answerProblem({ response, requestLog }: Exchange, problem: Problem, format?: Format): void {
  const { status, headers, body } = wireError(format, problem)
  requestLog.noted.problem = problem
  answerText({ response, requestLog }, status, headers, body)
}

/** Refuses a request whose wire format is unknown. */
export function answerRefusal(
  exchange: Exchange,
  { status, reason }: { readonly status: number; readonly reason: string },
): void {
  const { headers, body } = wireRefusal(undefined, { status, message: reason })
  exchange.requestLog.noted.problem = { code: "path-unknown", reason }
  answerText(exchange, status, headers, body)
}

export function answerText(
  { response, requestLog }: Pick<Exchange, "response" | "requestLog">,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  if (response.headersSent) {
    response.destroy()
    requestLog.close("upstream-cut", response.statusCode)
    return
  }
  const isTooMuch = status === tooMuch && !response.req.complete
  response.writeHead(status, {
    ...headers,
    ...Object.fromEntries(headerLines(ownHeaders({ trace: requestLog.id }))),
    "content-length": Buffer.byteLength(body),
    ...(isTooMuch ? { connection: "close" } : {}),
  })
  if (isTooMuch) endAfterwards(response, body)
  else response.end(body)
  requestLog.close("refused", status)
}

const tooMuch = 413
/** Wait before a connection is closed while the client still sends: closing at once can reset it before the response is read. */
const lingerMs = 1000

function endAfterwards(response: ServerResponse, body: string): void {
  response.write(body)
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, lingerMs)
  response.req.once("end", end)
}

/** Converts an error into a Problem. A bug of the gateway is reported to `onFault`; the client only learns that the gateway failed. */
export function problemOf(error: unknown, onFault: (error: unknown) => void): Problem {
  if (error instanceof HoldfastError) return error.problem
  onFault(error)
  return { code: "gateway-fault" }
}

/** Sends an upstream response that was read whole. */
export function answerBytes(
  { response, requestLog }: Exchange,
  { status, rawHeaders }: Pick<UpstreamAnswer, "status" | "rawHeaders">,
  bytes: Buffer,
  session?: string,
): void {
  const own = ownHeaders({ trace: requestLog.id, ...present({ session }) })
  response.writeHead(status, [...relayedHeaders(rawHeaders, { keepLength: true }), ...own])
  requestLog.firstByte()
  response.end(bytes)
  requestLog.noted.responseBytes = bytes.length
  requestLog.close("complete", status)
}

/** Sends a response that the gateway itself produced. */
export function giveAnswer(
  { response, requestLog }: Pick<Exchange, "response" | "requestLog">,
  { status, headers, body }: OwnAnswer,
  { session, receipt }: { readonly session?: string | undefined; readonly receipt?: Receipt | undefined } = {},
): void {
  const isStream = headers["content-type"]?.startsWith("text/event-stream") === true
  Object.assign(requestLog.noted, { how: "answered", stream: isStream, responseBytes: Buffer.byteLength(body) })
  Object.assign(requestLog.noted, present({ session, receipt }))
  response.writeHead(status, [
    ...Object.entries(headers).flat(),
    "content-length",
    String(Buffer.byteLength(body)),
    ...ownHeaders({ trace: requestLog.id, session, receipt }),
  ])
  requestLog.firstByte()
  response.end(body)
  requestLog.close(status < 400 ? "complete" : "refused", status)
}
