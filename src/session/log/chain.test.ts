import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { callId } from "../../message/message.ts"
import { runSteps } from "../../message/steps.ts"
import { brokenLink, payloadsOf } from "../../store/reserved-log.ts"
import type { StoredEntry } from "../../store/store.ts"
import { chainEntries, payloadLength, readBody } from "./chain.ts"
import type { EntryBody } from "./entry.ts"

const rule = (text: string): EntryBody => ({
  type: "rule-pinned",
  text,
  channel: "user",
  by: "asked",
  kind: "obligation",
})
const start = { seq: 0, hash: "" }
const hash = "0".repeat(64)

const words = fc.oneof(
  fc.string({ unit: codePoints }),
  fc.constantFrom("\ud83d", `{"payload:sha256":"${hash}"}`, "payload:sha256", "x".repeat(payloadLength + 1)),
  fc.nat(9).map((n) => `${"\udc00long ".repeat(200)}${n}`),
)

const names = fc.oneof(fc.string(), fc.constantFrom("payload:sha256", "payload:sha256:", "payload:sha256::", "type"))

const { data } = fc.letrec<{ data: unknown }>((tie) => ({
  data: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    words,
    fc.constantFrom(null, true, 0, 1.5),
    fc.array(tie("data"), { maxLength: 3 }),
    fc.dictionary(names, tie("data"), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

/** A message stored in full, with arbitrary arguments. */
const body = data.map(
  (input): EntryBody => ({
    type: "message-appended",
    parent: 0,
    key: "k",
    message: {
      message: {
        role: "assistant",
        parts: [{ type: "tool-call", callId: callId("c"), tool: "t", kind: "function", input }],
      },
    },
  }),
)

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test("for any bodies, reading gives what was written, and every link is valid", () => {
  const property = fc.property(fc.array(body, { minLength: 1, maxLength: 4 }), (bodies) => {
    const { entries, payloads } = runSteps(chainEntries(start, bodies, 7))
    expect(brokenLink(start, entries)).toBeUndefined()
    for (const [n, entry] of entries.entries()) {
      expect(payloadsOf(entry.body).every((name) => payloads.has(name))).toBe(true)
      expect(readBody(entry, payloads, "s")).toEqual(plain(bodies[n]))
    }
  })
  fc.assert(property)
})

test("any change to any entry breaks the chain there or later", () => {
  const change = fc.constantFrom<(entry: StoredEntry) => StoredEntry>(
    (entry) => ({ ...entry, body: `${entry.body} ` }),
    (entry) => ({ ...entry, atMs: entry.atMs + 1 }),
    (entry) => ({ ...entry, type: "rule-pinned" }),
    (entry) => ({ ...entry, parent: 9 }),
    (entry) => ({ ...entry, key: "other" }),
    (entry) => ({ ...entry, seq: entry.seq + 1 }),
    (entry) => ({ ...entry, hash }),
  )
  const property = fc.property(
    fc.array(body, { minLength: 1, maxLength: 4 }),
    fc.nat(),
    change,
    (bodies, at, alter) => {
      const { entries } = runSteps(chainEntries(start, bodies, 7))
      const n = at % entries.length
      const changed = entries.map((entry, place) => (place === n ? alter(entry) : entry))
      expect(brokenLink(start, changed)).toBeDefined()
    },
  )
  fc.assert(property)
})

test("an entry that is not JSON, has another type, or lacks a text is damage", () => {
  const long = "y".repeat(payloadLength + 1)
  const { entries, payloads } = runSteps(chainEntries(start, [rule(long)], 7))
  const [entry] = entries
  if (entry === undefined) throw new Error("nothing was written")
  const damage = expect.objectContaining({ problem: expect.objectContaining({ code: "store-corrupt", session: "s" }) })
  expect(readBody(entry, payloads, "s")).toEqual(rule(long))
  expect(() => readBody(entry, new Map(), "s")).toThrow(damage)
  expect(() => readBody({ ...entry, body: "{" }, payloads, "s")).toThrow(damage)
  expect(() => readBody({ ...entry, body: "null" }, payloads, "s")).toThrow(damage)
  expect(() => readBody({ ...entry, type: "stack-seen" }, payloads, "s")).toThrow(damage)
})
