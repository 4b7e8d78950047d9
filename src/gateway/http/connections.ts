import type { IncomingMessage, ServerResponse } from "node:http"
import { isIPv6, type Socket } from "node:net"
import { isLoopback } from "./admission.ts"

/** How many connections a server keeps open. */
export type ConnectionLimits = {
  readonly connections: number
  /** From one address. Programs on this machine all have the same one, and may use all there are. */
  readonly connectionsPerAddress: number
  /** From one address, this machine included: connections whose request has not arrived whole and arrives slowly. */
  readonly halfSentPerAddress: number
}

/** The open connections of a server. One that waits for its client gives way to a new one; one that waits for us never does. */
export type Connections = {
  /** A connection was opened. It is closed at once where no other can give way to it. */
  readonly open: (socket: Socket) => void
  /** The head of a request arrived. */
  readonly begin: (incoming: IncomingMessage, response: ServerResponse) => void
}

/** `request` is the newest one; `sinceMs` is when it began, and `sinceBytes` how much had been read by then. */
type Connection = {
  readonly socket: Socket
  readonly address: Address
  request: IncomingMessage | undefined
  sinceMs: number
  sinceBytes: number
}

/** The connections of one address, each in one of the sets, oldest first. Those whose request arrived whole leave `halfSent` when it is looked through. */
type Address = {
  readonly name: string
  readonly isHere: boolean
  readonly halfSent: Set<Connection>
  readonly answering: Set<Connection>
  readonly idle: Set<Connection>
}

/** A request that arrives at less than this is slow: 32 kbit/s. */
const slowBytesPerSecond = 4000
/** A connection is not slow before this: its first bytes may not have been read yet. */
const patienceMs = 500

export function createConnections(limits: ConnectionLimits, now: () => number): Connections {
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

  /** Make room by closing a connection of these addresses that waits for its client: a slow one, an idle one, or the oldest. */
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
    if (!address.isHere && openOf(address) > limits.connectionsPerAddress) closeOne([address], opened)
    if (bySocket.size <= limits.connections) return
    // The address with the most connections that wait for their client gives way, so that no other is shut out by it.
    closeOne(
      [...addresses.values()].sort((one, other) => waitingOf(other) - waitingOf(one)),
      opened,
    )
  }

  return {
    open: (socket) => {
      const name = addressName(socket.remoteAddress ?? "")
      const address = addresses.get(name) ?? newAddress(name)
      addresses.set(name, address)
      const connection: Connection = { socket, address, request: undefined, sinceMs: now(), sinceBytes: 0 }
      address.halfSent.add(connection)
      bySocket.set(socket, connection)
      socket.once("close", () => forget(connection))
      makeRoom(connection)
    },
    begin: (incoming, response) => {
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
  isHere: name === "" || isLoopback(name),
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

/** Those whose request arrives slowly, oldest first. Those whose request has arrived whole are moved out of the half-sent ones. */
function* slowOf({ halfSent, answering }: Address, nowMs: number): Generator<Connection, undefined> {
  for (const connection of halfSent) if (connection.request?.complete === true) move(connection, answering)
  for (const connection of halfSent) {
    const ms = nowMs - connection.sinceMs
    // Whatever follows began later.
    if (ms < patienceMs) return undefined
    const bytes = connection.socket.bytesRead - connection.sinceBytes
    if (bytes < (ms / 1000) * slowBytesPerSecond) yield connection
  }
  return undefined
}

/** Who a connection is from: an IPv4 address, or the 64 bits of an IPv6 address that one customer has at least. */
function addressName(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address) || address === "::1") return mapped ?? address
  const [head = "", tail] = address.toLowerCase().split("%", 1)[0]?.split("::") ?? []
  const groups = head.split(":").filter((group) => group !== "")
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter((group) => group !== "").length
  const whole = [...groups, ...Array<string>(missing).fill("0"), ...(tail ?? "").split(":")]
  return whole.slice(0, 4).join(":")
}
