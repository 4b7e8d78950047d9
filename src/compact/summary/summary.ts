import { startOfText } from "../../language/cut-text.ts"
import { assert } from "../../message/assert.ts"
import type { Channel, MessageId, Transcript } from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import sections from "./sections.json" with { type: "json" }

/**
 * Progress of what a line is about, printed before it. The user's words always have a state: a request is open, done, waiting for the
 * user's answer, or withdrawn; everything else was only said.
 */
export type LineState = (typeof lineStates)[number]

export const lineStates = ["open", "done", "failed", "pending", "next", "withdrawn", "said"] as const

/** One line of a summary, with its sources and the channel that it speaks for. */
export type SummaryLine = {
  /** A single line; the user's own words are verbatim and may have several lines. */
  readonly text: string
  /** The text with long pastes shortened, for when it does not fit whole. */
  readonly short?: string
  /** Ids of the messages that it rests on. */
  readonly sources: readonly string[]
  readonly state?: LineState
  /** The channel that said or did this. A line has no more authority than its sources. */
  readonly channel: Channel
  /** How much would be lost without it; comparable within one summary. */
  readonly worth: number
}

export type SchemaName = "handoff" | "snapshot"

export type SummarySection = { readonly name: string; readonly lines: readonly SummaryLine[] }

/**
 * What is worth keeping of messages that are no longer shown, in the sections of its schema and their order; empty sections are left out.
 */
export type Summary = { readonly schema: SchemaName; readonly sections: readonly SummarySection[] }

/** Lasting rules and wishes of the user. First in every schema, and written only from the user's own words. */
export const rulesSection = "standing_rules"

/** Values with their owner, one record per line. Read from tool results, never through a model. */
export const factsSection = "facts"

/** Statements of a summarizer that rest on data: quoted, and nobody's request. */
export const seenSection = "seen_in_tool_output"

/** Acts that respond to the user's latest message: that stands below the digest, and a reader would otherwise do them again. */
export const sinceSection = "acts_since"

/** A section of a summary: its stable name, its title for people, a shorter title, and the default worth of its lines. */
type SchemaSection = {
  readonly name: string
  readonly title: string
  readonly short: string
  readonly worth: number
  /** State of lines without a label, implied by the title. */
  readonly state?: LineState
  /** Description of its content for a summarizer. */
  readonly holds?: string
  /** A regular expression that recognizes a foreign heading for this section. */
  readonly heads?: string
}

type SectionRow = Omit<SchemaSection, "state"> & { readonly state?: string }

const readSection = ({ state, ...row }: SectionRow): SchemaSection => {
  const known = lineStates.find((one) => one === state)
  assert(known === state, `no state of a line: ${state}`)
  return { ...row, ...present({ state: known }) }
}

/** The sections of each schema in display order. */
export const schemas: Readonly<Record<SchemaName, readonly SchemaSection[]>> = {
  handoff: sections.handoff.map(readSection),
  snapshot: sections.snapshot.map(readSection),
}

/** The section with decisions and findings. */
export const findingsSections: Readonly<Record<SchemaName, string>> = {
  handoff: "key_concepts",
  snapshot: "key_knowledge",
}

/** Sections written only from the log: rules, acts and values do not pass through a model. */
const logSections: ReadonlySet<string> = new Set([rulesSection, factsSection, "acts", sinceSection])

export const isOfTheLog = (section: string): boolean => logSections.has(section)

/** The sections that a summarizer may write. */
export const writtenSections = (schema: SchemaName): readonly SchemaSection[] =>
  schemas[schema].filter(({ name }) => !isOfTheLog(name) && name !== seenSection)

/** Sections in which a reader looks for what to do: their lines request or promise an action. */
const actionSections: ReadonlySet<string> = new Set(
  namesIn("primary_requests user_messages overall_goal pending_tasks current_work next_steps current_plan"),
)

export const isPromise = (section: string, { state }: SummaryLine): boolean =>
  actionSections.has(section) || state === "open" || state === "pending" || state === "next"

/** Puts text seen in tool output between quotation marks that nothing in it closes. */
export const quoteSeen = (text: string): string => `"${text.replace(/^"|"$/g, "").replaceAll('"', "'")}"`

/** True for a section with the user's own words, which have a fence of their own. */
export const isUsersSection = (name: string): boolean =>
  name === rulesSection || name === "primary_requests" || name === "user_messages" || name === "overall_goal"

/** The label printed before a line for its state. */
export const stateLabels: Readonly<Record<Exclude<LineState, "said">, string>> = {
  open: "[Open]",
  done: "[Done]",
  failed: "[Failed attempt]",
  pending: "[Pending confirmation]",
  next: "[Next]",
  withdrawn: "[Withdrawn]",
}

/** Marks what the user said other than requests, which has no state that a reader needs. */
export const saidSign = "» "

/** Returns the prefix of a line. */
export const lineStart = (state: LineState | undefined): string =>
  state === "said" ? saidSign : state === undefined ? "- " : `- ${stateLabels[state]} `

/** Removes the prefix of a line, whatever its state. */
export const withoutLineStart = (line: string): string => line.replace(/^(?:» |- (?:\[[A-Z][a-z ]{2,24}\] )?)/, "")

