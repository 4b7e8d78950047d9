import { type Channel, instructs, messageId, type Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import { expectedLanguage } from "./model-language.ts"
import {
  acceptSourced,
  attemptFailure,
  type DraftLine,
  flatten,
  looksLikeFailure,
  maxAnswerLength,
  maxLines,
  maxModelLineLength,
  type ReadAnswer,
  readDraft,
  readSummaryAnswer,
  type SummaryEvent,
  summaryOf,
  userText,
  type WrittenSummary,
} from "./model-write.ts"
import { openSection, type PromptInput, previousPlain, previousShare } from "./prompt.ts"
import { fitPieces, promptPieces, renderPlain } from "./prompt-fit.ts"
import {
  type LineState,
  type SchemaName,
  type ShownPiece,
  type Summarize,
  type SummarizeInput,
  type SummaryLine,
  stateLabels,
  writtenSections,
} from "./summary.ts"

export type CustomInput = PromptInput & { readonly signal: AbortSignal }

/**
 * Calls the custom summarizer once. It never rejects: on failure there is no summary, and the event says why. The caller sets the time
 * limit.
 */
export async function writeWithCustom(summarize: Summarize, input: CustomInput): Promise<WrittenSummary> {
  const { messages, schema, previous, focus, language, budgetTokens, signal } = input
  const head = { type: "summary-attempted", writer: "custom", attempt: 1 } as const
  const { text, pieces } = show(input)
  let answer: unknown
  try {
    answer = await summarize({ messages, text, pieces, schema, budgetTokens, signal, ...present({ focus, language }) })
  } catch (error) {
    const failure = attemptFailure(error)
    return { events: [{ ...head, outcome: failure.type, failure }] }
  }
  const { event, summary } = judgeCustom(answer, { messages, schema, ...present({ previous, language }) })
  return { events: [event], ...present({ summary }) }
}

type JudgeInput = Pick<PromptInput, "messages" | "schema" | "previous" | "language">

/** Reads a custom summary of these messages, and reports the result as an event. */
export function judgeCustom(
  answer: unknown,
  { messages, schema, previous, language }: JudgeInput,
): { readonly summary?: WrittenSummary["summary"]; readonly event: SummaryEvent } {
  const head = { type: "summary-attempted", writer: "custom", attempt: 1 } as const
  const earlier = previous?.sections.flatMap(({ lines }) => lines) ?? []
  const known = new Set([...messages.map(({ id }) => String(id)), ...earlier.flatMap(({ sources }) => sources)])
  const read = readCustom(answer, { schema, known, sourcesOf: createSourcing(messages, earlier) })
  const judged = read.ok ? acceptSourced(read, known, expectedLanguage(language, userText(messages))) : read
  if (!judged.ok)
    return { event: { ...head, outcome: "rejected", failure: { type: "rejected", reason: judged.reason } } }
  const { summary, leftOut, unsourced } = judged
  return { summary, event: { ...head, outcome: "written", leftOut, unsourced } }
}

/** The id of the earlier summary among the messages. */
const previousId = messageId("previous")

/** Formats the conversation for a custom summarizer, the earlier summary first. */
function show({ messages, previous, inputTokens, count }: PromptInput): Pick<SummarizeInput, "text" | "pieces"> {
  const isFirst = previous === undefined || previous.sections.length === 0
  const told = isFirst ? "" : previousPlain(previous, { limitTokens: inputTokens * previousShare, count })
  const before: readonly ShownPiece[] = isFirst ? [] : [{ id: previousId, from: "memory", text: told }]
  const taken = before.reduce((sum, piece) => sum + count(piece.text), 0)
  const room = Math.max(0, inputTokens - taken)
  const { text, shown } = fitPieces(promptPieces(messages), room, { render: renderPlain, count })
  return {
    text: [...before.map((piece) => piece.text), text].join("\n\n").trim(),
    pieces: [...before, ...shown.map(({ piece, text: own }) => ({ id: piece.id, from: piece.channel, text: own }))],
  }
}

/** Maximum number of messages attributed to a line: those that share most of its words. */
const maxAttributed = 4

/** Minimum share of the best message's score for another message to count. */
const closeEnough = 0.6

/** Number of characters read at either end of one piece: a summary mostly retells its beginning or end. */
const readPerEnd = 20_000

/** Maximum number of words of one line that are looked up. */
const maxWords = 120

/**
 * Maximum number of messages with a word: a more frequent one does not tell which was meant, and would make the work grow with the square
 * of the messages.
 */
const maxHolders = 200

const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}_]*/gu
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u

