import { startOfText } from "../../language/cut-text.ts"
import type { Channel, MessageId, Transcript } from "../../message/message.ts"
import type { Fact } from "../facts/fact.ts"

/** How far the thing is that a line speaks of. Printed as [Done], [Failed attempt], [Pending confirmation], [Next]. */
export type LineState = "done" | "failed" | "pending" | "next"

/** One line of a summary: what it says, what it rests on, and with whose authority. */
export type SummaryLine = {
  /** On one line. A quotation of a person is verbatim. */
  readonly text: string
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

/** A section of a summary: its stable name, what people read above it, the same in few tokens, and what one of its lines is worth if nothing else is known. */
type SchemaSection = {
  readonly name: string
  readonly title: string
  readonly short: string
  readonly worth: number
}

/** What the user wants whatever is asked next. It stands first in every schema, and no one but the user's own words writes it. */
export const rulesSection = "standing_rules"

const rules: SchemaSection = { name: rulesSection, title: "Standing rules of the user", short: "Rules", worth: 9 }

const handoff: readonly SchemaSection[] = [
  rules,
  { name: "primary_requests", title: "Primary requests and intent", short: "Requests", worth: 8 },
  { name: "key_concepts", title: "Key technical concepts", short: "Concepts", worth: 5 },
  { name: "files_and_code", title: "Files and code", short: "Files", worth: 5 },
  { name: "errors_and_fixes", title: "Errors and fixes", short: "Errors", worth: 6 },
  { name: "status", title: "Problem-solving status", short: "Status", worth: 4.5 },
  { name: "user_messages", title: "User messages", short: "User", worth: 6 },
  { name: "pending_tasks", title: "Pending tasks", short: "Pending", worth: 7 },
  { name: "current_work", title: "Current work", short: "Current", worth: 7 },
  { name: "next_steps", title: "Next steps", short: "Next", worth: 7 },
]

const snapshot: readonly SchemaSection[] = [
  rules,
  { name: "overall_goal", title: "Overall goal", short: "Goal", worth: 8 },
  { name: "key_knowledge", title: "Key knowledge", short: "Knowledge", worth: 6 },
  { name: "file_system_state", title: "File system state", short: "Files", worth: 5 },
  { name: "recent_actions", title: "Recent actions", short: "Actions", worth: 5 },
  { name: "current_plan", title: "Current plan", short: "Plan", worth: 7 },
]

/** The sections of each schema in the order in which they are shown. */
export const schemas: Readonly<Record<SchemaName, readonly SchemaSection[]>> = { handoff, snapshot }

/** The sections that a summarizer may write. */
export const writtenSections = (schema: SchemaName): readonly SchemaSection[] =>
  schemas[schema].filter(({ name }) => name !== rulesSection)

/** How a state is printed before its line. */
export const stateLabels: Readonly<Record<LineState, string>> = {
  done: "[Done]",
  failed: "[Failed attempt]",
  pending: "[Pending confirmation]",
  next: "[Next]",
}

/** What a note is about. `reply` is what the user said beside requests; `wish` is one that is meant to last. */
export type NoteKind =
  | ("request" | "correction" | "wish" | "reply")
  | ("decision" | "finding" | "conclusion" | "current" | "next" | "question")
  | ("command" | "file" | "error" | "task" | "transaction" | "lookup")

/** Something worth knowing of a transcript, on one line, with what it rests on. */
export type Note = {
  readonly kind: NoteKind
  /** On one line. The user's words are verbatim but for line breaks, and are shortened at the end only. */
  readonly text: string
  /** Ids of the messages that it rests on, in order. */
  readonly sources: readonly string[]
  readonly state?: LineState
  readonly channel: Channel
  /** Position of the message in which it became so. */
  readonly at: number
  /** How much is lost without it, before anybody asks how long ago it was. */
  readonly worth: number
}

/** Notes of one transcript: a long day's session has a few hundred that anybody would want back, and a summary holds a tenth of those. */
export const maxNotes = 500

/** Longest line that is not the user's: two lines on a screen. */
export const maxLineLength = 280

/** Longest line of the user's words: a full page would crowd out everything else, and the first request is kept apart as the goal. */
export const maxUserLineLength = 1_500

/** Characters read from either end of a text: people and models say what matters at the ends of longer ones. */
export const maxReadPerEnd = 12_000

/** Message ids that one note names: the first ones say where it began, the last where it stands. */
export const maxNoteSources = 8

/** What ends a line or turns its direction somewhere: blanks, controls, separators, bidirectional overrides. */
const breaking = /[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** Half of a character that takes two units; alone it is none. */
const lone = /[\ud800-\udfff]/gu

/** How much longer than its limit a text may be before it is cut unread: blanks fold to one. */
const slack = 4

/** The text on one line, each run of blanks and breaks as one blank, at most `max` characters, `…` at the end where it was cut. */
export function oneLine(text: string, max: number): string {
  const read = text.slice(0, slack * max)
  const line = read.replace(breaking, " ").replace(lone, "\ufffd").trim()
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

/** The first thing that the user asked for, verbatim as far as it is shown. */
export type Goal = { readonly text: string; readonly source: string; readonly whole: boolean }

/** What stands in place of messages that are no longer shown: one text, fenced, of the user's role and no one's authority. */
export type Digest = {
  /** How many messages it stands for, those of the digests that it took over included. */
  readonly covered: number
  readonly goal?: Goal
  readonly summary: Summary
  /** The fact ledger's text and the facts that stand in it. */
  readonly ledger: { readonly text: string; readonly facts: readonly Fact[] }
  /** Printed in as few words as it can be read back from. */
  readonly brief?: true
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
