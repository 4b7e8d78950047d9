import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import type { GatewayOptions } from "./gateway-options.ts"
import { createConnections } from "./http/connections.ts"
import { listenProblem } from "./http/listen-problem.ts"

export type Listening = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }

/** How long a connection without a request is kept: longer than the pools of clients and balancers keep theirs. */
const idleMs = 75_000

/** Listen for requests. Nothing that a client does to its connection gets further than that connection. */
export async function listen(
  { host, port, limits, onFault }: Pick<GatewayOptions, "host" | "port" | "limits" | "onFault">,
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
    (incoming, response) => {
      connections.begin(incoming, response)
      handle(incoming, response)
    },
  )
  const connections = createConnections(limits, () => performance.now())
  server.on("connection", connections.open)
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
  endSoon(socket, "426 Upgrade Required", "upgrade: HTTP/1.1\r\n")
}

/** What asks for a tunnel asks another kind of proxy. */
function refuseTunnel(socket: Duplex): void {
  socket.on("error", () => {})
  endSoon(socket, "405 Method Not Allowed")
}

const badBytes: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
}

/** What is no HTTP, or comes too slowly. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  endSoon(socket, badBytes[error.code ?? ""] ?? "400 Bad Request")
}

/** A client that is told why its connection ends has this long to read it. */
const lastWordsMs = 1000

/** Say why, and close the connection even if its client leaves it open: half a connection takes the place of a whole one. */
function endSoon(socket: Duplex, status: string, headers = ""): void {
  const timer = setTimeout(() => socket.destroy(), lastWordsMs)
  socket.once("close", () => clearTimeout(timer))
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n${headers}\r\n`)
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
