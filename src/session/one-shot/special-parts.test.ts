import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { seal } from "../../../test/model-server/ids.ts"
import { objectionTo } from "../../../test/support/objection.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { separate } from "../../compact/stack/separate.ts"
import { type StrategyName, strategies } from "../../compact/stages/strategies.ts"
import { ownMessage } from "../../compact/standing.ts"
import { parseDigest } from "../../compact/summary/digest-text.ts"
import { latestWords } from "../../compact/verify.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Format, formats, textOf } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { type CompactResult, compactRequest, replayTrace } from "./compact-request.ts"
import type { CompactOptions } from "./options.ts"
import { meterFor } from "./plan-request.ts"

/** Requests with provider-specific parts: encrypted thinking, provider tools and compactions, images, markers, text beside results. */

type Item = Readonly<Record<string, unknown>>
/** One turn with unique ids, and this many words. */
type Turn = (n: number, text: string) => readonly Item[]

const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }
const marked = { cache_control: { type: "ephemeral" } }
const thinking = (text: string): Item => ({ type: "thinking", thinking: text, signature: seal("signature", text) })
const use = (n: number): Item => ({ type: "tool_use", id: `c${n}`, name: "read", input: { path: `src/f${n % 5}.ts` } })
const result = (n: number, content: unknown): Item => ({ type: "tool_result", tool_use_id: `c${n}`, content })
const said = (text: string): Item => ({ type: "text", text })
const round = (n: number, lead: readonly Item[], content: unknown, beside: readonly Item[] = []): readonly Item[] => [
  { role: "assistant", content: [...lead, use(n)] },
  { role: "user", content: [result(n, content), ...beside] },
]

const anthropic: readonly Turn[] = [
  (_, text) => [{ role: "user", content: text }],
  (_, text) => [{ role: "user", content: [{ ...said(text), ...marked }, image] }],
  (_, text) => [{ role: "user", content: [said("<system-reminder>\nnote\n</system-reminder>"), said(text)] }],
  (_, text) => [{ role: "assistant", content: [thinking("so"), { ...said(text), ...marked }] }],
  (_, text) => [{ role: "assistant", content: text }],
  (n, text) => round(n, [thinking("hm")], text),
  (n, text) => round(n, [{ type: "redacted_thinking", data: "x" }], [{ ...said(text), ...marked }, image]),
  (n, text) => round(n, [{ type: "compaction", content: "so far" }], text),
  (n, text) => round(n, [], text, [said("Mind this.")]),
  (n, text) => [
    {
      role: "assistant",
      content: [
        { type: "server_tool_use", id: `s${n}`, name: "web_search", input: { query: "x" } },
        { type: "web_search_tool_result", tool_use_id: `s${n}`, content: [] },
        said(text),
      ],
    },
  ],
]

const call = (n: number): Item => ({ id: `c${n}`, type: "function", function: { name: "read", arguments: "{}" } })
const chat: readonly Turn[] = [
  (_, text) => [{ role: "user", content: text }],
  (_, text) => [{ role: "user", content: [said(text), { type: "image_url", image_url: { url: "https://e.com/a" } }] }],
  (_, text) => [{ role: "developer", content: text.slice(0, 60) }],
  (_, text) => [{ role: "assistant", content: text }],
  (n, text) => [
    { role: "assistant", content: null, tool_calls: [call(n)], reasoning_content: "hm" },
    { role: "tool", tool_call_id: `c${n}`, content: text },
  ],
]

const reasoning = (n: number): Item => ({
  type: "reasoning",
  id: `rs_${n}`,
  summary: [],
  encrypted_content: seal("reasoning", `${n}`),
})
const output = (n: number, type: string, text: string): Item => ({ type, call_id: `c${n}`, output: text })
const responses: readonly Turn[] = [
  (_, text) => [{ role: "user", content: text }],
  (_, text) => [{ role: "developer", content: text.slice(0, 60) }],
  (n, text) => [reasoning(n), { role: "assistant", content: [{ type: "output_text", text }] }],
  (n, text) => [
    reasoning(n),
    { type: "function_call", call_id: `c${n}`, name: "read", arguments: "{}" },
    output(n, "function_call_output", text),
  ],
  (n, text) => [
    { type: "custom_tool_call", call_id: `c${n}`, name: "patch", input: "x" },
    output(n, "custom_tool_call_output", text),
  ],
  () => [{ type: "compaction", encrypted_content: "abc" }],
  (n) => [{ type: "web_search_call", id: `ws_${n}`, status: "completed" }],
]

const thoughtSignature = seal("thought", "x")
const gemini: readonly Turn[] = [
  (_, text) => [{ role: "user", parts: [{ text }] }],
  (_, text) => [{ role: "user", parts: [{ text }, { inlineData: { mimeType: "image/png", data: "aGk=" } }] }],
  (_, text) => [{ role: "model", parts: [{ text, thoughtSignature }] }],
  (_, text) => [
    { role: "model", parts: [{ functionCall: { name: "read", args: {} }, thoughtSignature }] },
    { role: "user", parts: [{ functionResponse: { name: "read", response: { output: text } } }] },
  ],
]

