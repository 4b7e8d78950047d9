import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { bodyIn, type ChatMessage, conversation, toolMark } from "../../../test/support/conversations.ts"
import { objectionTo } from "../../../test/support/objection.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { separate } from "../../compact/stack/separate.ts"
import { type StrategyName, strategies } from "../../compact/stages/strategies.ts"
import { ownMessage } from "../../compact/standing.ts"
import { parseDigest } from "../../compact/summary/digest-text.ts"
import { latestWords, tokensOutsideStack } from "../../compact/verify.ts"
import { HoldfastError } from "../../message/errors.ts"
import { isSpoken, isSpokenPart, unfence } from "../../message/fence.ts"
import { checkTranscript } from "../../message/group.ts"
import { type Format, formats, textOf } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { adjacencyOf } from "../../wire/codecs.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { type CompactResult, compactRequest, replayTrace } from "./compact-request.ts"
import type { CompactOptions } from "./options.ts"
import { meterFor } from "./plan-request.ts"

const pins = ["Never send e-mail outside example.com.", "Cap: $500 </pins> per order"]

type Case = { readonly body: string; readonly options: CompactOptions; readonly before: number }

const aCase: Arbitrary<Case> = fc
  .record({
    messages: conversation,
    format: fc.constantFrom(...formats),
    strategy: fc.constantFrom(...(Object.keys(strategies) as StrategyName[])),
    share: fc.oneof(fc.double({ min: 0.02, max: 0.6, noNaN: true }), fc.constantFrom(0, 0.9, 1, 2)),
    pinned: fc.boolean(),
    schema: fc.constantFrom("handoff", "snapshot"),
    summarizer: fc.constantFrom("extractive", "extractive", "none"),
    talks: fc.constantFrom(false, false, true),
  })
  .map(({ messages, format, strategy, share, pinned, schema, summarizer, talks }) => {
    const body = bodyIn(format, talks ? messages.flatMap(talkingAfter) : messages)
    const before = outsideOf(format, body)
    const options: CompactOptions = {
      format,
      strategy,
      schema,
      summarizer,
      budgetTokens: Math.max(1, Math.floor(before * share)),
      pins: pinned ? pins : [],
    }
    return { body, options, before }
  })

/** Some clients put the model's text after its calls, before the results. */
const talkingAfter = (message: ChatMessage): readonly ChatMessage[] =>
  message.tool_calls === undefined ? [message] : [message, { role: "assistant", content: "I look at that now." }]

/** Every other message of the user ends in a letter that somebody else wrote. */
const withLetter = (message: ChatMessage, n: number): ChatMessage =>
  message.role !== "user" || typeof message.content !== "string" || n % 2 === 1
    ? message
    : { ...message, content: `${message.content}\n\nSee what they wrote:\n\n${letter}\n` }
const letter = `From: Ann Lee <ann@mail.example>
To: Bo Sand
Date: Tue, 4 Mar 2025 10:02
Subject: RE: the delivery

Hello Bo,

${"the boxes came on Monday and two of them were open. ".repeat(12)}

Ann`

function contextOf(format: Format, body: string) {
  const request = decodeRequest(format, body)
  const { infrastructure, conversation } = separate(request)
  return { request, messages: request.messages, infrastructure, conversation }
}

function outsideOf(format: Format, body: string): number {
  const context = contextOf(format, body)
  return tokensOutsideStack(context, meterFor(context.request, { format, budgetTokens: 1 }))
}

/** The result; undefined if the budget is impossible. */
async function attempt({ body, options }: Case): Promise<CompactResult<string> | undefined> {
  try {
    return await compactRequest(body, options)
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError)
    expect(error instanceof HoldfastError && error.problem.code).toBe("budget-impossible")
    return undefined
  }
}

type Check = (given: Case, result: CompactResult<string>) => void | Promise<void>

const checks: (readonly [promise: string, check: Check])[] = []
const holds = (promise: string, check: Check): void => {
  checks.push([promise, check])
}

holds(
  "every call has its result and every result its call, in the provider's order",
  ({ options }, { body, report }) => {
    const { messages } = contextOf(options.format, body)
    const adjacent = adjacencyOf[options.format]
    expect(
      checkTranscript(messages, { ended: report.changed, ...(adjacent === undefined ? {} : { adjacent }) }),
    ).toEqual([])
    if (report.changed) expect(objectionTo(options.format, body)).toBeUndefined()
  },
)

holds("what asks the model to go on asks it still: it does not end with the model's own words", (given, { body }) => {
  const { format } = given.options
  const roleAtEnd = (text: string) => contextOf(format, text).messages.at(-1)?.role
  if (roleAtEnd(given.body) === "user") expect(roleAtEnd(body)).toBe("user")
})

holds("every pin is there verbatim, and the stack is the very same", ({ body: sent, options }, { body }) => {
  const [before, after] = [contextOf(options.format, sent), contextOf(options.format, body)]
  const texts = after.messages.flatMap(({ parts }) => parts.map(textOf))
  for (const pin of options.pins ?? []) expect(texts.some((text) => text.includes(pin))).toBe(true)
  expect(after.infrastructure.system).toEqual(before.infrastructure.system)
  expect(after.infrastructure.tools).toEqual(before.infrastructure.tools)
  expect(after.infrastructure.messages.map(({ wire }) => wire)).toEqual(
    expect.arrayContaining(before.infrastructure.messages.map(({ wire }) => wire)),
  )
})

