import { startOfText } from "../../language/cut-text.ts"
import { assert } from "../../message/assert.ts"
import type { Channel, MessageId, Transcript } from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import sections from "./sections.json" with { type: "json" }

/**
 * How far the thing is that a line speaks of, printed before it. Words of the user always have a state: a request is open, done, waits for
 * the user's answer or was taken back; everything else was said.
 */
export type LineState = (typeof lineStates)[number]

export const lineStates = ["open", "done", "failed", "pending", "next", "withdrawn", "said"] as const

/** One line of a summary: what it says, what it rests on, and with whose authority. */
export type SummaryLine = {
  /** On one line; the user's own words are verbatim and may have several. */
  readonly text: string
  /** The same with the pasted parts shortened, for where there is no room for all of it. */
  readonly short?: string
  /** Ids of the messages that it rests on. */
  readonly sources: readonly string[]
  readonly state?: LineState
  /** The channel whose words or deeds these are. A line is never worth more than its sources. */
  readonly channel: Channel
  /** How much is lost without it; comparable within one summary. */
  readonly worth: number
}

export type SchemaName = "handoff" | "snapshot"

export type SummarySection = { readonly name: string; readonly lines: readonly SummaryLine[] }

/** What is worth knowing of messages that are no longer shown, by section of its schema, in the schema's order; empty sections are left out. */
export type Summary = { readonly schema: SchemaName; readonly sections: readonly SummarySection[] }

/** What the user wants whatever is asked next. It stands first in every schema, and no one but the user's own words writes it. */
export const rulesSection = "standing_rules"

/** Values with their owner, each line a record. Read from what tools said, and never through a model. */
export const factsSection = "facts"

/** What a summarizer told that rests on data: quoted, and no one's request. */
export const seenSection = "seen_in_tool_output"

/** Acts that answer the user's latest words: these stand below the digest, and a reader would do all of it again. */
export const sinceSection = "acts_since"

/** A section of a summary: its stable name, what people read above it, the same in few tokens, and what one of its lines is worth if nothing else is known. */
type SchemaSection = {
  readonly name: string
  readonly title: string
  readonly short: string
  readonly worth: number
  /** What its lines tell of if they have no label: its title says so. */
  readonly state?: LineState
  /** What a summarizer is told that it holds. */
  readonly holds?: string
  /** A pattern of the words by which a heading of somebody else's making is known to mean it. */
  readonly heads?: string
}

type SectionRow = Omit<SchemaSection, "state"> & { readonly state?: string }

const readSection = ({ state, ...row }: SectionRow): SchemaSection => {
  const known = lineStates.find((one) => one === state)
  assert(known === state, `no state of a line: ${state}`)
  return { ...row, ...present({ state: known }) }
}

/** The sections of each schema in the order in which they are shown. */
export const schemas: Readonly<Record<SchemaName, readonly SchemaSection[]>> = {
  handoff: sections.handoff.map(readSection),
  snapshot: sections.snapshot.map(readSection),
}

/** Where decisions and findings stand. */
export const findingsSections: Readonly<Record<SchemaName, string>> = {
  handoff: "key_concepts",
  snapshot: "key_knowledge",
}

/** Sections that nobody but the log writes: rules, acts and values do not pass through a model. */
const ofTheLog: ReadonlySet<string> = new Set([rulesSection, factsSection, "acts", sinceSection])

export const isOfTheLog = (section: string): boolean => ofTheLog.has(section)

/** The sections that a summarizer may write. */
export const writtenSections = (schema: SchemaName): readonly SchemaSection[] =>
  schemas[schema].filter(({ name }) => !isOfTheLog(name) && name !== seenSection)

/** Sections in which a reader looks for what to do: a line in one asks for an action or promises it. */
const promising: ReadonlySet<string> = new Set(
  namesIn("primary_requests user_messages overall_goal pending_tasks current_work next_steps current_plan"),
)

export const isPromise = (section: string, { state }: SummaryLine): boolean =>
  promising.has(section) || state === "open" || state === "pending" || state === "next"

/** What was seen, between quotation marks that nothing in it closes. */
export const quoteSeen = (text: string): string => `"${text.replace(/^"|"$/g, "").replaceAll('"', "'")}"`

/** Sections in the user's own words: they stand in a fence of their own. */
export const isUsersSection = (name: string): boolean =>
  name === rulesSection || name === "primary_requests" || name === "user_messages" || name === "overall_goal"

/** How a state is printed before its line. */
export const stateLabels: Readonly<Record<Exclude<LineState, "said">, string>> = {
  open: "[Open]",
  done: "[Done]",
  failed: "[Failed attempt]",
  pending: "[Pending confirmation]",
  next: "[Next]",
  withdrawn: "[Withdrawn]",
}

/** What the user said beside requests begins with this sign: it has no state that a reader needs. */
export const saidSign = "» "

/** What stands before the text of a line. */
export const lineStart = (state: LineState | undefined): string =>
  state === "said" ? saidSign : state === undefined ? "- " : `- ${stateLabels[state]} `

/** The line without what stands before its text, whatever its state. */
export const withoutLineStart = (line: string): string => line.replace(/^(?:» |- (?:\[[A-Z][a-z ]{2,24}\] )?)/, "")

