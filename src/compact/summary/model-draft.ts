import { present } from "../../message/present.ts"
import { writtenSections } from "./schema.ts"
import type { LineState, SchemaName, Summary, SummaryLine } from "./summary.ts"

/** A line as a summarizer gave it, not yet believed. */
export type DraftLine = {
  readonly section: string
  readonly text: string
  readonly from: readonly string[]
  readonly state?: LineState
}

/** What of an answer did not go into the summary, by count. */
export type LeftOut = {
  readonly sections: number
  readonly fields: number
  /** Lines over the number that is read, and lines that say nothing. */
  readonly lines: number
  /** Lines that were longer than a line may be, and lost their end. */
  readonly cut: number
}

/** A longer answer is refused unread: ten times the largest summary that anybody wants back. */
export const maxAnswerLength = 400_000

/** Longest line, in characters: 60 words with room for a path or two. */
export const maxLineLength = 800

/** Lines of one summary; a good one has 20 to 60. */
export const maxLines = 200

/** Messages that one line may name. */
export const maxSources = 20

/** What later lines of a section are worth at the least, as a share of the first. */
const leastShare = 0.5

/** A text on one line: breaks, controls and what turns the direction of writing become a blank. */
export const flatten = (text: string): string =>
  text
    .replace(/[\s\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .toWellFormed()
    .trim()

/** Cut between characters. */
export function cutLine(text: string): string {
  if (text.length <= maxLineLength) return text
  const end = maxLineLength - 1
  const whole = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end
  return `${text.slice(0, whole)}…`
}

/** Lines of a draft as a summary, in the schema's order. Its words are the assistant's: what authority a line has is for the gate to say. */
export function summaryOf(
  drafts: readonly DraftLine[],
  schema: SchemaName,
  before: Pick<LeftOut, "sections" | "fields">,
): { readonly summary: Summary; readonly leftOut: LeftOut } {
  const flat = drafts.slice(0, maxLines).map((draft) => ({ ...draft, text: flatten(draft.text) }))
  const said = flat.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
  const sections = writtenSections(schema).flatMap(({ name, worth }) => {
    const own = said.filter(({ section }) => section === name)
    const lines = own.map(({ text, from, state }, n): SummaryLine => {
      return {
        text: cutLine(text),
        sources: [...new Set(from)].slice(0, maxSources),
        channel: "assistant",
        worth: worth * (1 - ((1 - leastShare) * n) / own.length),
        ...present({ state }),
      }
    })
    return lines.length === 0 ? [] : [{ name, lines }]
  })
  const cut = said.filter(({ text }) => text.length > maxLineLength).length
  return {
    summary: { schema, sections },
    leftOut: { ...before, lines: drafts.length - said.length, cut },
  }
}
