import { latestSpoken } from "../../message/fence.ts"
import type { Group } from "../../message/group.ts"
import {
  type CallId,
  type MessageId,
  type Part,
  type ToolResultPart,
  type Transcript,
  textOf,
} from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import { inlineImageSize } from "../../tokens/image-size.ts"
import type { StackDocument } from "../stack/place-stack.ts"
import type { Edit, Shortening, ShortenReason } from "./edit.ts"
import { failureExcerpt, hasFailed } from "./failure.ts"
import { mentionsIn, visitWords } from "./later-mentions.ts"
import { escapeMarkers, isMarker, nameHandle, quoteInMarker, shareOut, wholeMarker } from "./marker.ts"
import {
  findSuperseded,
  isComparable,
  type MicroResult,
  microResults,
  readResult,
  repeatedDocument,
  repeats,
  type Superseded,
  textAlone,
} from "./micro-results.ts"
import { shortenText, type TextSource } from "./shorten-text.ts"
import type { ToolKind, ToolNature } from "./tool-kind.ts"

export type Counting = { readonly count: (text: string) => number; readonly partTokens: (part: Part) => number }

type Target = {
  readonly budget: number
  /** True to replace images and documents in any case. */
  readonly withoutMedia: boolean
}

/** Below this budget a text is better left out whole: a marker and a few words take as much. */
export const minShare = 16

type TextPart = Part & { readonly type: "text" }

export const replaceText = (part: TextPart, text: string): Part => ({
  ...{ type: "text", text },
  ...present({ breakpoint: part.breakpoint, channel: part.channel }),
})

/** Shortens a result's content, and keeps a failure line if only the text shows that the run failed. */
function shortenContent(part: ToolResultPart, target: Target, source: TextSource, by: Counting): readonly Part[] {
  const content = fitContent(part, target, source, by)
  if (!source.failed || part.failed !== undefined || hasFailed({ ...part, content })) return content
  const at = part.content.findLastIndex((item) => item.type === "text" && failureExcerpt(item.text) !== undefined)
  return content.map((item, n) => (n === at ? briefFailure(part.content[n] ?? item, source.handle) : item))
}

/** Returns the line that shows the failure, and a marker for the rest. */
function briefFailure(part: Part, handle: string | undefined): Part {
  if (part.type !== "text" || isMarker(part.text.slice(part.text.lastIndexOf("\n") + 1))) return part
  const line = escapeMarkers(failureExcerpt(part.text) ?? "")
  return replaceText(part, `${line}\n${nameHandle(wholeMarker(part.text), handle)}`)
}

/** Fits a result's content into the budget if possible: parts other than text, images and documents stay unchanged. */
function fitContent(part: ToolResultPart, target: Target, source: TextSource, by: Counting): readonly Part[] {
  const mediaTokens = part.content.filter(isMedia).reduce((total, item) => total + by.partTokens(item), 0)
  const swapped = target.withoutMedia || mediaTokens > target.budget
  const content = swapped
    ? part.content.map((item) => (isMedia(item) ? mediaHandle(item, source.handle) : item))
    : part.content
  const total = by.partTokens({ ...part, content })
  if (total <= target.budget) return content
  const first = shareTexts(content, total, target.budget, source, by)
  const over = by.partTokens({ ...part, content: first }) - target.budget
  if (over <= 0) return first
  // A whole may count for a little more than the sum of its parts.
  const second = shareTexts(content, total, target.budget - over, source, by)
  if (by.partTokens({ ...part, content: second }) <= target.budget) return second
  return content.map((item) => (isMedia(item) ? item : collapse(item, source.handle)))
}

const isMedia = (part: Part): part is Part & { readonly type: "image" | "document" } =>
  part.type === "image" || part.type === "document"