const turnsOf: Readonly<Record<Format, readonly Turn[]>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  gemini,
}
const shellOf: Readonly<Record<Format, (list: readonly Item[]) => Item>> = {
  "anthropic-messages": (messages) => ({ model: "any", max_tokens: 9, system: "Be careful.", messages }),
  "openai-chat": (messages) => ({ model: "any", messages: [{ role: "system", content: "Be careful." }, ...messages] }),
  "openai-responses": (input) => ({ model: "any", instructions: "Be careful.", input }),
  gemini: (contents) => ({ systemInstruction: { parts: [{ text: "Be careful." }] }, contents }),
}

const listOf: Arbitrary<(format: Format, from: number) => readonly Item[]> = fc
  .array(fc.record({ pick: fc.nat(), words: fc.integer({ min: 1, max: 120 }) }), { minLength: 1, maxLength: 14 })
  .map((made) => (format, from) => {
    const turns = turnsOf[format]
    return made.flatMap(({ pick, words }, n): readonly Item[] => {
      const text = Array.from({ length: words }, (_, at) => `word${(pick + at * 31) % 211}`).join(" ")
      return turns[pick % turns.length]?.(from + n, `${text}.`) ?? []
    })
  })

const bodyOf = (format: Format, list: readonly Item[]): string => JSON.stringify(shellOf[format](list))

function totalOf(format: Format, body: string): number {
  const request = decodeRequest(format, body)
  return meterFor(request, { format, budgetTokens: 1 }).request(request)
}

function checkSent(format: Format, before: string, after: string, pins: readonly string[]): void {
  expect(objectionTo(format, before)).toBeUndefined()
  expect(objectionTo(format, after)).toBeUndefined()
  const { conversation } = separate(decodeRequest(format, before))
  const users = decodeRequest(format, after)
    .messages.filter(({ role }) => role === "user")
    .flatMap(({ parts }) => parts.map(textOf))
  for (const part of latestWords(conversation) ?? []) expect(users).toContain(textOf(part))
  for (const pin of pins) expect(users.filter((text) => text.includes(pin))).toHaveLength(1)
  const markers = after.match(/"cache_control"/g)?.length ?? 0
  expect(markers).toBeLessThanOrEqual(before.match(/"cache_control"/g)?.length ?? 0)
  const [first] = decodeRequest(format, after).messages.filter(({ role }) => role !== "system")
  const opens = format === "anthropic-messages" || format === "gemini"
  if (opens && !after.includes('"compaction"')) expect(first?.role).toBe("user")
}

/** The number of messages that the digest replaces; there is at most one digest. */
function coveredIn(format: Format, body: string): number {
  const own = decodeRequest(format, body).messages.filter((message) => ownMessage(message) === "digest")
  expect(own.length).toBeLessThanOrEqual(1)
  return own.reduce((sum, { parts }) => sum + (parseDigest(parts.map(textOf).join(""))?.covered ?? 0), 0)
}

/** The result; undefined if required content leaves no room for a digest. */
async function attempt(body: string, options: CompactOptions): Promise<CompactResult<string> | undefined> {
  try {
    return await compactRequest(body, options)
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "budget-impossible") throw error
    expect(error.problem.neededTokens + 100).toBeGreaterThan(options.budgetTokens ?? 0)
    return undefined
  }
}

const pinSets: readonly (readonly string[])[] = [[], ["Never push.", "Cap </pins>:\n$500 \ud83d"]]

test("for any special parts, over many compactions, the provider accepts the request and no earlier digest is lost", async () => {
  const stretch = fc.record({
    list: listOf,
    share: fc.double({ min: 0.1, max: 1.1, noNaN: true }),
    strategy: fc.constantFrom(...(Object.keys(strategies) as StrategyName[])),
    schema: fc.constantFrom("handoff" as const, "snapshot" as const),
  })
  // Each run compacts up to five times, and repeats each: an eighth of the runs is as much work.
  const many = fc.array(stretch, { minLength: 1, maxLength: 5 })
  let compacted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...formats),
      fc.constantFrom(...pinSets),
      many,
      async (format, pins, stretches) => {
        let list: readonly Item[] = turnsOf[format][0]?.(0, "Begin.") ?? []
        let covered = 0
        for (const [n, { list: more, share, strategy, schema }] of stretches.entries()) {
          list = [...list, ...more(format, 100 * (n + 1))]
          const body = bodyOf(format, list)
          const budgetTokens = Math.max(200, Math.floor(totalOf(format, body) * share))
          const options: CompactOptions = { format, budgetTokens, strategy, schema, pins }
          const done = await attempt(body, options)
          if (done === undefined) continue
          const { body: sent, report, trace } = done
          compacted++
          checkSent(format, body, sent, pins)
          expect(replayTrace(body, trace, options)).toBe(sent)
          expect(report.before.totalTokens).toBe(totalOf(format, body))
          expect(report.after.totalTokens).toBe(totalOf(format, sent))
          expect(report.after.outsideTokens).toBeLessThanOrEqual(budgetTokens)
          expect((await compactRequest(sent, options)).body).toBe(sent)
          const now = coveredIn(format, sent)
          expect(now).toBeGreaterThanOrEqual(covered)
          covered = now
          const json = JSON.parse(sent)
          list = json.input ?? json.contents ?? json.messages.filter(({ role }: Item) => role !== "system")
        }
      },
    ),
    { numRuns: Math.ceil(runs / 8) },
  )
  expect(compacted, "nearly all budgets were impossible").toBeGreaterThan(runs / 8)
}, 600_000)
