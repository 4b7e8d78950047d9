import { expect, test } from "vitest"
import { receipt } from "../../../test/fixtures/gateway/receipt.ts"
import { defaultPolicy } from "../../compact/plan/policy.ts"
import { decodeRequest } from "../../wire/decode.ts"
import type { Asked } from "./asked.ts"
import { goesOn, laneOf } from "./lane.ts"
import { createLanes, type Lanes, namesItself } from "./lanes.ts"

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

const asking = (messages: readonly object[], headers: Asked["headers"] = {}): Asked => ({
  id: "x",
  tenant: "t",
  headers,
  own: { bypass: false },
  format: "openai-chat",
  bytes: Buffer.from(JSON.stringify({ model: "m", messages: [system, ...messages] })),
})

function put(lanes: Lanes, session: string, asked: Asked): void {
  const request = decodeRequest("openai-chat", asked.bytes.toString())
  const seen = { session, bytes: asked.bytes, request, receipt, changed: false, rules: [] }
  lanes.put(asked, laneOf({ ...seen, isNamed: namesItself(asked) }))
}

/** The session that a request would be sent on in at once, if it would. */
function atOnce(lanes: Lanes, asked: Asked): string | undefined {
  const lane = lanes.find(asked)
  return lane === undefined ? undefined : goesOn(lane, asked.bytes, defaultPolicy)?.session
}

test("of two conversations that began otherwise each goes on at once in its own", () => {
  const lanes = createLanes()
  const [one, other] = [[user("One thing."), ...round("a")] as const, [user("Another thing."), ...round("b")] as const]
  put(lanes, "one", asking(one))
  put(lanes, "two", asking(other))
  expect(atOnce(lanes, asking([...one, ...round("c")]))).toBe("one")
  expect(atOnce(lanes, asking([...other, ...round("d")]))).toBe("two")
})

test("of two that began in the same words neither does, until they have gone apart for good", () => {
  const lanes = createLanes()
  put(lanes, "one", asking([user("Go.")]))
  put(lanes, "two", asking([user("Go.")]))
  expect(lanes.find(asking([user("Go."), ...round("a")]))).toMatchObject({ plain: false })
  put(lanes, "one", asking([user("Go."), ...round("a"), ...round("b"), ...round("c")]))
  put(lanes, "two", asking([user("Go."), ...round("d"), ...round("e"), ...round("f")]))
  const later = asking([user("Go."), ...round("a"), ...round("b"), ...round("c"), ...round("g")])
  expect(atOnce(lanes, later)).toBe("one")
})

test("ids tell apart what words do not", () => {
  const lanes = createLanes()
  const ids = [{ "x-session-id": "one-1234" }, { "x-session-id": "two-1234" }] as const
  put(lanes, "one", asking([user("Go.")], ids[0]))
  put(lanes, "two", asking([user("Go.")], ids[1]))
  expect(atOnce(lanes, asking([user("Go."), ...round("a")], ids[0]))).toBe("one")
})