/** Returns the words of a text in lower case; for scripts without blanks every pair of characters. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  for (const [found] of text.toLowerCase().matchAll(word)) {
    if (ideographs.test(found)) for (let at = 0; at + 1 < found.length; at++) words.add(found.slice(at, at + 2))
    else if (found.length > 2 || /\d/.test(found)) words.add(found)
  }
  return words
}

const ends = (text: string): string =>
  text.length <= 2 * readPerEnd ? text : `${text.slice(0, readPerEnd)} ${text.slice(-readPerEnd)}`

/**
 * Creates the function that attributes a line without sources to messages: those that have most of its rarer words. A line that shares no
 * word with any message has no source. A line with words of a tool's output is not attributed to the user as well, however many of the
 * user's words the output repeats: it has no more authority than the output.
 */
export function createSourcing(
  messages: Transcript,
  earlier: readonly SummaryLine[] = [],
): (text: string) => readonly string[] {
  const holders = new Map<string, Set<string>>()
  const data = new Set<string>()
  const users = new Set<string>()
  const hold = (id: string, channel: Channel, text: string): void => {
    if (instructs(channel)) users.add(id)
    else if (channel !== "assistant") data.add(id)
    for (const found of wordsOf(ends(text))) {
      const ids = holders.get(found)
      if (ids === undefined) holders.set(found, new Set([id]))
      else if (ids.size <= maxHolders) ids.add(id)
    }
  }
  for (const { id, text, channel } of promptPieces(messages)) hold(id, channel, text)
  for (const { sources, text, channel } of earlier)
    for (const id of sources.slice(0, maxAttributed)) hold(id, channel, text)
  return (text) => {
    const scores = new Map<string, number>()
    for (const found of [...wordsOf(text)].slice(0, maxWords)) {
      const ids = holders.get(found)
      if (ids === undefined || ids.size > maxHolders) continue
      for (const id of ids) scores.set(id, (scores.get(id) ?? 0) + 1 / ids.size)
    }
    const ranked = [...scores].sort(([, one], [, other]) => other - one)
    const best = ranked[0]?.[1] ?? 0
    const close = ranked
      .slice(0, maxAttributed)
      .filter(([, score]) => score >= best * closeEnough)
      .map(([id]) => id)
    return close.some((id) => data.has(id)) ? close.filter((id) => data.has(id) || !users.has(id)) : close
  }
}

/** What is needed to read an answer: the schema, the ids that exist, and a function that finds the sources of a line without any. */
type ReadContext = {
  readonly schema: SchemaName
  readonly known: ReadonlySet<string>
  readonly sourcesOf: (text: string) => readonly string[]
}

/**
 * Reads the answer of a custom summarizer: Markdown or plain text, a draft object, or our own JSON. Anything else is rejected with a
 * reason.
 */
export function readCustom(answer: unknown, reading: ReadContext): ReadAnswer {
  if (typeof answer === "string") return readText(answer, reading)
  if (!isObject(answer) || !isObject(answer.sections)) {
    return { ok: false, reason: { code: "wrong-shape", at: "the answer", expected: "text or an object of sections" } }
  }
  const sections = Object.entries(answer.sections).map(([name, lines]) => [name, withSources(lines, reading)])
  return readDraft({ ...answer, sections: Object.fromEntries(sections) }, reading.schema)
}