/** What a note is about. `reply` is what the user said other than requests; `wish` is a lasting one. */
export type NoteKind =
  | ("request" | "correction" | "wish" | "reply")
  | ("decision" | "finding" | "conclusion" | "current" | "next" | "question" | "commitment")
  | ("command" | "file" | "error" | "task" | "act" | "lookup" | "record")

/** Something worth keeping of a transcript, on one line, with its sources. */
export type Note = {
  readonly kind: NoteKind
  /** A single line, except for the user's words, which are verbatim. */
  readonly text: string
  readonly short?: string
  /** Ids of the messages that it rests on, in order. */
  readonly sources: readonly string[]
  readonly state?: LineState
  readonly channel: Channel
  /** Index of the message in which it became true. */
  readonly at: number
  /** For a record: true if someone mentioned or requested it by name. */
  readonly named?: true
  /** How much would be lost without it, before its age is considered. */
  readonly worth: number
}

/** Maximum number of notes of one transcript: a long day's session has a few hundred useful ones, and a summary holds a tenth of those. */
export const maxNotes = 500

/** Maximum length of a line other than the user's words: two lines on a screen. */
export const maxLineLength = 280

/** Maximum number of characters read of a user message: a longer one is a document. */
export const maxUserTextLength = 40_000

/** Number of characters read at either end of a text: people and models say what matters at the ends of longer ones. */
export const maxReadPerEnd = 12_000

/** Maximum number of message ids of one note: the first ones say where it began, the last ones where it stands. */
export const maxNoteSources = 8

/** White space, control characters, line separators and bidirectional overrides. */
const lineBreaks = /[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** A surrogate, which is invalid alone. */
const loneSurrogate = /[\ud800-\udfff]/gu

/** Characters removed from text that is shown as written: control characters other than line ends and tabs, and bidirectional overrides. */
const unprintable = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Quick check: most texts contain none of the characters replaced below. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
const isUnusual = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/
const hasBreak = /[^\S ]| {2}/

/** Returns the user's words as stored: uniform line ends, no control characters, trimmed. */
export function plainWords(text: string): string {
  const read = text.slice(0, maxUserTextLength)
  return (isUnusual.test(read) ? withoutUnusual(read) : read).trim()
}

const withoutUnusual = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(unprintable, (sign) => (sign === "\n" || sign === "\t" ? sign : ""))
    .replace(loneSurrogate, "\ufffd")

/** Multiple of its limit up to which a text is read before white space is collapsed. */
const readAhead = 4

/** Returns the text on one line, with white space collapsed, cut to at most `max` characters with `…` at the end. */
export function oneLine(text: string, max: number): string {
  const read = text.slice(0, readAhead * max)
  const isPlain = !hasBreak.test(read) && !isUnusual.test(read)
  const line = (isPlain ? read : read.replace(lineBreaks, " ").replace(loneSurrogate, "\ufffd")).trim()
  return line.length <= max && read.length === text.length ? line : shortenLine(line, max)
}

/** Returns the beginning of a line with `…`, at most `max` characters in all, cut between words if possible. */
export function shortenLine(line: string, max: number): string {
  const kept = startOfText(line, max - 1)
  const blank = kept.lastIndexOf(" ")
  return `${(blank > kept.length * 0.8 ? kept.slice(0, blank) : kept).trimEnd()}…`
}

/** Puts a value between backticks; backticks in it become apostrophes, so that its end is unambiguous. */
export const code = (value: string): string => `\`${value.replaceAll("`", "'")}\``

/** Returns the length of a text in letters: an ideograph counts as three. */
export const weightOf = (text: string): number =>
  text.length + 2 * (text.match(/[\u2e80-\u9fff\uac00-\ud7af]/g)?.length ?? 0)

/** The message that replaces messages no longer shown: one fenced text in the user's role, with nobody's authority. */
export type Digest = {
  /** Number of messages it replaces, including those of earlier digests that it took over. */
  readonly covered: number
  readonly summary: Summary
  /** True if it is printed in the shortest form that can be parsed. */
  readonly brief?: true
  /** The handle with which the replaced messages can be recalled. */
  readonly recall?: string
}

/** One part of the conversation, in its fence. */
export type ShownPiece = { readonly id: MessageId; readonly from: Channel; readonly text: string }

/** Input of a custom summarizer. */
export type SummarizeInput = {
  readonly messages: Transcript
  /**
   * The conversation as plain text, after the summary of what came before it: each message in a fence with its id and channel, without
   * attempts to steer the reader.
   */
  readonly text: string
  /** The same, part by part, without the marks for omissions. */
  readonly pieces: readonly ShownPiece[]
  readonly schema: SchemaName
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
  /** Aborts when the time is up; a later answer is ignored. */
  readonly signal: AbortSignal
}

/** A line of a draft: only text, or text with its sources and state. */
type DraftItem =
  | string
  | { readonly text: string; readonly from?: readonly (MessageId | string)[]; readonly state?: LineState }

/** A summary by section names of the schema; sections with other names are ignored. */
export type SummaryDraft = { readonly sections: Readonly<Record<string, readonly DraftItem[]>> }

/** A custom summarizer. Text is parsed as Markdown; if the answer is empty or the function fails, the built-in summarizer is used. */
export type Summarize = (input: SummarizeInput) => Promise<string | SummaryDraft>