/** Replaces a text by its marker unless the text is shorter, and an image or document by its description; other parts stay. */
function collapse(part: Part, handle: string | undefined, why?: string): Part {
  if (isMedia(part)) return mediaHandle(part, handle)
  if (part.type !== "text") return part
  const markers = [wholeMarker(part.text, why), wholeMarker(part.text)].map((marker) => nameHandle(marker, handle))
  const shorter = isMarker(part.text) ? undefined : markers.find(({ length }) => length < part.text.length)
  return shorter === undefined ? part : replaceText(part, shorter)
}

function shareTexts(
  content: readonly Part[],
  total: number,
  budget: number,
  source: TextSource,
  by: Counting,
): readonly Part[] {
  const needs = content.map((item) => (item.type === "text" ? by.partTokens(item) : 0))
  const fixed = total - needs.reduce((sum, tokens) => sum + tokens, 0)
  const shares = shareOut(needs, budget - fixed)
  return content.map((item, n) => {
    const tokens = needs[n] ?? 0
    const share = shares[n] ?? 0
    if (item.type !== "text" || tokens <= share || isMarker(item.text)) return item
    const shortened = share < minShare ? undefined : shortenText(item.text, { tokens, budget: share }, source, by.count)
    return shortened === undefined ? collapse(item, source.handle) : replaceText(item, shortened)
  })
}

export type MicroOptions = BudgetOptions & {
  /** The groups of the transcript. */
  readonly groups: readonly Group[]
  readonly count: (text: string) => number
  readonly partTokens: (part: Part) => number
  /** Number of newest tool rounds that stay whole, except for an output over `largest`. */
  readonly keepRounds: number
  /** Tokens; a larger output is shortened even in the newest rounds. */
  readonly largest: number
  /**
   * True if the message at this index may still be shown when this much is saved in newer ones. If it is false, its results are skipped.
   */
  readonly isReached?: (at: number, savedTokens: number) => boolean
  /** Calls whose results the model has not read yet: they are not shortened. */
  readonly unread?: ReadonlySet<CallId>
  /** Documents in the system part of every call: a result that repeats one only refers to it. */
  readonly documents?: readonly StackDocument[]
  /** What to do next: lines with its words are worth keeping. */
  readonly focus?: string
  /** Returns the recall handle of a result, without brackets or line breaks; printed only when given. */
  readonly handleOf?: (callId: CallId) => string | undefined
}

/** Maximum number of characters of the focus: a longer one is a document rather than a question. */
const maxFocusLength = 2_000
/** Minimum length of a focus word: shorter ones are on every line. */
const minFocusLength = 4

/** Maximum number of passes, each of which makes a result smaller; one is almost always enough. */
const maxPasses = 8

/** Shortens tool results that the model has read. Pairs, ids and what was said stay. */
export const microcompact = (messages: Transcript, options: MicroOptions): readonly Edit[] =>
  runSteps(microSteps(messages, options))

/** The same, one result per step. */
export function* microSteps(messages: Transcript, options: MicroOptions): Steps<readonly Edit[]> {
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
  const shownOf = (result: MicroResult): Shown => {
    const { part, age } = result
    if (options.unread?.has(part.callId) === true) return { content: part.content, reason: "over-budget" }
    const needless =
      inStack(result, options.documents) ?? (age >= options.keepRounds ? superseded.get(result) : undefined)
    const gone = needless && collapsed(part.content, needless, options.handleOf?.(part.callId))
    const smaller = gone && options.partTokens({ ...part, content: gone.content }) < options.partTokens(part)
    const first = gone !== undefined && smaller === true ? gone : contentOf(result)
    return settle(result, first, contentOf, options.partTokens)
  }
  const pictures = imageEdits(messages, options.partTokens)
  const edits: Shortening[] = []
  const joinRepeat = repeatJoiner(options)
  let saved = savedBy(pictures)
  for (const result of results) {
    if (options.isReached?.(result.at, saved) === false) break
    const edit = resultEdit(result, joinRepeat(result, shownOf(result)), options)
    edits.push(...edit)
    saved += savedBy(edit)
    yield
  }
  return [...pictures, ...edits.toReversed()]
}

