import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { listenProblem } from "../http/listen-problem.ts"
import type { GatewayOptions } from "./gateway-options.ts"

export type Listening = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }

/** How long a connection without a request is kept: longer than the pools of clients and balancers keep theirs. */
const idleMs = 75_000

/** Listen for requests. Nothing that a client does to its connection gets further than that connection. */
export async function listen(
  { host, port, limits, onFault }: GatewayOptions,
  handle: (incoming: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.bodyMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: 1000,
    },
    handle,
  )
  server.maxConnections = limits.connections
  server.on("upgrade", (_request, socket) => refuseUpgrade(socket))
  server.on("connect", (_request, socket) => refuseTunnel(socket))
  server.on("clientError", refuseBytes)
  const name = host.replace(/^\[|\]$/g, "")
  await open(server, port, name)
  server.on("error", onFault)
  const address = server.address()
  const opened = typeof address === "object" && address !== null ? address.port : port
  return {
    port: opened,
    url: `http://${name.includes(":") ? `[${name}]` : name}:${opened}`,
    close: () => close(server, limits.graceMs),
  }
}

/** Clients that try a WebSocket first fall back to POST at once. */
function refuseUpgrade(socket: Duplex): void {
  socket.on("error", () => {})
  socket.end("HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\nupgrade: HTTP/1.1\r\n\r\n")
}

/** What asks for a tunnel asks another kind of proxy. */
function refuseTunnel(socket: Duplex): void {
  socket.on("error", () => {})
  socket.end("HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}

const badBytes: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
}

/** What is no HTTP, or comes too slowly. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  const status = badBytes[error.code ?? ""] ?? "400 Bad Request"
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}

async function open(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once("error", reject)
  server.listen({ port, host }, resolve)
  await promise.catch((error: unknown) => Promise.reject(listenProblem(error, port, host)))
  server.off("error", reject)
}

/** Take no more requests; those under way have a while to end. */
async function close(server: Server, graceMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeIdleConnections()
  const idle = setInterval(() => server.closeIdleConnections(), 100)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await promise
  clearTimeout(timer)
  clearInterval(idle)
}
