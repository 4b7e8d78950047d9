import { expect, test } from "vitest"
import { call, result, text, transcript } from "../../../test/support/transcripts.ts"
import { HoldfastError } from "../../message/errors.ts"
import { tokens } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { type AskModel, writeWithModel } from "./model-write.ts"
import type { PromptInput } from "./prompt.ts"

const messages = transcript(
  ["user", text("Please rename the tax field of the shop, and do not touch the report that was sent.")],
  ["assistant", text("I will look for it."), call("c1")],
  ["user", result("c1", "tax: 19")],
  ["assistant", text("It is in the file and I have renamed it.")],
)
const input: PromptInput = { messages, schema: "handoff", budgetTokens: 500, inputTokens: 10_000, count: countO200k }

const answerOf = (lines: readonly object[]): string => JSON.stringify({ sections: { status: lines } })
const good = answerOf([
  { text: "The tax field of the shop was renamed, as it was asked.", from: ["m3"], state: "done" },
])
const german = answerOf([
  {
    text: "Das Feld für die Steuer ist umbenannt und der Bericht wurde nicht verändert, das ist auch von den Tests her in Ordnung.",
    from: ["m3"],
  },
])

/** A model that gives these answers in turn, and remembers what it was asked. */
function speaker(answers: readonly (string | Error)[]) {
  const asked: { readonly system: string; readonly user: string }[] = []
  const ask: AskModel = async (question) => {
    asked.push(question)
    const answer = answers[asked.length - 1] ?? "nothing more to say"
    if (answer instanceof Error) throw answer
    return {
      text: answer,
      usage: {
        inputTokens: tokens(90),
        outputTokens: tokens(9),
        cacheReadTokens: tokens(0),
        cacheWriteTokens: tokens(0),
      },
    }
  }
  return { ask, asked }
}

test("a good answer is the summary, in one call", async () => {
  const { ask, asked } = speaker([good])
  const { summary, events } = await writeWithModel(ask, input)
  expect(summary?.sections[0]?.lines[0]).toMatchObject({ text: expect.stringContaining("renamed"), sources: ["m3"] })
  expect(asked).toHaveLength(1)
  expect(events).toMatchObject([
    { attempt: 1, outcome: "written", usage: { inputTokens: 90, outputTokens: 9 }, unsourced: 0 },
  ])
})

test("an answer that does not fit is asked for once more with the reason, and then accepted", async () => {
  const { ask, asked } = speaker(["The field was renamed.", good])
  const { summary, events } = await writeWithModel(ask, input)
  expect(summary).toBeDefined()
  expect(asked[1]?.system).toBe(asked[0]?.system)
  expect(asked[1]?.user).toBe(
    `${asked[0]?.user}\n\nYour last answer could not be used: it holds no JSON object. Write it again, and give nothing but the JSON object.`,
  )
  expect(events.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [1, "rejected"],
    [2, "written"],
  ])
})

test.each([
  ["prose", "It went well.", { code: "not-json" }],
  ["an empty answer", "", { code: "not-json" }],
  ["an error text", "Error: 503 Service Unavailable", { code: "not-json" }],
  ["a refusal", "I'm sorry, but I can't help with that.", { code: "not-json" }],
  [
    "a refusal in the right form",
    answerOf([{ text: "I'm sorry, but I can't help with that.", from: ["m1"] }]),
    { code: "failure-text", kind: "refusal" },
  ],
  [
    "an error in the right form",
    answerOf([{ text: "Error: 429 Too Many Requests", from: ["m1"] }]),
    { code: "failure-text", kind: "error-message" },
  ],
  ["another language", german, { code: "wrong-language", expected: "English" }],
  [
    "lines that name no message that was shown",
    answerOf([{ text: "All is well with it.", from: ["m77"] }]),
    { code: "no-known-source" },
  ],
  ["ten megabytes", answerOf([{ text: "x".repeat(10_000_000), from: ["m1"] }]), { code: "too-long" }],
])("%s, twice: no summary, two events, no third call", async (_, answer, reason) => {
  const { ask, asked } = speaker([answer, answer, good])
  const { summary, events } = await writeWithModel(ask, input)
  expect(summary).toBeUndefined()
  expect(asked).toHaveLength(2)
  expect(events).toMatchObject([
    { attempt: 1, outcome: "rejected", failure: { type: "rejected", reason } },
    { attempt: 2, outcome: "rejected", failure: { type: "rejected", reason } },
  ])
})

test("of the messages that a line names only those that were shown count, and a line that has none is left out", async () => {
  const mixed = answerOf([
    { text: "The tax field was renamed by the assistant.", from: ["m3", "m99"] },
    { text: "It was said so in the file.", from: ["m2: result of read", "[m3]"] },
    { text: "The moon is made of cheese, and so it is.", from: ["m99"] },
    { text: "Nobody knows where this line is from.", from: [] },
  ])
  const { summary, events } = await writeWithModel(speaker([mixed]).ask, input)
  expect(summary?.sections[0]?.lines.map(({ sources }) => sources)).toEqual([["m3"], ["m2", "m3"]])
  expect(events).toMatchObject([{ outcome: "written", unsourced: 2 }])
})

test("a line of the earlier summary keeps the sources that it had there", async () => {
  const previous = {
    schema: "handoff",
    sections: [{ name: "status", lines: [{ text: "Began.", sources: ["old7"], channel: "assistant", worth: 5 }] }],
  } as const
  const kept = answerOf([{ text: "The work on the shop began.", from: ["old7"] }])
  const { summary } = await writeWithModel(speaker([kept]).ask, { ...input, previous })
  expect(summary?.sections[0]?.lines[0]?.sources).toEqual(["old7"])
})

test("the language that was asked for is the right one", async () => {
  const { summary } = await writeWithModel(speaker([german]).ask, { ...input, language: "de" })
  expect(summary).toBeDefined()
})

test("a call that failed is not repeated, and is told by its problem", async () => {
  const problem = { code: "upstream-timeout", host: "h", limitMs: 5 } as const
  const { ask, asked } = speaker([new HoldfastError(problem), good])
  expect(await writeWithModel(ask, input)).toEqual({
    events: [
      {
        type: "summary-attempted",
        writer: "model",
        attempt: 1,
        outcome: "problem",
        failure: { type: "problem", problem },
      },
    ],
  })
  expect(asked).toHaveLength(1)
})

test("what a foreign function throws is told by name alone: its words may hold a key", async () => {
  const { events } = await writeWithModel(speaker([new TypeError("bad key sk-123456")]).ask, input)
  expect(events).toMatchObject([{ outcome: "threw", failure: { type: "threw", name: "TypeError" } }])
  expect(JSON.stringify(events)).not.toContain("sk-")
})