const savedBy = (edits: readonly Shortening[]): number =>
  edits.reduce((sum, { beforeTokens, afterTokens }) => sum + beforeTokens - afterTokens, 0)

/** Replaces a result that repeats a document of the stack, which is visible for the whole session. */
function inStack({ text, failed }: MicroResult, documents: readonly StackDocument[] = []): Superseded | undefined {
  const document = failed || text === undefined ? undefined : repeatedDocument(text, documents)
  if (document === undefined) return undefined
  return { reason: "repeated", why: `same as the document ${quoteInMarker(document.path)} in the system prompt` }
}

/** A result with its maximum size. */
export type ResultBudget = { readonly messageId: MessageId; readonly callId: CallId; readonly tokens: number }

export type FitOptions = Pick<MicroOptions, "groups" | "count" | "partTokens" | "focus" | "handleOf"> & {
  readonly reason: ShortenReason
  /** Added to the marker: what the reader can do to see the rest. */
  readonly advice?: string
}

/**
 * Shortens single results to their budgets. With `advice` they are unread results: they keep beginning, end and what the call and the user
 * asked about, in one piece as far as possible.
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
  const words = options.advice === undefined ? "" : latestWords(messages)
  return results.toReversed().flatMap(({ result, budget }) => {
    const { nature, failed, call, part, at } = result
    const question = options.advice === undefined ? "" : `${textOf(call)}\n${words}`
    const interest = { mentions, after: at, focus: focusWords(`${options.focus ?? ""}\n${question}`) }
    const source = {
      ...{ kind: nature.kind, failed, interest },
      ...present({ handle: options.handleOf?.(part.callId), advice: options.advice }),
      ...(options.advice === undefined ? {} : { wholeEnds: true as const }),
    }
    const content = shortenContent(part, { budget, withoutMedia: false }, source, options)
    return resultEdit(result, { content, reason: options.reason }, options)
  })
}

/** Returns the user's latest message as text. */
const latestWords = (messages: Transcript): string =>
  messages[latestSpoken(messages) ?? messages.length]?.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n") ?? ""

/** A shortened result may be classified differently from the original, so it is shortened again until nothing changes. */
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

/** Detects results that became equal by shortening, such as JSON without its blanks, and treats them as repetitions. */
function repeatJoiner({
  keepRounds,
  partTokens,
  handleOf,
  unread,
}: MicroOptions): (result: MicroResult, now: Shown) => Shown {
  const printed = new Map<string, MicroResult>()
  return (result, now) => {
    const text = textAlone(now.content)
    const later = text === undefined ? undefined : printed.get(text)
    if (later !== undefined && result.age >= keepRounds && unread?.has(result.part.callId) !== true)
      return collapsed(result.part.content, repeats(later), handleOf?.(result.part.callId))
    const isWhole = text !== undefined && isComparable(text, partTokens({ ...result.part, content: now.content }))
    if (isWhole && later === undefined) printed.set(text, result)
    return now
  }
}

type Shown = { readonly content: readonly Part[]; readonly reason: ShortenReason }

const collapsed = (content: readonly Part[], { reason, why }: Superseded, handle: string | undefined): Shown => ({
  content: content.map((part) => collapse(part, handle, why)),
  reason,
})

export function focusWords(focus: string): ReadonlySet<string> {
  const words = new Set<string>()
  visitWords(focus.slice(0, maxFocusLength), (word) => {
    if (word.length >= minFocusLength) words.add(word.toLowerCase())
  })
  return words
}

/** Returns the edit, unless it changes or saves nothing. */
function resultEdit(
  { message, part }: MicroResult,
  shown: Shown,
  { partTokens }: Pick<MicroOptions, "partTokens">,
): readonly Shortening[] {
  if (shown.content.every((item, n) => item === part.content[n])) return []
  const { content, reason } = shown
  const { callId } = part
  const [beforeTokens, afterTokens] = [partTokens(part), partTokens({ ...part, content })]
  if (afterTokens >= beforeTokens) return []
  return [{ type: "result-shortened", messageId: message.id, callId, reason, beforeTokens, afterTokens, content }]
}