/** What a note is about. `reply` is what the user said beside requests; `wish` is one that is meant to last. */
export type NoteKind =
  | ("request" | "correction" | "wish" | "reply")
  | ("decision" | "finding" | "conclusion" | "current" | "next" | "question" | "commitment")
  | ("command" | "file" | "error" | "task" | "act" | "lookup" | "record")

/** Something worth knowing of a transcript, on one line, with what it rests on. */
export type Note = {
  readonly kind: NoteKind
  /** On one line, but for the user's words, which are verbatim. */
  readonly text: string
  readonly short?: string
  /** Ids of the messages that it rests on, in order. */
  readonly sources: readonly string[]
  readonly state?: LineState
  readonly channel: Channel
  /** Position of the message in which it became so. */
  readonly at: number
  /** Of a record: somebody spoke of it or asked for it by its name. */
  readonly named?: true
  /** How much is lost without it, before anybody asks how long ago it was. */
  readonly worth: number
}

/** Notes of one transcript: a long day's session has a few hundred that anybody would want back, and a summary holds a tenth of those. */
export const maxNotes = 500

/** Longest line that is not the user's: two lines on a screen. */
export const maxLineLength = 280

/** Longest message of the user that is looked at whole: a longer one is a document. */
export const maxUserTextLength = 40_000

/** Characters read from either end of a text: people and models say what matters at the ends of longer ones. */
export const maxReadPerEnd = 12_000

/** Message ids that one note names: the first ones say where it began, the last where it stands. */
export const maxNoteSources = 8

/** What ends a line or turns its direction somewhere: blanks, controls, separators, bidirectional overrides. */
const breaking = /[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** Half of a character that takes two units; alone it is none. */
const lone = /[\ud800-\udfff]/gu

/** What has no place in a text that is shown as it was written: controls but for line ends and tabs, overrides of direction. */
const unprintable = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** Most texts hold none of what is replaced below, and are read once to see that. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
const isUnusual = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/
const hasBreak = /[^\S ]| {2}/

/** The user's words as they stand in a record: line ends of one kind, no control characters, nothing before or behind them. */
export function plainWords(text: string): string {
  const read = text.slice(0, maxUserTextLength)
  return (isUnusual.test(read) ? withoutUnusual(read) : read).trim()
}

const withoutUnusual = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(unprintable, (sign) => (sign === "\n" || sign === "\t" ? sign : ""))
    .replace(lone, "\ufffd")

/** How much longer than its limit a text may be before it is cut unread: blanks fold to one. */
const slack = 4

/** The text on one line, each run of blanks and breaks as one blank, at most `max` characters, `…` at the end where it was cut. */
export function oneLine(text: string, max: number): string {
  const read = text.slice(0, slack * max)
  const isPlain = !hasBreak.test(read) && !isUnusual.test(read)
  const line = (isPlain ? read : read.replace(breaking, " ").replace(lone, "\ufffd")).trim()
  return line.length <= max && read.length === text.length ? line : shortenLine(line, max)
}

/** The beginning of a line with `…` behind it, at most `max` characters together, cut between words where one ends close by. */
export function shortenLine(line: string, max: number): string {
  const kept = startOfText(line, max - 1)
  const blank = kept.lastIndexOf(" ")
  return `${(blank > kept.length * 0.8 ? kept.slice(0, blank) : kept).trimEnd()}…`
}

/** A value between backticks; its own backticks become quotation marks so that nobody mistakes where it ends. */
export const code = (value: string): string => `\`${value.replaceAll("`", "'")}\``

/** How much a text says, in letters: an ideograph says as much as three. */
export const weightOf = (text: string): number =>
  text.length + 2 * (text.match(/[\u2e80-\u9fff\uac00-\ud7af]/g)?.length ?? 0)

/** What stands in place of messages that are no longer shown: one text, fenced, of the user's role and no one's authority. */
export type Digest = {
  /** How many messages it stands for, those of the digests that it took over included. */
  readonly covered: number
  readonly summary: Summary
  /** Printed in as few words as it can be read back from. */
  readonly brief?: true
  /** The handle by which the messages that it stands for can be read again. */
  readonly recall?: string
}

/** One piece of the conversation, in its fence. */
export type ShownPiece = { readonly id: MessageId; readonly from: Channel; readonly text: string }

/** What a summarizer of the user's own is given. */
export type SummarizeInput = {
  readonly messages: Transcript
  /**
   * The conversation as plain text, after the summary of what came before it: each message in a fence with its id and whose words they
   * are, attempts to steer the reader taken out.
   */
  readonly text: string
  /** The same piece by piece, without the marks for what was left out. */
  readonly pieces: readonly ShownPiece[]
  readonly schema: SchemaName
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
  /** Aborts when the time is up; what comes after that is not looked at. */
  readonly signal: AbortSignal
}

/** A line of a draft: bare words, or words with what they rest on and how far the thing is. */
type DraftItem =
  | string
  | { readonly text: string; readonly from?: readonly (MessageId | string)[]; readonly state?: LineState }

/** A summary by section names of the schema; sections of other names are left out. */
export type SummaryDraft = { readonly sections: Readonly<Record<string, readonly DraftItem[]>> }

/** A summarizer of the user's own. Text is read as Markdown; an empty or failed answer falls back to the built-in summarizer. */
export type Summarize = (input: SummarizeInput) => Promise<string | SummaryDraft>
