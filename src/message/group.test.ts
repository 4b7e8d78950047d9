import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { brokenTranscript, call, goodTranscript, result, text, transcript } from "../../test/support/transcripts.ts"
import { groupTurns, pairCalls, unansweredIn } from "./group.ts"
import { type Part, type Transcript, wireText } from "./message.ts"

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
  test("a provider's compaction item beside words, and an answer without parts, are the assistant's turn", () => {
    const item: Part = { type: "opaque", kind: "compaction", wire: wireText("{}") }
    const messages = transcript(["assistant", item, text("on we go")], ["user", text("yes")], ["assistant"])
    expect(shape(messages)).toEqual([
      ["assistant", 0, 1],
      ["user", 1, 2],
      ["assistant", 2, 3],
    ])
  })
  test.each(["compaction", "compaction_summary"])("a provider's item of kind %s belongs to no turn", (kind) => {
    const messages = transcript(
      ["assistant", { type: "opaque", kind, wire: wireText("{}") }],
      ["assistant", text("on we go")],
    )
    expect(shape(messages)).toEqual([
      ["opaque", 0, 1],
      ["assistant", 1, 2],
    ])
  })
  test.each(["search_results", "last_compaction"])("any other item of a provider, such as %s, does", (kind) => {
    const messages = transcript(
      ["assistant", { type: "opaque", kind, wire: wireText("{}") }],
      ["assistant", text("on we go")],
    )
    expect(shape(messages)).toEqual([["assistant", 0, 2]])
  })
  test("only calls without a result are pending", () => {
    const messages = transcript(["assistant", call("1"), call("2"), call("3")], ["user", result("3"), result("1")])
    expect(groupTurns(messages)).toEqual([
      { type: "tool-round", start: 0, end: 2, calls: ["1", "2", "3"], pending: ["2"] },
    ])
  })
})

describe("what the model has not answered", () => {
  const asked = ["user", text("hi")] as const
  const round = [
    ["assistant", call("1"), call("2")],
    ["user", result("1"), result("2")],
  ] as const
  const answer = ["assistant", text("done")] as const
  const provided = result("p", "found", "provider")

  test.each<[situation: string, messages: Transcript, firstGroup: number, unread: readonly string[]]>([
    ["nothing was said", [], 0, []],
    ["a question", transcript([...asked]), 0, []],
    ["everything is answered", transcript([...asked], [...answer]), 2, []],
    ["a question behind an answer", transcript([...asked], [...answer], [...asked]), 2, []],
    ["a tool round with its results", transcript([...asked], [...round[0]], [...round[1]]), 1, ["1", "2"]],
    ["words behind such a round", transcript([...round[0]], [...round[1]], [...asked]), 0, ["1", "2"]],
    ["a round that was answered", transcript([...round[0]], [...round[1]], [...answer], [...asked]), 2, []],
    ["a provider's own call", transcript(["assistant", call("p", "provider"), provided]), 0, []],
  ])("%s", (_situation, messages, firstGroup, unread) => {
    expect(unansweredIn(messages)).toEqual({ firstGroup, unread: new Set(unread) })
  })

  test("an unfinished answer answers nothing", () => {
    const messages = transcript([...round[0]], [...round[1]], [...asked], [...answer])
    expect(unansweredIn(messages)).toEqual({ firstGroup: 3, unread: new Set() })
    expect(unansweredIn(messages, groupTurns(messages), 3)).toEqual({ firstGroup: 0, unread: new Set(["1", "2"]) })
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
