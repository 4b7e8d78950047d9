import { expect, test } from "vitest"
import { bodyIn, conversation } from "../../../test/support/conversations.ts"
import { corpus, linesOf, withoutCorpus } from "../../../test/support/corpus.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { formats } from "../../message/message.ts"
import { findModel } from "../../tokens/models.ts"
import type { Conversation } from "../../transcript/conversation.ts"
import { importTranscript } from "../../transcript/import.ts"
import { arms, callsOf, type Replay, replayConversation, usualModels } from "./replay-conversation.ts"

const model = "claude-sonnet-4-5"

/** What holds of every replay, whatever was said. */
function check({ messages }: Conversation, replay: Replay): void {
  const { turns, compactions, windowTokens, totals, rules, neededValues } = replay
  expect(turns.map(({ messages: before }) => before)).toEqual(callsOf(messages).map(({ at }) => at))
  for (const { arms: sent } of turns)
    for (const arm of arms) {
      const { contextTokens, readTokens, writtenTokens, uncachedTokens, refused, dollars } = sent[arm]
      expect(Math.min(readTokens, writtenTokens, uncachedTokens, dollars)).toBeGreaterThanOrEqual(0)
      expect(readTokens + writtenTokens + uncachedTokens).toBe(contextTokens)
      if (refused === undefined) expect(contextTokens).toBeLessThanOrEqual(windowTokens)
    }
  for (const compaction of compactions) {
    expect(compaction.afterTokens).toBeLessThan(compaction.beforeTokens)
    // One number for one thing: the context of the turn that compacted is what the compaction says.
    expect(turns[compaction.turn - 1]?.arms.holdfast.contextTokens).toBe(compaction.afterTokens)
  }
  for (const arm of arms) {
    expect(totals[arm].dollars).toBeCloseTo(
      turns.reduce((sum, turn) => sum + turn.arms[arm].dollars, 0),
      9,
    )
    expect(totals[arm].kept.rules).toBeLessThanOrEqual(rules.length)
    expect(totals[arm].kept.values).toBeLessThanOrEqual(neededValues)
  }
  expect(totals.none.kept.values).toBe(neededValues)
}

test("for any conversation in any format and window, sizes add up, what goes out fits, and a compaction has one size", async () => {
  let compacted = 0
  await fc.assert(
    fc.asyncProperty(
      conversation,
      fc.constantFrom(...formats),
      fc.integer({ min: 1500, max: 12_000 }),
      async (said, format, windowTokens) => {
        const [first] = importTranscript(bodyIn(format, said), { format }).conversations
        if (first === undefined) throw new Error("the body holds no conversation")
        const replay = await replayConversation(first, findModel(model), { model, windowTokens })
        check(first, replay)
        compacted += replay.compactions.length
      },
    ),
    { numRuns: Math.ceil(runs / 5) },
  )
  expect(compacted).toBeGreaterThan(0)
})

/** The next call is where an answer begins; several messages of the assistant in a row are one answer. */
const turnCases: readonly [why: string, roles: string, calls: readonly number[]][] = [
  ["question and answer", "ua", [1]],
  ["a tool round is two calls", "uata", [1, 3]],
  ["two messages in a row are one answer", "uaata", [1, 4]],
  ["what was said last is asked next", "uau", [1, 3]],
  ["an answer before any question was not asked for", "aua", [2]],
  ["nothing", "", []],
]

test.each(turnCases)("%s: %s", (_why, roles, calls) => {
  const names = { u: "user", a: "assistant", t: "user" } as const
  const messages = [...roles].map((sign, n) => {
    const role = sign === "a" ? names.a : names.u
    return { role, content: `message ${n}` }
  })
  const [first] = messages.length === 0 ? [] : importTranscript(JSON.stringify(messages)).conversations
  expect(callsOf(first?.messages ?? []).map(({ at }) => at)).toEqual(calls)
})

/** Every so many lines of the corpus in the fast run; with more runs asked for, every one. */
const step = runs > 1000 ? 1 : 24

test.skipIf(corpus === undefined)(
  `real traces in a window of a third of them: sizes add up, and no rule is lost${withoutCorpus}`,
  { timeout: 600_000 },
  async () => {
    let compactions = 0
    for (const { file, line } of linesOf("traces").filter((_, n) => n % step === 0)) {
      const [first] = importTranscript(line).conversations
      if (first === undefined) throw new Error(`${file}: no conversation`)
      const name = first.model ?? usualModels[first.format]
      const whole = await replayConversation(first, findModel(name), { model: name })
      const windowTokens = Math.max(6000, Math.ceil(whole.totals.none.mostTokens / 3))
      const replay = await replayConversation(first, findModel(name), { model: name, windowTokens })
      check(first, replay)
      compactions += replay.compactions.length
      if (replay.refusal === undefined && whole.rules.length * 100 < windowTokens / 10)
        expect(replay.totals.holdfast.kept.rules, file).toBe(replay.rules.length)
    }
    expect(compactions).toBeGreaterThan(0)
  },
)
