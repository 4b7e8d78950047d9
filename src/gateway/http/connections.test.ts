import { EventEmitter } from "node:events"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createConnections } from "./listen.ts"

/** An unconnected socket with this remote address. */
function socketFrom(remoteAddress: string): Socket & { bytesRead: number } {
  const socket = new Socket()
  return Object.defineProperties(Object.assign(socket), {
    remoteAddress: { value: remoteAddress },
    bytesRead: { value: 0, writable: true },
  })
}

type Step =
  | { readonly type: "open"; readonly from: string }
  | { readonly type: "head" | "whole" | "answered" | "leave"; readonly which: number }
  | { readonly type: "wait"; readonly ms: number }

const from = fc.constantFrom("127.0.0.1", "::1", "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "2001:db8:0:0:9::2")
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("open" as const), from }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom("head" as const, "whole" as const, "answered" as const, "leave" as const),
      which: fc.nat(30),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("wait" as const), ms: fc.nat(2000) }) },
)

type Client = { readonly socket: Socket; request?: IncomingMessage; response?: ServerResponse; isAnswered: boolean }

test("for any order of events, no limit is exceeded and no client that waits for a response is disconnected", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), fc.integer({ min: 1, max: 12 }), (steps, connections) => {
      const limits = { connections, connectionsPerAddress: 4, halfSentPerAddress: 2 }
      let nowMs = 0
      const guard = createConnections(limits, () => nowMs)
      const clients: Client[] = []
      const waits = ({ request, isAnswered }: Client): boolean => request?.complete === true && !isAnswered
      for (const one of steps) {
        const open = clients.filter(({ socket }) => !socket.destroyed)
        const waiting = open.filter(waits)
        if (one.type === "wait") nowMs += one.ms
        else if (one.type === "open") {
          const socket = socketFrom(one.from)
          clients.push({ socket, isAnswered: false })
          guard.open(socket)
        } else act(one.type, open[one.which % Math.max(1, open.length)], guard)
        if (one.type === "leave") continue
        expect(waiting.filter(({ socket }) => socket.destroyed)).toEqual([])
        expect(clients.filter(({ socket }) => !socket.destroyed).length).toBeLessThanOrEqual(connections)
        const far = clients.filter(({ socket }) => !socket.destroyed && /^(10|::ffff)/.test(socket.remoteAddress ?? ""))
        expect(far.length).toBeLessThanOrEqual(limits.connectionsPerAddress)
      }
    }),
  )
})

function act(
  what: "head" | "whole" | "answered" | "leave",
  client: Client | undefined,
  guard: ReturnType<typeof createConnections>,
): void {
  if (client === undefined) return
  const { socket, request, response } = client
  if (what === "leave") {
    socket.destroy()
    EventEmitter.prototype.emit.call(socket, "close")
  } else if (what === "head" && (request === undefined || client.isAnswered)) {
    client.request = new IncomingMessage(socket)
    client.response = new ServerResponse(client.request)
    client.isAnswered = false
    guard.begin(client.request, client.response)
  } else if (what === "whole" && request !== undefined) request.complete = true
  else if (what === "answered" && request?.complete === true && !client.isAnswered) {
    client.isAnswered = true
    response?.emit("close")
  }
}

test("the oldest slow request is closed first; one that arrives quickly is kept", () => {
  let nowMs = 0
  const guard = createConnections({ connections: 10, connectionsPerAddress: 10, halfSentPerAddress: 2 }, () => nowMs)
  const [quick, slow, other] = [socketFrom("127.0.0.1"), socketFrom("127.0.0.1"), socketFrom("127.0.0.1")]
  guard.open(quick)
  guard.open(slow)
  nowMs = 2000
  quick.bytesRead = 1_000_000
  slow.bytesRead = 20
  guard.open(other)
  expect([quick, slow, other].map(({ destroyed }) => destroyed)).toEqual([false, true, false])
})

test.each([
  ["addresses of one IPv6 network are one", "2001:db8::1", "2001:db8::ffff:2", true],
  ["addresses of two IPv6 networks are two", "2001:db8::1", "2001:db8:0:1::1", false],
  ["an IPv4 address written as IPv6 is the same", "10.0.0.1", "::ffff:10.0.0.1", true],
])("%s", (_why, one, other, isSame) => {
  const guard = createConnections({ connections: 10, connectionsPerAddress: 1, halfSentPerAddress: 10 }, () => 0)
  const [first, second] = [socketFrom(one), socketFrom(other)]
  guard.open(first)
  guard.open(second)
  expect(first.destroyed).toBe(isSame)
  expect(second.destroyed).toBe(false)
})
