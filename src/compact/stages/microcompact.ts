import type { Group } from "../../message/group.ts"
import type { CallId, MessageId } from "../../message/ids.ts"
import type { Transcript } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { textOf } from "../../message/text.ts"
import type { Edit, ShortenReason } from "./edit.ts"
import { mentionsIn, visitWords } from "./later-mentions.ts"
import { type BudgetOptions, budgetOf, wholeRounds } from "./micro-budget.ts"
import { imageEdits } from "./micro-images.ts"
import { type MicroResult, microResults, readResult, textAlone } from "./micro-results.ts"
import { collapse, shortenContent } from "./micro-shorten.ts"
import { findSuperseded, isComparable, repeats, type Superseded } from "./micro-superseded.ts"

export type MicroOptions = BudgetOptions & {
  /** The groups of the transcript. */
  readonly groups: readonly Group[]
  readonly count: (text: string) => number
  readonly partTokens: (part: Part) => number
  /** The newest so many tool rounds stay whole, but for an output over `largest`. */
  readonly keepRounds: number
  /** Tokens; a single output over this is shortened even in the newest rounds. */
  readonly largest: number
  /** Calls whose results the model has not read yet: nothing is left out of these. */
  readonly unread?: ReadonlySet<CallId>
  /** What is to be done next: lines with its words are worth keeping. */
  readonly focus?: string
  /** The recall handle of a result, without brackets or line breaks; printed only when given. */
  readonly handleOf?: (callId: CallId) => string | undefined
}

/** Characters of the focus that are read: a longer one is a document rather than a question. */
const maxFocusLength = 2_000
/** Shorter words of it stand on every line. */
const minFocusLength = 4

/** Each pass makes a result smaller; almost always the first is the last. */
const maxPasses = 8

/** Show less of tool results that the model has read: each edit says what stands there instead. Pairs, ids and what was said stay. */
export function microcompact(messages: Transcript, options: MicroOptions): readonly Edit[] {
  const results = microResults(messages, options.groups)
  const superseded = findSuperseded(results, ({ part }) => options.partTokens(part))
  const mentions = mentionsIn(messages, results.at(-1)?.at ?? messages.length)
  const focus = focusWords(options.focus ?? "")
  const contentOf = (result: MicroResult): Shown => {
    const handle = options.handleOf?.(result.part.callId)
    const { nature, failed, age, call, part } = result
    const old = age >= wholeRounds(options.keepRounds, nature.writes, options.scale ?? 1)
    const asked = old ? budgetOf({ ...nature, failed, tool: call.tool }, options) : options.largest
    const target = { budget: Math.min(asked, options.largest), withoutMedia: old }
    const interest = { mentions, after: result.at, focus }
    const source = { kind: nature.kind, failed, interest, ...present({ handle }) }
    const content = shortenContent(part, target, source, options)
    const onlyMedia = part.content.every((item, n) => item === content[n] || item.type !== "text")
    return { content, reason: onlyMedia ? "media" : old && options.scale === 0 ? "older-round" : "over-budget" }
  }
  const settled = (result: MicroResult): Shown => {
    const { part, age } = result
    if (options.unread?.has(part.callId) === true) return { content: part.content, reason: "over-budget" }
    const needless = age >= options.keepRounds ? superseded.get(result) : undefined
    const gone = needless && collapsed(part.content, needless, options.handleOf?.(part.callId))
    const smaller = gone && options.partTokens({ ...part, content: gone.content }) < options.partTokens(part)
    const first = gone !== undefined && smaller === true ? gone : contentOf(result)
    return settle(result, first, contentOf, options.partTokens)
  }
  const shown = joinRepeats(results, results.map(settled), options)
  const edits = results.flatMap((result, n) => resultEdit(result, shown[n], options))
  return [...imageEdits(messages, options.partTokens), ...edits.toReversed()]
}

/** A result with the most that it may take. */
export type ResultBudget = { readonly messageId: MessageId; readonly callId: CallId; readonly tokens: number }

export type FitOptions = Pick<MicroOptions, "groups" | "count" | "partTokens" | "focus" | "handleOf"> & {
  readonly reason: ShortenReason
  /** Said in the marker: what the reader can do to see the rest. */
  readonly advice?: string
}

