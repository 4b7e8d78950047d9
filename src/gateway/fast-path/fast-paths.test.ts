import { expect, test } from "vitest"
import { receipt } from "../../../test/fixtures/gateway/receipt.ts"
import { defaultPolicy } from "../../compact/plan/policy.ts"
import { decodeRequest } from "../../wire/decode.ts"
import {
  continueFastPath,
  createFastPaths,
  type FastPaths,
  fastPathOf,
  type IncomingCall,
  namesItself,
} from "./fast-path.ts"

const system = { role: "system", content: "You are an agent. ".repeat(40) }
const user = (content: string) => ({ role: "user", content })
const round = (id: string) => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: id, content: "done" },
]

const asking = (messages: readonly object[], headers: IncomingCall["headers"] = {}): IncomingCall => ({
  id: "x",
  tenant: "t",
  headers,
  own: { bypass: false },
  owner: { tenant: "t" },
  format: "openai-chat",
  bytes: Buffer.from(JSON.stringify({ model: "m", messages: [system, ...messages] })),
})

function put(fastPaths: FastPaths, session: string, incomingCall: IncomingCall): void {
  const request = decodeRequest("openai-chat", incomingCall.bytes.toString())
  const seen = { session, bytes: incomingCall.bytes, request, receipt, changed: false, rules: [] }
  fastPaths.put(incomingCall, fastPathOf({ ...seen, isNamed: namesItself(incomingCall) }))
}

/** The session in which a request would be forwarded at once, if any. */
function atOnce(fastPaths: FastPaths, incomingCall: IncomingCall): string | undefined {
  const fastPath = fastPaths.find(incomingCall)
  return fastPath === undefined ? undefined : continueFastPath(fastPath, incomingCall.bytes, defaultPolicy)?.session
}

test("two conversations with different beginnings each continue at once in their own session", () => {
  const fastPaths = createFastPaths()
  const [one, other] = [[user("One thing."), ...round("a")] as const, [user("Another thing."), ...round("b")] as const]
  put(fastPaths, "one", asking(one))
  put(fastPaths, "two", asking(other))
  expect(atOnce(fastPaths, asking([...one, ...round("c")]))).toBe("one")
  expect(atOnce(fastPaths, asking([...other, ...round("d")]))).toBe("two")
})

test("of two conversations with the same beginning, neither continues at once until they differ", () => {
  const fastPaths = createFastPaths()
  put(fastPaths, "one", asking([user("Go.")]))
  put(fastPaths, "two", asking([user("Go.")]))
  expect(fastPaths.find(asking([user("Go."), ...round("a")]))).toMatchObject({ plain: false })
  put(fastPaths, "one", asking([user("Go."), ...round("a"), ...round("b"), ...round("c")]))
  put(fastPaths, "two", asking([user("Go."), ...round("d"), ...round("e"), ...round("f")]))
  const later = asking([user("Go."), ...round("a"), ...round("b"), ...round("c"), ...round("g")])
  expect(atOnce(fastPaths, later)).toBe("one")
})

test("ids distinguish conversations with the same words", () => {
  const fastPaths = createFastPaths()
  const ids = [{ "x-session-id": "one-1234" }, { "x-session-id": "two-1234" }] as const
  put(fastPaths, "one", asking([user("Go.")], ids[0]))
  put(fastPaths, "two", asking([user("Go.")], ids[1]))
  expect(atOnce(fastPaths, asking([user("Go."), ...round("a")], ids[0]))).toBe("one")
})
