import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http"
import { flatHeaders } from "./exchange.ts"
import { listen, readBody } from "./loopback.ts"

type Headers = Readonly<Record<string, string>>

/** Receives the chunks of one stream as they arrive, `null` at its end, and returns what to send. */
export type StreamTransform = (chunk: Uint8Array | null) => readonly Uint8Array[]

export type RelayOptions = {
  readonly upstream: string
  readonly onRequest?: (body: Uint8Array, path: string, headers: Headers) => Uint8Array
  /** For whole answers, errors included. */
  readonly onResponse?: (body: Uint8Array, path: string, status: number) => Uint8Array
  /** For event streams; called once per stream. */
  readonly transformStream?: (path: string) => StreamTransform
}

export type Relay = {
  readonly url: string
  /** Errors thrown by the given functions or during delivery; each also cut its client off. */
  readonly failures: readonly unknown[]
  readonly close: () => Promise<void>
}

/** Headers that belong to one connection, or to a body that may have changed. */
const notForwarded = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "host", "expect"])

const forwarded = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !notForwarded.has(name)))

/** Forwards the request with its current body. */
function ask(
  upstream: string,
  method: string,
  path: string,
  headers: Headers,
  body: Uint8Array,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body.length === 0 ? {} : { "content-length": String(body.length) }
    const outgoing = httpRequest(new URL(path, upstream), { method, headers: { ...forwarded(headers), ...length } })
    outgoing.on("response", resolve).on("error", reject)
    outgoing.end(body)
  })
}

async function relayStream(
  answer: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  transform: StreamTransform,
): Promise<void> {
  const send = (chunks: readonly Uint8Array[]) => {
    for (const chunk of chunks) response.write(chunk)
  }
  response.flushHeaders()
  for await (const chunk of answer) send(transform(chunk))
  send(transform(null))
  response.end()
}

const unchanged = (chunk: Uint8Array | null): readonly Uint8Array[] => (chunk === null ? [] : [chunk])

async function relay(options: RelayOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "/"
  const headers = flatHeaders(request.headers)
  const received = await readBody(request)
  const body = options.onRequest === undefined ? received : options.onRequest(received, path, headers)
  const answer = await ask(options.upstream, request.method ?? "GET", path, headers, body)
  const status = answer.statusCode ?? 502
  for (const [name, value] of Object.entries(forwarded(flatHeaders(answer.headers)))) response.setHeader(name, value)
  response.statusCode = status
  if (answer.headers["content-type"]?.startsWith("text/event-stream") === true) {
    return relayStream(answer, response, options.transformStream?.(path) ?? unchanged)
  }
  const whole = await readBody(answer)
  const sent = options.onResponse === undefined ? whole : options.onResponse(whole, path, status)
  response.setHeader("content-length", String(sent.length))
  response.end(sent)
}

/** Starts a loopback proxy that passes bodies and streams through the given functions. If the upstream is cut, so is the client. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const failures: unknown[] = []
  const server = createServer((request, response) => {
    relay(options, request, response).catch((failure: unknown) => {
      failures.push(failure)
      response.destroy()
    })
  })
  const { url, close } = await listen(server)
  return { url, failures, close }
}