holds(
  "the latest words of the user are there verbatim if they fit, and of those that are not shown the digest says some",
  ({ body: sent, options }, { body }) => {
    const [before, after] = [contextOf(options.format, sent), contextOf(options.format, body)]
    const said = (latestWords(before.conversation) ?? []).map(textOf)
    const users = after.messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.map(textOf))
    for (const words of said) {
      const isTooLong = countO200k(words) > (options.budgetTokens ?? 0) - 200
      const isCut = (text: string): boolean =>
        text.includes("left out: this message is larger") && text.startsWith(words.slice(0, 20))
      expect(users.some((text) => text === words || (isTooLong && isCut(text)))).toBe(true)
    }
    const digest = after.conversation.find((message) => ownMessage(message) === "digest")
    const lines = parseDigest(digest?.parts.map(textOf).join("") ?? "")?.summary.sections.flatMap(
      (section) => section.lines,
    )
    const told = lines?.filter(({ channel }) => channel === "user").map(({ text }) => text.slice(0, 4)) ?? []
    const flat = (text: string): string => text.replace(/\s+/g, " ").trim()
    const spoken = before.conversation.filter(isSpoken).map((message) =>
      message.parts
        .filter((part) => isSpokenPart(message, part))
        .map(textOf)
        .join("\n"),
    )
    const isShown = (text: string): boolean => flat(users.join("\n")).includes(flat(text).slice(0, 40))
    // If almost nothing fits, the digest may contain only the first word of the user's request; without a summary it has only the request
    // and its beginning.
    const missed = spoken.slice(0, options.summarizer === "none" ? 1 : undefined)
    if (digest !== undefined && missed.some((text) => flat(text) !== "" && !isShown(text)))
      expect(told.length).toBeGreaterThan(0)
  },
)

holds("it fits, and what fitted comes back as it was", ({ body: sent, options, before }, { body, report }) => {
  expect(outsideOf(options.format, body)).toBeLessThanOrEqual(options.budgetTokens ?? 0)
  const adjacent = adjacencyOf[options.format]
  const { messages } = decodeRequest(options.format, sent)
  const whole = checkTranscript(messages, adjacent === undefined ? {} : { adjacent }).length === 0
  if (before <= (options.budgetTokens ?? 0) && whole && options.pins?.length === 0) expect(body).toBe(sent)
  expect(report.changed).toBe(body !== sent)
})

const unreadable = ({ trace }: Pick<CompactResult<string>, "trace">) =>
  trace
    .flatMap((event) => (event.type === "remedy-rejected" ? event.failures : []))
    .filter(({ code }) => code === "line-missing" || code === "fence-broken")

holds("a digest that is read back says every line that was written", (_, result) => {
  expect(unreadable(result)).toEqual([])
})

holds("compacting twice changes nothing the second time", async ({ options }, { body }) => {
  expect((await compactRequest(body, options)).body).toBe(body)
})

holds("replaying the trace on the input gives the output", ({ body: sent, options }, { body, trace }) => {
  expect(replayTrace(sent, trace, options)).toBe(body)
})

holds(
  "no word of a tool stands outside its result or its fence, and none closes the fence",
  ({ options }, { body }) => {
    for (const message of contextOf(options.format, body).messages) {
      for (const part of message.parts) {
        if (part.type !== "text") continue
        const fenced = ownMessage(message) === "digest" ? unfence("summary", part.text) : undefined
        if (fenced === undefined) expect(part.text).not.toContain(toolMark)
        else expect(part.text.match(/<\/summary/gi)).toHaveLength(1)
      }
    }
  },
)

test("for any conversation, format, strategy and budget, every promise holds or the budget is impossible", async () => {
  let done = 0
  await fc.assert(
    fc.asyncProperty(aCase, async (given) => {
      const result = await attempt(given)
      if (result === undefined) return
      done++
      for (const [promise, check] of checks) {
        try {
          await check(given, result)
        } catch (cause) {
          throw new Error(`broken promise: ${promise}`, { cause })
        }
      }
    }),
    // Three times as many cases as elsewhere: this test checks all promises of compaction.
    { numRuns: 3 * runs },
  )
  expect(checks).toHaveLength(9)
  expect(done, "nearly all budgets were impossible").toBeGreaterThan(runs)
})

test("so does one of messages that end in what the user pasted", async () => {
  const shares = fc.double({ min: 0.05, max: 0.7, noNaN: true })
  await fc.assert(
    fc.asyncProperty(conversation, fc.constantFrom(...formats), shares, async (messages, format, share) => {
      const body = bodyIn(format, messages.map(withLetter))
      const budgetTokens = Math.max(1, Math.floor(outsideOf(format, body) * share))
      const result = await attempt({ body, options: { format, budgetTokens }, before: 0 })
      expect(result === undefined ? [] : unreadable(result)).toEqual([])
    }),
    { numRuns: runs },
  )
})
