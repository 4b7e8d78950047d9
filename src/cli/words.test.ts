import { expect, test } from "vitest"
import { tokens } from "../message/message.ts"
import type { Report } from "../session/one-shot/report.ts"
import { cacheSentence, countingSentence, whySentence } from "./words.ts"

const measure = { messages: 9, stackTokens: 100, outsideTokens: 5000, totalTokens: 5100 }
const report: Report = {
  changed: true,
  remedy: "summary",
  model: { id: "gpt-5", known: true },
  counting: "exact",
  limit: { by: "budget", tokens: 1200, targetTokens: 1200 },
  before: measure,
  after: measure,
  plan: {
    type: "compact",
    depth: "full",
    forced: true,
    targetTokens: tokens(1200),
    reasons: [{ trigger: "window-share", value: 5000, limit: 1200 }],
  },
  strategy: "staged",
  writer: "extractive",
  droppedMessages: 4,
  shortenedResults: 0,
  memory: [],
}

const why: readonly (readonly [situation: string, change: Partial<Report>, sentence: string])[] = [
  ["over a budget", {}, "It does not fit: 5,000 tokens outside the prompt stack, the budget is 1,200."],
  [
    "over a window",
    { limit: { by: "window", tokens: 900, targetTokens: 400 } },
    "It does not fit: 5,000 tokens of conversation, the window leaves 900 beside the prompt stack and the answer.",
  ],
  [
    "it fits",
    { plan: { type: "leave", flush: false, speculate: false }, remedy: "none" },
    "It fits: 5,000 tokens outside the prompt stack, the budget is 1,200.",
  ],
]
test.each(why)("why something was done: %s", (_situation, change, sentence) => {
  expect(whySentence({ ...report, ...change })).toBe(sentence)
})

const weighing = { leaveDollars: 0.2, rewriteDollars: 0.05, breakEvenCalls: 2.1, pays: true }
const unknown = { id: "mine", known: false }
const cache: readonly (readonly [situation: string, change: Partial<Report>, words: readonly string[]])[] = [
  ["it pays", { weighing }, ["$0.200", "$0.050", "after 3 calls"]],
  ["it does not pay", { weighing: { ...weighing, pays: false } }, ["does not pay"]],
  ["nobody knows the prices", { weighing, model: unknown }, ["25 %", "usual price ratios"]],
]
test.each(cache)("what it does to the cache: %s", (_situation, change, words) => {
  for (const word of words) expect(cacheSentence({ ...report, ...change })).toContain(word)
})

test("nothing is said of a cache that nothing was weighed for", () => {
  expect(cacheSentence(report)).toBeUndefined()
})

const counted: readonly (readonly [situation: string, change: Partial<Report>, words: string])[] = [
  ["a model whose vocabulary is public", {}, "exact, in the vocabulary of gpt-5"],
  ["a model whose vocabulary is not", { counting: "estimated" }, "estimated for gpt-5, on the safe side"],
  ["a model that nobody knows", { model: unknown }, "in o200k tokens; mine is not in the table of models"],
  ["no model", { model: { id: "", known: false }, counting: "estimated" }, "an unnamed model, on the safe side"],
]
test.each(counted)("how tokens were counted: %s", (_situation, change, words) => {
  expect(countingSentence({ ...report, ...change })).toContain(words)
})
