import type { Arbitrary } from "fast-check"
import { describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage, conversation } from "../../../test/support/conversations.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { type StrategyName, strategies } from "../../compact/stages/strategies.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Format, formats, textOf } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { compactRequest } from "./compact-request.ts"

/** The newest results, which the model has never read. */

const line = (n: number): string =>
  `${n}: const value${n} = compute(input${(n * 7919) % 997}, "${(n * 104729) % 9973}")`
const needleOf = (n: number): string => `the needle of result ${n} is ${n * 7 + 13} pins`

/** A file with a line in its middle that nothing points to. */
const fileWith = (needle: string, lines: number): string =>
  [...Array.from({ length: lines }, (_, n) => (n === Math.floor(lines / 2) ? needle : line(n)))].join("\n")

const round = (sizes: readonly number[]): readonly ChatMessage[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: sizes.map((_, n) => ({
      id: `newest_${n}`,
      type: "function",
      function: { name: "read_file", arguments: JSON.stringify({ path: `src/newest${n}.ts` }) },
    })),
  },
  ...sizes.map(
    (lines, n): ChatMessage => ({
      role: "tool",
      tool_call_id: `newest_${n}`,
      content: fileWith(needleOf(n), lines),
    }),
  ),
]

type Case = {
  readonly format: Format
  readonly strategy: StrategyName
  readonly messages: readonly ChatMessage[]
  readonly results: number
  /** The size of the newest round, the user's last message, and room for a digest. */
  readonly leastTokens: number
  readonly share: number
}

const aCase: Arbitrary<Case> = fc
  .record({
    earlier: conversation,
    goal: fc.constantFrom("Fix the parser.", "Go through the files one by one and tell me what is in each of them."),
    sizes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 3 }),
    format: fc.constantFrom(...formats),
    strategy: fc.constantFrom(...(Object.keys(strategies) as StrategyName[])),
    share: fc.double({ min: 0, max: 0.95, noNaN: true }),
  })
  .map(({ earlier, goal, sizes, format, strategy, share }) => {
    const newest = round(sizes)
    const words = [
      goal,
      ...newest.map((message) => `${message.content ?? ""}${JSON.stringify(message.tool_calls ?? "")}`),
    ]
    const leastTokens = Math.ceil(words.reduce((sum, text) => sum + countO200k(text) * 1.05 + 60, 400))
    return {
      format,
      strategy,
      share,
      leastTokens,
      results: sizes.length,
      messages: [...earlier, { role: "user", content: goal }, ...newest],
    }
  })

const resultsIn = (format: Format, body: string): readonly string[] =>
  decodeRequest(format, body).messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool-result" ? textOf(part) : [])),
  )

test("for any history, format and strategy, every unread result that fits is complete in the next request", async () => {
  let compacted = 0
  await fc.assert(
    fc.asyncProperty(aCase, async ({ format, strategy, messages, results, leastTokens, share }) => {
      const body = bodyIn(format, messages)
      const total = countO200k(body)
      const budgetTokens = Math.floor(leastTokens + share * Math.max(0, total - leastTokens))
      const done = await compactRequest(body, { format, strategy, budgetTokens })
      if (done.report.changed) compacted++
      const shown = resultsIn(format, done.body)
      for (let n = 0; n < results; n++) {
        expect(shown.filter((text) => text.includes(needleOf(n)) && !text.includes("left out"))).toHaveLength(1)
      }
    }),
    { numRuns: 2 * runs },
  )
  expect(compacted).toBeGreaterThan((2 * runs) / 3)
})

