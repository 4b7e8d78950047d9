import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { withoutReasoning } from "./instead.ts"

const block = fc.oneof(
  fc.record({ type: fc.constant("thinking"), thinking: fc.string(), signature: fc.string() }),
  fc.record({ type: fc.constant("redacted_thinking"), data: fc.string() }),
  fc.record({ type: fc.constant("text"), text: fc.string() }),
)
const message = fc.oneof(
  fc.record({ role: fc.constant("assistant"), content: fc.array(block, { minLength: 1, maxLength: 4 }) }),
  fc.record({ role: fc.constant("user"), content: fc.string() }),
)
const body = fc
  .array(message, { maxLength: 10 })
  .map((messages) => JSON.stringify({ model: "m", max_tokens: 1, messages }))

const format = "anthropic-messages"
const partsOf = (wire: string) => decodeRequest(format, wire).messages.flatMap(({ parts }) => parts)

test("all reasoning is removed, everything else stays, and a second pass changes nothing", () => {
  const property = fc.property(body, (wire) => {
    const out = withoutReasoning(format, wire, false)
    expect(partsOf(out)).toEqual(partsOf(wire).filter(({ type }) => type !== "reasoning"))
    expect(withoutReasoning(format, out, false)).toBe(out)
  })
  fc.assert(property)
})

test("reasoning of the current turn stays with keepOpenRound", () => {
  const property = fc.property(body, (wire) => {
    const { messages } = decodeRequest(format, wire)
    const spoken = messages.findLastIndex(({ role }) => role === "user")
    const out = partsOf(withoutReasoning(format, wire, true))
    const isKept = (n: number): boolean => n >= spoken
    const wanted = messages.flatMap(({ parts }, n) => parts.filter(({ type }) => type !== "reasoning" || isKept(n)))
    expect(out).toEqual(wanted)
  })
  fc.assert(property)
})

test("reasoning items are removed with the ids that link later items to them", () => {
  const call = { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" }
  const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] }
  const result = { type: "function_call_output", id: "fco_1", call_id: "call_1", output: "ok" }
  const last = { ...said, id: "msg_2" }
  const input = [
    { role: "user", content: "Go." },
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] },
    { ...said, id: "msg_1" },
    { ...call, id: "fc_1" },
    result,
    last,
  ]
  const wire = JSON.stringify({ model: "m", input })
  expect(withoutReasoning("openai-responses", wire, true)).toBe(wire)
  const out: unknown = JSON.parse(withoutReasoning("openai-responses", wire, false))
  expect(out).toEqual({ model: "m", input: [input[0], said, call, result, last] })
})
