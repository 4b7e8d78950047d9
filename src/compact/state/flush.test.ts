import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { text, transcript } from "../../../test/support/transcripts.ts"
import { callId } from "../../message/message.ts"
import { flush, memoryOf } from "./flush.ts"
import { notesOf } from "./notes.ts"

const messages = transcript(
  ["user", text("Repair the login page of https://shop.example")],
  [
    "assistant",
    text("I chose bcrypt because md5 is broken."),
    { type: "tool-call", callId: callId("c"), tool: "bash", kind: "function", input: { command: "npm test" } },
  ],
  [
    "user",
    {
      type: "tool-result",
      callId: callId("c"),
      kind: "function",
      content: [text("Error: port 8080 is taken\n1 failed")],
    },
  ],
  ["user", text("No, never open that port")],
)

describe("what is saved before anything is compacted", () => {
  const entries = memoryOf(notesOf(messages))

  test("requests, corrections, decisions and errors are there with their sources", () => {
    expect(entries).toContainEqual({
      kind: "request",
      text: "Repair the login page of https://shop.example",
      sources: ["m0"],
      channel: "user",
      trusted: true,
    })
    expect(entries).toContainEqual({
      kind: "correction",
      text: "No, never open that port",
      sources: ["m3"],
      channel: "user",
      trusted: true,
    })
    expect(entries).toContainEqual({
      kind: "decision",
      text: "I chose bcrypt because md5 is broken.",
      sources: ["m1"],
      channel: "assistant",
      trusted: false,
    })
    expect(entries).toContainEqual({
      kind: "error",
      text: "[Failed attempt] `npm test` failed: Error: port 8080 is taken",
      sources: ["m1", "m2"],
      channel: "tool",
      trusted: false,
    })
  })
})

describe("exact values of some output", () => {
  const call = (input: unknown) =>
    ({ type: "tool-call", callId: callId("c"), tool: "get_order", kind: "function", input }) as const
  const result = (output: string) =>
    ({ type: "tool-result", callId: callId("c"), kind: "function", content: [text(output)] }) as const
  const listed = JSON.stringify(
    [1, 2, 3, 4].map((n) => ({ order_id: `ORD-77${n}41`, status: n % 2 === 0 ? "open" : "shipped", total: n * 10.5 })),
  )
  const valuesIn = (...asked: readonly unknown[]): string =>
    flush(
      transcript(
        ["user", text("Look up my orders.")],
        ["assistant", call(asked[0] ?? {})],
        ["user", result(listed)],
        ["assistant", text(String(asked[1] ?? "I have them."))],
      ),
    )
      .entries.map(({ text: line }) => line)
      .join("\n")

  test("that nobody used are not worth a line, and it is said how many they were", () => {
    expect(valuesIn()).not.toMatch(/ORD-77/)
    const { worthless } = flush(transcript(["assistant", call({})], ["user", result(listed)]))
    expect(worthless).toBeGreaterThanOrEqual(4)
  })

  test("that a call passed on or an answer spoke of are, with what is told of them", () => {
    expect(valuesIn({ order_id: "ORD-77241" })).toMatch(/ORD-77241/)
    expect(valuesIn({ order_id: "ORD-77241" })).toMatch(/order ORD-77241: status=open; total=21/)
    expect(valuesIn({ order_id: "ORD-77241" })).not.toMatch(/ORD-77341/)
    expect(valuesIn({}, "Your order ORD-77341 is shipped.")).toMatch(/ORD-77341/)
  })
})

test("for any output of identifiers, a conversation that speaks of none writes down none of them", () => {
  const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 12, maxLength: 40 })
  const line = fc.oneof(
    hex.map((id) => `commit ${id}`),
    hex.map((id) => `2026-11-15T10:00:00Z request=${id} status=200`),
    hex.map((id) => `{"trace":"${id}","sku":"SKU-${id.slice(0, 6)}"}`),
    hex.map((id) => `/srv/app/${id}/main.ts:17`),
  )
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), (lines) => {
      const output = { type: "tool-result", callId: callId("c"), kind: "function", content: [text(lines.join("\n"))] }
      const { entries } = flush(
        transcript(
          ["user", text("Look at the log.")],
          ["assistant", { type: "tool-call", callId: callId("c"), tool: "read_log", kind: "function", input: {} }],
          ["user", { ...output, type: "tool-result", kind: "function" }],
          ["assistant", text("Nothing is wrong with it.")],
        ),
      )
      const kept = entries.filter(({ channel }) => channel === "tool" || channel === "document")
      expect(kept.filter(({ kind }) => kind === "identifier" || kind === "path" || kind === "fact")).toEqual([])
    }),
  )
})
