import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { isIPv6, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { GatewayLimits, GatewayOptions } from "../settings/gateway-options.ts"
import { isLoopback, listenProblem } from "./admission.ts"

export type Listening = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }

/** Not an `import`: that evaluates all exports of `node:http`, among them WebSocket, which loads `fetch` and adds 80 ms to the start. */
const { createServer } = process.getBuiltinModule("node:http")

/** How long an idle connection is kept: longer than connection pools of clients and load balancers keep theirs. */
const idleMs = 75_000

/** Listens for requests. An error on one connection affects only that connection. */
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
  // Clients that try a WebSocket first then fall back to POST. The gateway is not a tunnelling proxy.
  server.on("upgrade", (_request, socket) => endSoon(socket, "426 Upgrade Required", "upgrade: HTTP/1.1\r\n"))
  server.on("connect", (_request, socket) => endSoon(socket, "405 Method Not Allowed"))
  server.on("clientError", refuseInvalid)
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

const errorStatuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
}

/** Refuses bytes that are not HTTP, and requests that arrive too slowly. */
function refuseInvalid(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  endSoon(socket, errorStatuses[error.code ?? ""] ?? "400 Bad Request")
}

/** How long a client may take to read the refusal before its connection is closed. */
const refusalReadMs = 1000

/** Sends the status, and closes the connection even if the client keeps it open: a half-open connection occupies a slot. */
function endSoon(socket: Duplex, status: string, headers = ""): void {
  socket.on("error", () => {})
  const timer = setTimeout(() => socket.destroy(), refusalReadMs)
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

/** Stops accepting requests; open ones get `graceMs` to finish. */
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

type ConnectionLimits = Pick<GatewayLimits, "connections" | "connectionsPerAddress" | "halfSentPerAddress">

/** `request` is the latest one, `sinceMs` the time it began, `sinceBytes` the bytes read before it. */
type Connection = {
  readonly socket: Socket
  readonly address: Address
  request: IncomingMessage | undefined
  sinceMs: number
  sinceBytes: number
}

/**
 * The connections of one address, each in one of the sets, oldest first. A connection whose request has arrived completely is moved out of
 * `halfSent` by `slowOf`.
 */
type Address = {
  readonly name: string
  readonly isLocal: boolean
  readonly halfSent: Set<Connection>
  readonly answering: Set<Connection>
  readonly idle: Set<Connection>
}

/** A request that arrives more slowly than this (32 kbit/s) is slow. */
const slowBytesPerSecond = 4000
/** A connection is not judged slow before this time: its first bytes may not have been read yet. */
const slowAfterMs = 500

/** The open connections of a server. One that waits for its client may be closed for a new one; one that waits for the gateway never is. */
export function createConnections(limits: ConnectionLimits, now: () => number) {
  const addresses = new Map<string, Address>()
  const bySocket = new Map<Socket, Connection>()

  const forget = (connection: Connection): void => {
    const { address, socket } = connection
    bySocket.delete(socket)
    for (const set of setsOf(address)) set.delete(connection)
    if (openOf(address) === 0) addresses.delete(address.name)
  }

  const close = (connection: Connection): void => {
    forget(connection)
    connection.socket.destroy()
  }

  /** Closes one connection of these addresses that waits for its client: a slow one, an idle one, or the oldest. */
  const closeOne = (among: readonly Address[], opened: Connection): void => {
    const slow = among.map((address) => slowOf(address, now()).next().value).find((one) => one !== undefined)
    const idle = slow ?? among.map(({ idle: [first] }) => first).find((one) => one !== undefined)
    close(idle ?? among.map(({ halfSent: [first] }) => first).find((one) => one !== undefined) ?? opened)
  }

  const makeRoom = (opened: Connection): void => {
    const { address } = opened
    if (address.halfSent.size > limits.halfSentPerAddress) {
      const slow = [...slowOf(address, now())]
      const excess = Math.max(0, address.halfSent.size - limits.halfSentPerAddress)
      slow.slice(0, excess).forEach(close)
    }
    if (!address.isLocal && openOf(address) > limits.connectionsPerAddress) closeOne([address], opened)
    if (bySocket.size <= limits.connections) return
    // Take it from the address with the most connections that wait for their client, so that it cannot shut out others.
    closeOne(
      [...addresses.values()].sort((one, other) => waitingOf(other) - waitingOf(one)),
      opened,
    )
  }

  return {
    /** Call for a new connection. It is closed at once if no other can be closed for it. */
    open: (socket: Socket): void => {
      const name = addressName(socket.remoteAddress ?? "")
      const address = addresses.get(name) ?? newAddress(name)
      addresses.set(name, address)
      const connection: Connection = { socket, address, request: undefined, sinceMs: now(), sinceBytes: 0 }
      address.halfSent.add(connection)
      bySocket.set(socket, connection)
      socket.once("close", () => forget(connection))
      makeRoom(connection)
    },
    /** Call when the head of a request has arrived. */
    begin: (incoming: IncomingMessage, response: ServerResponse): void => {
      const connection = bySocket.get(incoming.socket)
      if (connection === undefined) return
      if (connection.request !== undefined) {
        connection.sinceMs = now()
        connection.sinceBytes = incoming.socket.bytesRead
        move(connection, connection.address.halfSent)
      }
      connection.request = incoming
      response.once("close", () => {
        const isIdle = connection.request === incoming && incoming.complete && bySocket.has(incoming.socket)
        if (isIdle) move(connection, connection.address.idle)
      })
    },
  }
}

const newAddress = (name: string): Address => ({
  name,
  isLocal: name === "" || isLoopback(name),
  halfSent: new Set(),
  answering: new Set(),
  idle: new Set(),
})

const setsOf = ({ halfSent, answering, idle }: Address): readonly Set<Connection>[] => [halfSent, answering, idle]
const openOf = (address: Address): number => setsOf(address).reduce((sum, { size }) => sum + size, 0)
const waitingOf = ({ halfSent, idle }: Address): number => halfSent.size + idle.size

function move(connection: Connection, to: Set<Connection>): void {
  for (const set of setsOf(connection.address)) set.delete(connection)
  to.add(connection)
}

/** Connections whose request arrives slowly, oldest first. Connections whose request has arrived completely are moved out of `halfSent`. */
function* slowOf({ halfSent, answering }: Address, nowMs: number): Generator<Connection, undefined> {
  for (const connection of halfSent) if (connection.request?.complete === true) move(connection, answering)
  for (const connection of halfSent) {
    const ms = nowMs - connection.sinceMs
    // All later connections are younger.
    if (ms < slowAfterMs) return undefined
    const bytes = connection.socket.bytesRead - connection.sinceBytes
    if (bytes < (ms / 1000) * slowBytesPerSecond) yield connection
  }
  return undefined
}

/** The client address: an IPv4 address, or the first 64 bits of an IPv6 address, the least that one customer has. */
function addressName(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address) || address === "::1") return mapped ?? address
  const [head = "", tail] = address.toLowerCase().split("%", 1)[0]?.split("::") ?? []
  const groups = head.split(":").filter((group) => group !== "")
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter((group) => group !== "").length
  const whole = [...groups, ...Array<string>(missing).fill("0"), ...(tail ?? "").split(":")]
  return whole.slice(0, 4).join(":")
}
