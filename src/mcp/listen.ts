import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listenProblem } from "../gateway/http/listen-problem.ts"

/** A port that is open. */
export type Listening = { readonly port: number; readonly close: () => Promise<void> }

export type Handle = (request: Request) => Promise<Response>

export type ListenOptions = {
  readonly port: number
  readonly host: string
  /** More of a body is not kept; the handler is not asked. */
  readonly maxBodyBytes: number
  readonly onFault: (error: unknown) => void
}

/** Connections at once: each agent has a few, and one more is cut without a word. */
const maxConnections = 1000
/** For the headers, for a whole request, and between two requests: a client on the same machine needs milliseconds. */
const headersMs = 10_000
const requestMs = 30_000
const idleMs = 60_000
/** Until requests that are worked on are cut off when the server closes. */
const graceMs = 5000

/** Answer HTTP on a port with a function. Whatever goes wrong with one request, the next one is answered. */
export async function listen(handle: Handle, options: ListenOptions): Promise<Listening> {
  const { port, host, onFault } = options
  const server = createServer((incoming, outgoing) => {
    outgoing.on("error", onFault)
    exchange(handle, incoming, outgoing, options).catch((error: unknown) => {
      onFault(error)
      if (!outgoing.headersSent) outgoing.writeHead(500)
      outgoing.end()
    })
  })
  server.maxConnections = maxConnections
  server.headersTimeout = headersMs
  server.requestTimeout = requestMs
  server.keepAliveTimeout = idleMs
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>()
  server.once("error", reject)
  server.listen({ port, host }, resolve)
  await opened.catch((error: unknown) => Promise.reject(listenProblem(error, port, host)))
  server.off("error", reject).on("error", onFault)
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: async () => {
      const { promise: closed, resolve: done } = Promise.withResolvers<void>()
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      server.close(() => done())
      await closed
      clearTimeout(timer)
    },
  }
}

/** Methods that a Request cannot have. */
const unwritable = /^(?:CONNECT|TRACE|TRACK)$/

/** What was said in a session is for whoever asked, and is what it says it is. */
const everywhere = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

async function exchange(
  handle: Handle,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { maxBodyBytes }: ListenOptions,
): Promise<void> {
  const gone = new AbortController()
  outgoing.on("close", () => gone.abort())
  const url = urlOf(incoming)
  const { method = "GET" } = incoming
  if (url === undefined) return void outgoing.writeHead(400).end()
  if (unwritable.test(method)) return void outgoing.writeHead(405).end()
  const body = await readBody(incoming, maxBodyBytes)
  if (body === "cut") return void outgoing.destroy()
  if (body === "too-large") return void outgoing.writeHead(413).end()
  const response = await handle(
    new Request(url, {
      method,
      headers: headersOf(incoming),
      signal: gone.signal,
      ...(method === "GET" || method === "HEAD" ? {} : { body: body.bytes }),
    }),
  )
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), ...everywhere })
  outgoing.end(Buffer.from(await response.arrayBuffer()))
}

function urlOf({ url = "/" }: IncomingMessage): string | undefined {
  const whole = `http://127.0.0.1${url}`
  return url.startsWith("/") && URL.canParse(whole) ? whole : undefined
}

function headersOf({ headers }: IncomingMessage): Headers {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) for (const one of [value ?? []].flat()) copied.append(name, one)
  return copied
}

type Body = { readonly bytes: Uint8Array<ArrayBuffer> } | "too-large" | "cut"

/** The rest of a body that is too large is left to Node, which reads it away until the time for a request is up. */
function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Body> {
  return new Promise((resolve) => {
    if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) return resolve("too-large")
    let pieces: Uint8Array[] = []
    let length = 0
    incoming.on("data", (piece: Uint8Array) => {
      length += piece.length
      if (length <= maxBytes) return void pieces.push(piece)
      pieces = []
      resolve("too-large")
    })
    incoming.on("end", () => resolve({ bytes: Buffer.concat(pieces) }))
    incoming.on("error", () => resolve("cut"))
    incoming.on("close", () => resolve("cut"))
  })
}
