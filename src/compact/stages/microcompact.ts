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
  /** Pictures and documents go in any case. */
  readonly withoutMedia: boolean
}

/** Below this a text is better left out whole: a marker and a few words take as much. */
export const minShare = 16

type TextPart = Part & { readonly type: "text" }

export const replaceText = (part: TextPart, text: string): Part => ({
  ...{ type: "text", text },
  ...present({ breakpoint: part.breakpoint, channel: part.channel }),
})

/** What a result shows: shortened, and still telling that the run failed if nothing but its words told so. */
function shortenContent(part: ToolResultPart, target: Target, source: TextSource, by: Counting): readonly Part[] {
  const content = fitContent(part, target, source, by)
  if (!source.failed || part.failed !== undefined || hasFailed({ ...part, content })) return content
  const at = part.content.findLastIndex((item) => item.type === "text" && failureExcerpt(item.text) !== undefined)
  return content.map((item, n) => (n === at ? briefFailure(part.content[n] ?? item, source.handle) : item))
}

/** The line that tells of the failure, and a marker for the rest. */
function briefFailure(part: Part, handle: string | undefined): Part {
  if (part.type !== "text" || isMarker(part.text.slice(part.text.lastIndexOf("\n") + 1))) return part
  const line = escapeMarkers(failureExcerpt(part.text) ?? "")
  return replaceText(part, `${line}\n${nameHandle(wholeMarker(part.text), handle)}`)
}

/** What a result shows in at most `budget` tokens, as far as that can be: what is neither text nor a picture or document stays as it is. */
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
  // A whole may count for a little more than its parts.
  const second = shareTexts(content, total, target.budget - over, source, by)
  if (by.partTokens({ ...part, content: second }) <= target.budget) return second
  return content.map((item) => (isMedia(item) ? item : collapse(item, source.handle)))
}

const isMedia = (part: Part): part is Part & { readonly type: "image" | "document" } =>
  part.type === "image" || part.type === "document"

/** The marker in place of a text unless the text is shorter, of a picture or document; anything else stays. */
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
  /** The newest so many tool rounds stay whole, but for an output over `largest`. */
  readonly keepRounds: number
  /** Tokens; a single output over this is shortened even in the newest rounds. */
  readonly largest: number
  /** May the message at this place still be shown, once so much is left out of what is newer? Otherwise its results are not looked at. */
  readonly isReached?: (at: number, savedTokens: number) => boolean
  /** Calls whose results the model has not read yet: nothing is left out of these. */
  readonly unread?: ReadonlySet<CallId>
  /** Documents that stand in the system part of every call: a result that repeats one only names it. */
  readonly documents?: readonly StackDocument[]
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
export const microcompact = (messages: Transcript, options: MicroOptions): readonly Edit[] =>
  runSteps(microSteps(messages, options))

/** The same, result by result. */
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
  const settled = (result: MicroResult): Shown => {
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
    const edit = resultEdit(result, joinRepeat(result, settled(result)), options)
    edits.push(...edit)
    saved += savedBy(edit)
    yield
  }
  return [...pictures, ...edits.toReversed()]
}

const savedBy = (edits: readonly Shortening[]): number =>
  edits.reduce((sum, { beforeTokens, afterTokens }) => sum + beforeTokens - afterTokens, 0)

/** A result that says what a document of the stack says: that one is in sight as long as the session lasts. */
function inStack({ text, failed }: MicroResult, documents: readonly StackDocument[] = []): Superseded | undefined {
  const document = failed || text === undefined ? undefined : repeatedDocument(text, documents)
  if (document === undefined) return undefined
  return { reason: "repeated", why: `same as the document ${quoteInMarker(document.path)} in the system prompt` }
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
 * and what the call and the user asked about, in one piece as far as that goes.
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
    const asked = options.advice === undefined ? "" : `${textOf(call)}\n${words}`
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

/** What the user said last. */
const latestWords = (messages: Transcript): string =>
  messages[latestSpoken(messages) ?? messages.length]?.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n") ?? ""

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

/** Results that became the same verbatim, as JSON does without its blanks, are repetitions like those that were so from the start. */
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

/** The edit, unless it changes nothing or saves nothing. */
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

/** Pictures that the user showed before the latest message of theirs: by then they have been looked at. */
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

/** Tokens that an old result of each kind may still take. */
const kindBudgets: Readonly<Record<ToolKind, number>> = {
  /** A file can be read again; its definitions and the lines that were worked on say where. */
  read: 600,
  /** Some twenty files with a line each; the search can be run again. */
  search: 400,
  /** A log's errors and its end. */
  shell: 500,
  /** A few failing tests with their messages, and the tally. */
  test: 600,
  /** A page may be gone or changed tomorrow. */
  web: 700,
  /** Records are dense and exact: most answers of an API fit in whole. */
  json: 800,
  /** Changed lines are what was done. */
  diff: 800,
  /** Names only. */
  list: 250,
  other: 500,
}

/** What changed something outside cannot be asked again, so it keeps twice as much, and stays whole for three times as many rounds. */
const writeFactor = 2
const writeRounds = 3

/** A failed result keeps so much for its error lines, however tight things are: a message and where it came from. */
const failedFloor = 80

type BudgetOptions = {
  /** In place of the defaults, by the name of a tool or by a kind. */
  readonly budgets?: Readonly<Record<string, number>>
  /** 1 is normal; less tightens every budget; 0 leaves only markers. */
  readonly scale?: number
}

/** Tokens that an old result may take. */
function budgetOf(
  result: ToolNature & { readonly tool: string; readonly failed: boolean },
  { budgets = {}, scale = 1 }: BudgetOptions,
): number {
  const asked = Object.hasOwn(budgets, result.tool) ? budgets[result.tool] : undefined
  const ofKind = (Object.hasOwn(budgets, result.kind) ? budgets[result.kind] : undefined) ?? kindBudgets[result.kind]
  const budget = Math.floor((asked ?? ofKind * (result.writes ? writeFactor : 1)) * scale)
  return result.failed ? Math.max(failedFloor, budget) : budget
}

/** How many of the newest rounds a result stays whole for. */
const wholeRounds = (keepRounds: number, writes: boolean, scale: number): number =>
  writes ? Math.floor(keepRounds * (1 + (writeRounds - 1) * Math.min(1, scale))) : keepRounds

/** A text that says what picture or document stood here: `[image, png, 1024x768, left out]`. */
function mediaHandle(part: Part & { readonly type: "image" | "document" }, handle?: string): Part {
  const { media } = part
  const told =
    media.width !== undefined && media.height !== undefined ? { width: media.width, height: media.height } : undefined
  const size = part.type === "document" ? undefined : (told ?? inlineImageSize(part.wire ?? ""))
  const words = [
    part.type,
    quoteInMarker(media.mediaType?.replace(/^(?:image|application|text)\//, "") ?? "", 40),
    part.type === "document" ? quoteInMarker(part.title ?? "") : "",
    size === undefined ? "" : `${size.width}x${size.height}`,
  ]
  const text = `[${words.filter((word) => word !== "").join(", ")}, left out${handle === undefined ? "" : `; recall ${handle}`}]`
  return { type: "text", text, ...present({ breakpoint: part.breakpoint, channel: part.channel }) }
}
