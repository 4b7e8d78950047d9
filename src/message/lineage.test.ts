import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { call, goodTranscript, message, result, text, transcript } from "../../test/support/transcripts.ts"
import { continuation, lineageKey } from "./lineage.ts"
import { callId } from "./message.ts"

describe("what makes no other message", () => {
  test("a cache marker that moved on", () => {
    expect(lineageKey(message("a", "user", { ...text("hi"), breakpoint: "5m" }))).toBe(
      lineageKey(message("b", "user", text("hi"))),
    )
  })
  test("reasoning that a client left out", () => {
    expect(lineageKey(message("a", "assistant", { type: "reasoning", text: "hm" }, text("hi")))).toBe(
      lineageKey(message("a", "assistant", text("hi"))),
    )
  })
  test("arguments with their keys in another order", () => {
    const asked = (input: unknown) =>
      message("a", "assistant", { type: "tool-call", callId: callId("1"), tool: "f", kind: "function", input })
    expect(lineageKey(asked({ a: 1, b: { c: 2, d: 3 } }))).toBe(lineageKey(asked({ b: { d: 3, c: 2 }, a: 1 })))
    expect(lineageKey(asked({ a: 1 }))).not.toBe(lineageKey(asked({ a: 2 })))
  })
})

describe("how a history goes on", () => {
  const past = transcript(["user", text("go")], ["assistant", call("1")], ["user", result("1")])
  test("with one more turn", () => {
    expect(continuation(past, [...past, message("m3", "assistant", text("done"))])).toEqual({
      type: "continues",
      common: 3,
    })
  })
  test("with the same request again", () => {
    expect(continuation(past, past)).toEqual({ type: "continues", common: 3 })
  })
  test("after the client compacted it: call ids still tell", () => {
    const compacted = transcript(["user", text("summary of what was")], ["assistant", call("1")], ["user", result("1")])
    expect(continuation(past, compacted)).toEqual({ type: "diverges", common: 0, sharedCalls: 1 })
  })
  test("not at all", () => {
    expect(continuation(past, transcript(["user", text("give it a title")]))).toEqual({ type: "unrelated" })
  })
  test("for any history and any future, it continues", () => {
    fc.assert(
      fc.property(goodTranscript, goodTranscript, (one, other) => {
        expect(continuation(one, [...one, ...other])).toEqual({ type: "continues", common: one.length })
      }),
    )
  })
})