/** Replaces images from before the user's latest message, because they have been looked at. */
function imageEdits(messages: Transcript, partTokens: (part: Part) => number): readonly Shortening[] {
  const shown = messages.slice(0, latestSpoken(messages) ?? 0).filter(({ role }) => role === "user")
  return shown.flatMap(({ id: messageId, parts }) =>
    parts.flatMap((part, n): readonly Shortening[] => {
      if (part.type !== "image") return []
      const by = mediaHandle(part)
      const [beforeTokens, afterTokens] = [partTokens(part), partTokens(by)]
      if (afterTokens >= beforeTokens) return []
      return [{ type: "part-replaced", messageId, part: n, reason: "media", beforeTokens, afterTokens, by: [by] }]
    }),
  )
}

/** Tokens that an old result of each kind may have. */
const kindBudgets: Readonly<Record<ToolKind, number>> = {
  /** A file can be read again; its definitions and the lines that were worked on show where. */
  read: 600,
  /** About twenty files with a line each; the search can be repeated. */
  search: 400,
  /** A log's errors and its end. */
  shell: 500,
  /** A few failing tests with their messages, and the totals. */
  test: 600,
  /** A page may be gone or changed tomorrow. */
  web: 700,
  /** Records are dense and exact: most API answers fit whole. */
  json: 800,
  /** Changed lines are what was done. */
  diff: 800,
  /** Names only. */
  list: 250,
  other: 500,
}

/**
 * A result of a call that changed something cannot be obtained again, so it gets twice the tokens and stays whole for three times as many
 * rounds.
 */
const writeFactor = 2
const writeRounds = 3

/** Minimum size of a failed result, for its error lines: a message and where it came from. */
const failedFloor = 80

type BudgetOptions = {
  /** Replace the defaults, by the name of a tool or by kind. */
  readonly budgets?: Readonly<Record<string, number>>
  /** 1 is normal; less tightens every budget; 0 leaves only markers. */
  readonly scale?: number
}

/** Tokens that an old result may have. */
function budgetOf(
  result: ToolNature & { readonly tool: string; readonly failed: boolean },
  { budgets = {}, scale = 1 }: BudgetOptions,
): number {
  const ofTool = Object.hasOwn(budgets, result.tool) ? budgets[result.tool] : undefined
  const ofKind = (Object.hasOwn(budgets, result.kind) ? budgets[result.kind] : undefined) ?? kindBudgets[result.kind]
  const budget = Math.floor((ofTool ?? ofKind * (result.writes ? writeFactor : 1)) * scale)
  return result.failed ? Math.max(failedFloor, budget) : budget
}

/** Number of newest rounds in which a result stays whole. */
const wholeRounds = (keepRounds: number, writes: boolean, scale: number): number =>
  writes ? Math.floor(keepRounds * (1 + (writeRounds - 1) * Math.min(1, scale))) : keepRounds

/** Describes the image or document that was left out: `[image, png, 1024x768, left out]`. */
function mediaHandle(part: Part & { readonly type: "image" | "document" }, handle?: string): Part {
  const { media } = part
  const statedSize =
    media.width !== undefined && media.height !== undefined ? { width: media.width, height: media.height } : undefined
  const size = part.type === "document" ? undefined : (statedSize ?? inlineImageSize(part.wire ?? ""))
  const words = [
    part.type,
    quoteInMarker(media.mediaType?.replace(/^(?:image|application|text)\//, "") ?? "", 40),
    part.type === "document" ? quoteInMarker(part.title ?? "") : "",
    size === undefined ? "" : `${size.width}x${size.height}`,
  ]
  const text = `[${words.filter((word) => word !== "").join(", ")}, left out${handle === undefined ? "" : `; recall ${handle}`}]`
  return { type: "text", text, ...present({ breakpoint: part.breakpoint, channel: part.channel }) }
}