/**
 * Show single results in at most so many tokens each. With advice they are results that the model has not read: they keep beginning, end
 * and what the call asked about, in one piece as far as that goes.
 */
export function fitResults(
  messages: Transcript,
  wanted: readonly ResultBudget[],
  options: FitOptions,
): readonly Edit[] {
  if (wanted.length === 0) return []
  const budgets = new Map(wanted.map(({ messageId, callId, tokens }) => [`${messageId}\n${callId}`, tokens]))
  const results = microResults(messages, options.groups).flatMap((result) => {
    const budget = budgets.get(`${result.message.id}\n${result.part.callId}`)
    return budget === undefined ? [] : [{ result, budget }]
  })
  const mentions = mentionsIn(messages, results.at(-1)?.result.at ?? messages.length)
  return results.toReversed().flatMap(({ result, budget }) => {
    const { nature, failed, call, part, at } = result
    const asked = options.advice === undefined ? "" : textOf(call)
    const interest = { mentions, after: at, focus: focusWords(`${options.focus ?? ""}\n${asked}`) }
    const source = {
      ...{ kind: nature.kind, failed, interest },
      ...present({ handle: options.handleOf?.(part.callId), advice: options.advice }),
      ...(options.advice === undefined ? {} : { wholeEnds: true as const }),
    }
    const content = shortenContent(part, { budget, withoutMedia: false }, source, options)
    return resultEdit(result, { content, reason: options.reason }, options)
  })
}

/** What is shown of a result can read differently from the result, so it is looked at once more, until nothing changes. */
function settle(
  result: MicroResult,
  first: Shown,
  contentOf: (result: MicroResult) => Shown,
  partTokens: (part: Part) => number,
): Shown {
  let part = { ...result.part, content: first.content }
  for (let pass = 0; pass < maxPasses; pass++) {
    if (part.content.every((item, n) => item === result.part.content[n])) break
    const next = { ...part, content: contentOf(readResult(result, part)).content }
    if (partTokens(next) >= partTokens(part)) break
    part = next
  }
  return { content: part.content, reason: first.reason }
}

/** Results that became the same to the letter, as JSON does without its blanks, are repetitions like those that were so from the start. */
function joinRepeats(
  results: readonly MicroResult[],
  shown: readonly Shown[],
  { keepRounds, partTokens, handleOf, unread }: MicroOptions,
): readonly Shown[] {
  const printed = new Map<string, MicroResult>()
  return results.map((result, n) => {
    const now = shown[n] ?? { content: result.part.content, reason: "over-budget" }
    const text = textAlone(now.content)
    const later = text === undefined ? undefined : printed.get(text)
    if (later !== undefined && result.age >= keepRounds && unread?.has(result.part.callId) !== true)
      return collapsed(result.part.content, repeats(later), handleOf?.(result.part.callId))
    const isWhole = text !== undefined && isComparable(text, partTokens({ ...result.part, content: now.content }))
    if (isWhole && later === undefined) printed.set(text, result)
    return now
  })
}

type Shown = { readonly content: readonly Part[]; readonly reason: ShortenReason }

const collapsed = (content: readonly Part[], { reason, why }: Superseded, handle: string | undefined): Shown => ({
  content: content.map((part) => collapse(part, handle, why)),
  reason,
})

function focusWords(focus: string): ReadonlySet<string> {
  const words = new Set<string>()
  visitWords(focus.slice(0, maxFocusLength), (word) => {
    if (word.length >= minFocusLength) words.add(word.toLowerCase())
  })
  return words
}

/** The edit, unless it changes nothing or saves nothing. */
function resultEdit(
  { message, part }: MicroResult,
  shown: Shown | undefined,
  { partTokens }: Pick<MicroOptions, "partTokens">,
): readonly Edit[] {
  if (shown === undefined || shown.content.every((item, n) => item === part.content[n])) return []
  const { content, reason } = shown
  const beforeTokens = partTokens(part)
  const afterTokens = partTokens({ ...part, content })
  if (afterTokens >= beforeTokens) return []
  return [
    {
      type: "result-shortened",
      messageId: message.id,
      callId: part.callId,
      reason,
      beforeTokens,
      afterTokens,
      content,
    },
  ]
}