describe("a result that is larger than the window", () => {
  const history: readonly ChatMessage[] = [
    { role: "user", content: "What does the pattern registerHandler match in the bundle?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "call_1",
          type: "function",
          function: { name: "grep", arguments: JSON.stringify({ pattern: "registerHandler", path: "dist/bundle.js" }) },
        },
      ],
    },
  ]
  const lines = Array.from({ length: 4000 }, (_, n) => (n === 1777 ? "1777: export registerHandler(port)" : line(n)))
  const messages: readonly ChatMessage[] = [
    ...history,
    { role: "tool", tool_call_id: "call_1", content: lines.join("\n") },
  ]

  test.each(formats)(
    "%s: keeps the beginning, the end and the requested part, and says how to get the rest",
    async (format) => {
      const { body, report, trace } = await compactRequest(bodyIn(format, messages), { format, budgetTokens: 6000 })
      const [shown = ""] = resultsIn(format, body)
      expect(shown).toContain(line(0))
      expect(shown).toContain(line(3999))
      expect(shown).toContain("registerHandler(port)")
      expect(shown).toMatch(/left out: more than fits here, so read the rest in parts, by range or by pattern\]/)
      expect(report.after.outsideTokens).toBeGreaterThan(4500)
      expect(trace).toContainEqual(expect.objectContaining({ type: "result-shortened", reason: "no-room" }))
    },
  )

  test("small results beside it stay complete", async () => {
    const [, call] = history
    const small = { id: "call_2", type: "function" as const, function: { name: "grep", arguments: '{"pattern":"x"}' } }
    const both: readonly ChatMessage[] = [
      ...history.slice(0, 1),
      { role: "assistant", content: null, tool_calls: [...(call?.tool_calls ?? []), small] },
      ...messages.slice(2),
      { role: "tool", tool_call_id: "call_2", content: fileWith(needleOf(5), 30) },
    ]
    const { body } = await compactRequest(bodyIn("openai-chat", both), { format: "openai-chat", budgetTokens: 6000 })
    expect(resultsIn("openai-chat", body)[1]).toBe(fileWith(needleOf(5), 30))
  })
})

test("of a record that does not fit whole, what the user asked about stays", async () => {
  const cards = Array.from({ length: 60 }, (_, n) => [
    `card_${n * 7919}`,
    { brand: "visa", last_four: String(1000 + n * 37), holder: "A. Ahmed", valid: "2030-01" },
  ])
  const record = { customer: "c-1", notes: "Likes to be called in the morning.", cards: Object.fromEntries(cards) }
  const messages: readonly ChatMessage[] = [
    { role: "user", content: "Please charge it to my card ending in 2258." },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "get_customer", arguments: '{"id":"c-1"}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: JSON.stringify(record) },
  ]
  for (const budgetTokens of [260, 400, 900]) {
    const { body } = await compactRequest(bodyIn("openai-chat", messages), { format: "openai-chat", budgetTokens })
    const [shown = ""] = resultsIn("openai-chat", body)
    expect(shown).toContain('"card_269246":')
    expect(() => JSON.parse(shown)).not.toThrow()
  }
})

describe("a latest message of the user that is larger than the budget", () => {
  const pasted = Array.from({ length: 3000 }, (_, n) => `[2026-01-01 10:00:${n}] worker ${n} finished`).join("\n")
  const asked = `Here is the log of the night run; tell me which worker hangs.\n${pasted}\nAnswer in one sentence, and in German.`

  test.each(formats)(
    "%s: keeps both ends of the user's text, and shows what is left out of the middle",
    async (format) => {
      const messages: readonly ChatMessage[] = [
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hello, what can I do?" },
        { role: "user", content: asked },
      ]
      const { body, report } = await compactRequest(bodyIn(format, messages), { format, budgetTokens: 4000 })
      const said = decodeRequest(format, body).messages.at(-1)?.parts.map(textOf).join("\n") ?? ""
      expect(said).toContain("tell me which worker hangs.")
      expect(said).toContain("Answer in one sentence, and in German.")
      expect(said).toMatch(/\[… \d+ characters left out: this message is larger than what fits\]/)
      expect(report.after.outsideTokens).toBeLessThanOrEqual(4000)
      expect(report.after.outsideTokens).toBeGreaterThan(3000)
    },
  )

  test("a budget that is just large enough for it keeps as much of the work as a smaller one", async () => {
    const log = pasted.split("\n").slice(0, 60).join("\n")
    const messages: readonly ChatMessage[] = [
      { role: "user", content: "Find out why the night run hangs." },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"python reproduce.py"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: pasted.slice(0, 2000) },
      { role: "assistant", content: "It hangs, as reported." },
      { role: "user", content: `This is from the last run.\n${log}\nGo on, please.` },
    ]
    const body = bodyIn("openai-chat", messages)
    const keeps = async (budgetTokens: number): Promise<boolean> => {
      const done = await compactRequest(body, { format: "openai-chat", budgetTokens })
      return done.body.includes("python reproduce.py")
    }
    const kept: boolean[] = []
    for (let budgetTokens = 400; budgetTokens < 2200; budgetTokens += 25) kept.push(await keeps(budgetTokens))
    expect(kept.slice(kept.indexOf(true))).not.toContain(false)
  })

  test("a message that cannot be kept even so is refused", async () => {
    const body = bodyIn("openai-chat", [{ role: "user", content: asked }])
    const refused = compactRequest(body, { format: "openai-chat", budgetTokens: 100 })
    await expect(refused).rejects.toThrow(HoldfastError)
  })
})
