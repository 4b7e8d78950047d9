import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { conversation as anyConversation, bodyIn } from "../../../test/support/conversations.ts"
import { fc, runs } from "../../../test/support/property.ts"
import type { StrategyName } from "../../compact/stages/strategies.ts"
import { HoldfastError } from "../../message/errors.ts"
import { formats } from "../../message/message.ts"
import { compactRequest } from "./compact-request.ts"
import type { CompactOptions } from "./options.ts"

/** Tool rounds of a Gemini client that sends no ids; the last round may be answered in part, or not at all. */

const words =
  "the invoice of order total was sent to customer and then refunded because flight delayed test failed".split(" ")
const say = (seed: number, length: number): string =>
  Array.from({ length }, (_, n) => words[(seed * 31 + n * 17 + n * n) % words.length]).join(" ")

type Round = {
  /** The tool and argument of each call made at once. */
  readonly calls: readonly { readonly tool: string; readonly n: number; readonly length: number }[]
  readonly says?: string
}

const round: Arbitrary<Round> = fc.record(
  {
    calls: fc.array(
      fc.record({
        tool: fc.constantFrom("get_order", "read_file", "search"),
        n: fc.nat(3),
        length: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 40, max: 900 })),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    says: fc.integer({ min: 1, max: 80 }).map((length) => say(length, length)),
  },
  { requiredKeys: ["calls"] },
)

type Content = { readonly role: string; readonly parts: readonly object[] }

const callsOf = ({ calls }: Round): readonly object[] =>
  calls.map(({ tool, n }) => ({ functionCall: { name: tool, args: { n } } }))

const resultsOf = ({ calls }: Round, count: number): readonly object[] =>
  calls.slice(0, count).map(({ tool, n, length }) => ({
    functionResponse: { name: tool, response: { output: `${tool} ${n}: ${say(n + length, length)}` } },
  }))

const conversation = fc
  .record({
    rounds: fc.array(round, { minLength: 2, maxLength: 12 }),
    latest: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
    last: round,
    answered: fc.nat(3),
  })
  .map(({ rounds, latest, last, answered }) => {
    const contents: Content[] = [{ role: "user", parts: [{ text: `Look after these orders. ${say(1, 30)}` }] }]
    for (const one of rounds) {
      if (one.says !== undefined) contents.push({ role: "user", parts: [{ text: one.says }] })
      contents.push({ role: "model", parts: callsOf(one) }, { role: "user", parts: resultsOf(one, one.calls.length) })
    }
    if (latest !== undefined) contents.push({ role: "user", parts: [{ text: `Now this. ${say(latest, latest)}` }] })
    contents.push({ role: "model", parts: callsOf(last) })
    const given = resultsOf(last, Math.min(answered, last.calls.length - 1))
    if (given.length > 0) contents.push({ role: "user", parts: given })
    return { contents, last: callsOf(last) }
  })

type Outcome = { readonly contents: readonly Content[] } | { readonly neededTokens: number }

async function compacted(contents: readonly Content[], budgetTokens: number): Promise<Outcome> {
  try {
    const { body } = await compactRequest(JSON.stringify({ contents }), { format: "gemini", budgetTokens })
    return JSON.parse(body)
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "budget-impossible") throw error
    return { neededTokens: error.problem.neededTokens }
  }
}

test("Gemini calls without ids that wait for results are kept unchanged", async () => {
  const refused: string[] = []
  let changed = 0
  await fc.assert(
    fc.asyncProperty(conversation, fc.integer({ min: 700, max: 4000 }), async ({ contents, last }, budgetTokens) => {
      const outcome = await compacted(contents, budgetTokens)
      if ("neededTokens" in outcome) {
        refused.push(`${outcome.neededTokens} of ${budgetTokens}`)
        expect(outcome.neededTokens).toBeGreaterThan(budgetTokens)
        return
      }
      if (JSON.stringify(outcome.contents) === JSON.stringify(contents)) return
      changed++
      const calls = outcome.contents.filter(({ role }) => role === "model").at(-1)?.parts
      expect(calls).toEqual(last)
      // Every call is followed by its result, matched by tool name.
      const made = JSON.stringify(outcome.contents).split('"functionCall":').length
      expect(JSON.stringify(outcome.contents).split('"functionResponse":').length).toBe(made)
    }),
    { numRuns: Math.ceil(runs / 5) },
  )
  expect(changed).toBeGreaterThan(runs / 20)
  expect(refused.length).toBeLessThan(runs / 50)
}, 120_000)

type Refusable = { readonly body: string; readonly options: CompactOptions }

/** A request of any format that ends with partly answered calls, or with anything else, and a budget that is often too small. */
const refusable: Arbitrary<Refusable> = fc
  .record({
    messages: anyConversation,
    format: fc.constantFrom(...formats),
    strategy: fc.constantFrom("hybrid", "oldest-drop", "recency") as Arbitrary<StrategyName>,
    pins: fc.constantFrom([], ["Never send e-mail outside example.com."]),
    summarizer: fc.constantFrom("extractive", "none") as Arbitrary<"extractive" | "none">,
    unanswered: fc.nat(3),
    budgetTokens: fc.integer({ min: 5, max: 500 }),
  })
  .map(({ messages, format, unanswered, ...options }) => {
    const last = messages.findLastIndex(({ role }) => role !== "tool")
    const results = messages.length - last - 1
    const kept = messages.slice(0, messages.length - Math.min(unanswered, results))
    return { body: bodyIn(format, kept), options: { ...options, format } }
  })

async function neededBy({ body, options }: Refusable, budgetTokens: number): Promise<number | undefined> {
  try {
    await compactRequest(body, { ...options, budgetTokens })
    return undefined
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "budget-impossible") throw error
    return error.problem.neededTokens
  }
}

async function expectTrueNeed(request: Refusable, budgetTokens: number): Promise<"refused" | "fits"> {
  const needed = await neededBy(request, budgetTokens)
  if (needed === undefined) return "fits"
  expect(needed).toBeGreaterThan(budgetTokens)
  expect({ needed, again: await neededBy(request, needed) }).toEqual({ needed, again: undefined })
  const less = Math.floor(needed * 0.9)
  if (less > budgetTokens)
    expect({ less, again: await neededBy(request, less) }).not.toEqual({ less, again: undefined })
  return "refused"
}

test("the size that a refusal states is enough, and a tenth less is not", async () => {
  const outcomes: string[] = []
  const property = async (request: Refusable): Promise<void> =>
    void outcomes.push(await expectTrueNeed(request, request.options.budgetTokens ?? 1))
  await fc.assert(fc.asyncProperty(refusable, property), { numRuns: Math.ceil(runs / 5) })
  const gemini = conversation.chain(({ contents }) =>
    fc.integer({ min: 10, max: 400 }).map((budgetTokens) => ({
      body: JSON.stringify({ contents }),
      options: { format: "gemini" as const, budgetTokens },
    })),
  )
  await fc.assert(fc.asyncProperty(gemini, property), { numRuns: Math.ceil(runs / 10) })
  expect(outcomes.filter((outcome) => outcome === "refused").length).toBeGreaterThan(runs / 20)
}, 180_000)
