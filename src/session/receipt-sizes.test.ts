import { expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { answerTo, completion, toolRound, userSays } from "../../test/support/scripted-session.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"

/** A turn's text, and the ratio of the provider's count to ours. */
const turn = fc.record({
  words: fc.integer({ min: 1, max: 400 }),
  reportedShare: fc.double({ min: 0.4, max: 2.5, noNaN: true }),
})

test("a receipt's stable tokens never exceed its context, and a compaction's size is the receipt's", async () => {
  let compactions = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 2, maxLength: 30 }),
      fc.integer({ min: 3000, max: 12_000 }),
      fc.boolean(),
      async (turns, windowTokens, hasRule) => {
        const holdfast = createHoldfast({
          store: createMemoryStore(),
          format: "openai-chat",
          windowTokens,
          reserveTokens: 200,
          memory: { flush: false },
          ...(hasRule ? { pins: ["Never write to the north table."] } : {}),
        })
        const session = holdfast.session("s")
        let before: readonly number[] | undefined
        holdfast.subscribe((event) => {
          if (event.type === "compaction-installed") before = [event.beforeTokens, event.afterTokens]
        })
        for (const [n, { words, reportedShare }] of turns.entries()) {
          before = undefined
          await session.append([userSays(n), ...toolRound(n, words)])
          const { receipt, trace } = await session.prepare()
          expect(receipt.stableTokens).toBeLessThanOrEqual(receipt.contextTokens)
          expect(receipt.contextTokens).toBeLessThanOrEqual(receipt.windowTokens)
          if (before !== undefined) {
            compactions++
            expect(before[1]).toBe(receipt.contextTokens)
            expect(before[0]).toBeGreaterThan(before[1] ?? 0)
            const installed = trace.findLast((event) => event.type === "remedy-installed")
            expect([installed?.beforeTokens, installed?.afterTokens]).toEqual(before)
          }
          await session.record(completion(answerTo(n), Math.ceil(receipt.contextTokens * reportedShare)))
        }
        await holdfast.close()
      },
    ),
    // Fewer would compact too seldom to tell anything.
    { numRuns: Math.max(7, Math.ceil(runs / 8)) },
  )
  expect(compactions).toBeGreaterThan(10)
})
