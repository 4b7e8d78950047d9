import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createRedactor } from "./redact.ts"

const secret = "tok_7SECRET"
const redact = createRedactor([{ pattern: /tok_\dSECRET/ }, { pattern: /"quoted\nsecret"/, by: "[gone]" }])

const names = fc.oneof(fc.string(), fc.constantFrom("type", "key", "secret", "hash", "role", "wire", "input", secret))
const words = fc.oneof(
  fc.string(),
  fc.constantFrom(secret, `a ${secret} b`, '"quoted\nsecret"', `{"a":"${secret}"}`, "text"),
)
const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    words,
    fc.constantFrom(null, true, 3),
    fc.array(tie("data"), { maxLength: 3 }),
    fc.dictionary(names, tie("data"), { maxKeys: 4, noNullPrototype: true }),
    tie("data").map((inner) => JSON.stringify(inner)),
  ),
}))

test("for any tool input, as a value or on the wire, no match is left, however often it is quoted", () => {
  const property = fc.property(data, (input) => {
    const block = { type: "tool_use", id: "c", name: "t", input }
    const written = redact({ type: "message-appended", key: "k", message: { wire: JSON.stringify(block) }, input })
    expect(JSON.stringify(written)).not.toContain(secret)
    expect(written.type).toBe("message-appended")
    expect(JSON.parse(written.message.wire)).toMatchObject({ type: "tool_use", name: "t" })
  })
  fc.assert(property)
})

test("data without a match is returned as the same object", () => {
  const body = { type: "rule-pinned", text: "Be kind.", more: [{ wire: '{"type":"text","text":"x"}' }] }
  expect(redact(body)).toBe(body)
})

test("nested JSON is matched by its content, not by its escapes", () => {
  const inner = JSON.stringify({ a: 'the "quoted\nsecret" is out' })
  const written = redact({ message: { wire: JSON.stringify({ type: "function_call", arguments: inner }) } })
  expect(written.message.wire).toContain("[gone]")
})

test.each([
  ["brackets that open alone", `${"[".repeat(2_000_000)}${secret}`],
  ["brackets that close too", `${"[".repeat(1_000_000)}"${secret}"${"]".repeat(1_000_000)}`],
  ["brackets that seem to close in quotes", `${'["]",'.repeat(400_000)}"${secret}"${"]".repeat(400_000)}`],
])("megabytes of %s are not parsed as JSON", (_what, text) => {
  expect(redact({ text }).text).not.toContain(secret)
})