/** Turns strings into lines, and adds sources to lines without any. */
function withSources(lines: unknown, { sourcesOf }: ReadContext): unknown {
  if (!Array.isArray(lines)) return lines
  return lines.slice(0, maxLines).map((line: unknown) => {
    if (typeof line === "string") return { text: line, from: sourcesOf(line.slice(0, maxModelLineLength)) }
    if (!isObject(line) || line.from !== undefined || typeof line.text !== "string") return line
    return { ...line, from: sourcesOf(line.text.slice(0, maxModelLineLength)) }
  })
}

function readText(text: string, reading: ReadContext): ReadAnswer {
  if (text.length > maxAnswerLength)
    return { ok: false, reason: { code: "too-long", length: text.length, limit: maxAnswerLength } }
  const kind = looksLikeFailure(text)
  if (kind !== undefined) return { ok: false, reason: { code: "failure-text", kind } }
  const asked = text.includes('"sections"') ? readSummaryAnswer(text, reading.schema) : undefined
  if (asked?.ok === true) return asked
  const read = summaryOf(linesOf(text, reading), reading.schema, { sections: 0, fields: 0 })
  return read.summary.sections.length === 0 ? { ok: false, reason: { code: "no-lines" } } : { ok: true, ...read }
}

const heading =
  /^\s{0,3}(?:#{1,6}\s+(.{1,120})|\*\*([^*]{1,120})\*\*\s*:?|<([\w-]{1,60})>|([\p{L}][\p{L} _/&-]{1,60})[:：])\s*$/u
const bullet = /^\s*(?:[-*•+]\s+|\d{1,3}[.)]\s+)/
const noise = /^\s*(?:```|~~~|[-*_]{3,}\s*$|<\/[\w-]{1,60}>\s*$)/
const cited = /\s*[[(]\s*([\w.:-]{1,80}(?:\s*,\s*[\w.:-]{1,80}){0,19})\s*[\])]\.?$/

/** Maximum number of lines read of a text, including headings: more than any summary has. */
const maxRead = 2_000

function linesOf(text: string, { schema, known, sourcesOf }: ReadContext): readonly DraftLine[] {
  const open = openSection[schema]
  const lines: DraftLine[] = []
  let section = open
  for (const raw of text.split(/\r?\n|\r/, maxRead)) {
    if (raw.trim() === "" || noise.test(raw)) continue
    const title = heading.exec(raw)
    if (title !== null) {
      section = sectionNamed(title.slice(1).find((group) => group !== undefined) ?? "", schema) ?? open
      continue
    }
    if (lines.length > maxLines) break
    const { state, rest } = stateOf(flatten(raw.slice(0, 4 * maxModelLineLength).replace(bullet, "")))
    const { from, words } = citationIn(rest, known)
    if (words === "") continue
    lines.push({ section, text: words, from: from ?? sourcesOf(words), ...present({ state }) })
  }
  return lines
}

/** Returns the section that a heading means: by its name, otherwise the first whose pattern matches. */
function sectionNamed(title: string, schema: SchemaName): string | undefined {
  const plain = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
  const known = writtenSections(schema)
  const exact = known.find(({ name }) => name.replaceAll("_", " ") === plain)
  return (exact ?? known.find(({ heads }) => heads !== undefined && new RegExp(heads).test(plain)))?.name
}

const labels: readonly (readonly [LineState, string])[] = [
  ["done", stateLabels.done],
  ["failed", stateLabels.failed],
  ["pending", stateLabels.pending],
  ["next", stateLabels.next],
]

function stateOf(line: string): { readonly state?: LineState; readonly rest: string } {
  const found = labels.find(([, label]) => line.toLowerCase().startsWith(label.toLowerCase()))
  return found === undefined ? { rest: line } : { state: found[0], rest: line.slice(found[1].length).trim() }
}

/** Reads ids in brackets at the end of a line, if every one of them exists. */
function citationIn(
  line: string,
  known: ReadonlySet<string>,
): { readonly from?: readonly string[]; readonly words: string } {
  const found = cited.exec(line.slice(-2_000))
  const ids = found?.[1]?.split(",").map((id) => id.trim()) ?? []
  if (found === null || !ids.every((id) => known.has(id))) return { words: line }
  return { from: ids, words: line.slice(0, line.length - found[0].length) }
}
