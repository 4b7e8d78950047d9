import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { brokenTranscript, call, goodTranscript, result, text, transcript } from "../../test/support/transcripts.ts"
import { groupTurns } from "./group.ts"
import { wireText } from "./message.ts"
import { pairCalls } from "./pair.ts"

const shape = (messages: ReturnType<typeof transcript>) =>
  groupTurns(messages).map(({ type, start, end }) => [type, start, end])

describe("what belongs together", () => {
  test("parallel calls and their results in one round", () => {
    const messages = transcript(
      ["user", text("hi")],
      ["assistant", call("1"), call("2")],
      ["user", result("2"), result("1")],
      ["assistant", text("done")],
    )
    expect(shape(messages)).toEqual([
      ["user", 0, 1],
      ["tool-round", 1, 3],
      ["assistant", 3, 4],
    ])
  })
  test("items of one answer that the wire keeps apart", () => {
    const messages = transcript(
      ["assistant", { type: "reasoning", text: "hm" }],
      ["assistant", call("1")],
      ["assistant", call("2")],
      ["user", result("1")],
      ["user", result("2")],
      ["user", text("thanks")],
    )
    expect(shape(messages)).toEqual([
      ["tool-round", 0, 5],
      ["user", 5, 6],
    ])
  })
  test("a result that comes late takes along whatever was said in between", () => {
    const messages = transcript(
      ["assistant", call("1")],
      ["user", text("are you there?")],
      ["assistant", text("still running")],
      ["user", result("1")],
    )
    expect(shape(messages)).toEqual([["tool-round", 0, 4]])
  })
  test("an approval that nobody gave yet is pending", () => {
    const messages = transcript(["user", text("deploy")], ["assistant", call("ask", "approval")])
    expect(groupTurns(messages).at(-1)?.pending).toEqual(["ask"])
  })
  test("a provider's compaction item is no one's turn", () => {
    const messages = transcript(
      ["assistant", { type: "opaque", kind: "compaction", wire: wireText("{}") }],
      ["assistant", text("on we go")],
    )
    expect(shape(messages)).toEqual([
      ["opaque", 0, 1],
      ["assistant", 1, 2],
    ])
  })
})

describe("for any transcript", () => {
  test("groups cover it without gap or overlap, and none splits a call from its result", () => {
    fc.assert(
      fc.property(fc.oneof(goodTranscript, brokenTranscript), (messages) => {
        const groups = groupTurns(messages)
        expect(groups.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, n) => start + n))).toEqual(
          messages.map((_, n) => n),
        )
        for (const { call, result } of pairCalls(messages).pairs) {
          const group = groups.find(({ start, end }) => start <= call.message && call.message < end)
          expect(result.message).toBeGreaterThanOrEqual(group?.start ?? Number.NaN)
          expect(result.message).toBeLessThan(group?.end ?? Number.NaN)
        }
      }),
    )
  })
  test("growing it message by message gives the same groups as grouping it whole", () => {
    fc.assert(
      fc.property(goodTranscript, (messages) => {
        let groups: ReturnType<typeof groupTurns> = []
        for (let end = 1; end <= messages.length; end++) groups = groupTurns(messages.slice(0, end), groups)
        expect(groups).toEqual(groupTurns(messages))
      }),
    )
  })
})
