import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createRedactor, wellKnownSecrets } from "./redact.ts"

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

/** Put together here, so that no scanner takes them for real ones. */
const secrets = [
  ["a key of a model provider", ["sk", "ant", "api03", "x9Qk2".repeat(8)].join("-")],
  ["a token of a code host", ["ghp", "A1b2C3d4E5".repeat(4).slice(0, 36)].join("_")],
  ["a token of another code host", ["glpat", "x9Qk2".repeat(4)].join("-")],
  ["a key of a cloud", `AKIA${"ABCD2345".repeat(2)}`],
  ["a key of another cloud", `AIza${"x9Qk2".repeat(7)}`],
  ["a chat token", ["xoxb", "1234567890", "abcdefghij"].join("-")],
  ["a key of a payment service", ["sk", "live", "x9Qk2".repeat(5)].join("_")],
  ["a signed token", [`eyJ${"x9Qk2".repeat(4)}`, `eyJ${"x9Qk2".repeat(6)}`, "x9Qk2".repeat(8)].join(".")],
  ["a private key", `-----BEGIN RSA ${"PRIVATE"} KEY-----\n${"x9Qk2\n".repeat(20)}-----END RSA ${"PRIVATE"} KEY-----`],
] as const

test.each(secrets)("well-known secrets are redacted wherever they stand: %s", (_what, secret) => {
  const redact = createRedactor(wellKnownSecrets)
  for (const text of [secret, `export KEY=${secret}; echo done`, JSON.stringify({ key: secret }), `"${secret}"`]) {
    const told = JSON.stringify(redact({ text }))
    expect(told).toContain("[redacted]")
    expect(told).not.toContain("x9Qk2x9Qk2")
    expect(told).not.toContain(secret)
  }
})

test("a password in an address and a header's value are redacted, and the rest of the line stays", () => {
  const redact = createRedactor(wellKnownSecrets)
  expect(redact({ text: "postgres://jane:hunter2secret@db.example/shop" }).text).toBe(
    "postgres://jane:[redacted]@db.example/shop",
  )
  expect(redact({ text: "curl -H 'Authorization: Bearer x9Qk2x9Qk2x9Qk2x9' https://a.example" }).text).toBe(
    "curl -H 'Authorization: Bearer [redacted]' https://a.example",
  )
})

test.each([
  "the task-oriented-desk-lamp-with-a-long-name is done",
  "https://example.com:8080/a@b and mailto:jane@example.com",
  "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "authorization: required",
])("what only looks a little like a secret stays: %s", (text) => {
  expect(createRedactor(wellKnownSecrets)({ text }).text).toBe(text)
})
