import type { MemoryEntry, MemoryKind } from "../../compact/state/flush.ts"
import { clipText } from "../../language/cut-text.ts"
import { wordSet } from "../../language/word-forms.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import { hashData } from "../../message/sha256.ts"
import type { MemoryOwner, MemoryRow } from "../../store/store.ts"

/** Limit on the text of a row, which is a line or a paragraph. Longer content stays in the log, and is found through its sources. */
export const maxTextLength = 2_000

/** Limit on the source entries of a row; a few are enough. */
export const maxRowSources = 32

export const rowChannels: readonly Channel[] = ["operator", "system", "user", "assistant", "memory", "document", "tool"]

type RowPlace = MemoryOwner & { readonly session: string; readonly atMs: number }

/** Control characters, except line breaks and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]+/g

/** The UTC day of a time. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

/** Normalizes Unicode form and whitespace. */
export const normalText = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ")

/**
 * The row of an entry; undefined if its text is empty. Its id is a hash of its owner and its text, so the same text is the same row
 * whenever it is flushed. It is trusted only if its channel may instruct, whatever the entry claims. Data without a subject is the same row
 * in all sessions of its agent.
 */
export function rowOf(entry: MemoryEntry, { tenant, agent, session, atMs }: RowPlace): MemoryRow | undefined {
  const { kind, channel } = entry
  const text = clipText(
    entry.text
      .slice(0, 2 * maxTextLength)
      .toWellFormed()
      .replace(controls, " ")
      .trim(),
    maxTextLength,
  )
  if (text === "") return undefined
  const trusted = entry.trusted && instructs(channel)
  const sources = [...new Set(entry.sources)].slice(0, maxRowSources)
  const subject = subjectOf({ kind, text, trusted })
  const id = idOf({ agent, session, kind, text, trusted }, subject)
  const place = { session, tenant, agent, day: dayOf(atMs), atMs }
  return { id, ...place, kind, text, channel, trusted, sources, ...present({ subject }) }
}

type IdFields = Pick<MemoryRow, "agent" | "session" | "kind" | "text" | "trusted">

function idOf(row: IdFields, subject: string | undefined): string {
  if (row.trusted || subject !== undefined) return sessionIdOf(row)
  return hashData(["data", row.agent, row.kind, normalText(row.text)])
}

/** The id of a row that belongs to one session. Older versions stored data without a subject under such ids too. */
export const sessionIdOf = ({ agent, session, kind, text, trusted }: IdFields): string =>
  hashData([agent, session, kind, normalText(text), trusted])

/** A stored row with the id that it would get in this version. */
export const withCurrentId = (row: MemoryRow): MemoryRow =>
  row.trusted || row.subject !== undefined ? row : { ...row, id: idOf(row, undefined) }

/** The row of a superseded text that is stated again: the same text with other sources. */
export const againOf = (row: MemoryRow): MemoryRow => ({ ...row, id: hashData(["again", row.id, ...row.sources]) })

/** Limit on the text before a colon: a label with the name of a record is shorter; longer text is a sentence. */
const maxSubjectLength = 200
const maxLabelWords = 6

/** `label of subject: value`, complete; neither half of the subject may contain punctuation that ends a thought. */
const sign = '[^\\n.,;!?(){}\\[\\]<>|"`“”«»]'
const named = new RegExp(`^(\\p{L}${sign}{0,80}) of (\\S[^\\n]{0,160})$`, "u")
const bare = new RegExp(`^\\p{L}${sign}{0,40}$`, "u")

/** Matches an id, an address or a path: wishes and decisions have a subject only if they name their record by one. */
const exact = /[\d@_/#]/

/** Kinds in which a subject has one value at a time. Paths, commands and errors may have several of the same name. */
const oneValued: ReadonlySet<MemoryKind> = new Set(namesIn("fact identifier wish decision correction conclusion"))

/** Labels that only name the sort of value or remark that follows; several values may have the same one. */
const generic = wordSet(
  "amount date time version number word name quote argument line id identifier value item email url path hash command error fact",
  "note notes todo update warning info example question answer step option reason result output input message text type kind list copy",
  "part one some all most each many summary use case end start rest lot kind sort pair set",
)

/**
 * The subject of a row, if its form shows it: the text before the colon in `label of subject: value`, or in `label: value` for an exact
 * value from a channel that may instruct. Any other row has no subject, and is never superseded.
 */
export function subjectOf({
  kind,
  text,
  trusted,
}: {
  readonly kind: MemoryKind
  readonly text: string
  readonly trusted: boolean
}): string | undefined {
  if (!oneValued.has(kind)) return undefined
  const colon = text.slice(0, maxSubjectLength + 2).indexOf(": ")
  const value = text.slice(colon + 2).trim()
  // With a second colon it is unclear where the value starts.
  if (colon < 1 || value === "" || value.includes(": ") || value.includes("\n")) return undefined
  const head = text.slice(0, colon).normalize("NFC").replace(/\s+/g, " ")
  const [, label, record] = head.match(named) ?? []
  if (label !== undefined && record !== undefined) {
    const clear = isLabel(label) && (kind === "fact" || exact.test(record))
    return clear ? `${label.toLowerCase()} of ${record}` : undefined
  }
  return kind === "fact" && trusted && bare.test(head) && isLabel(head) ? head.toLowerCase() : undefined
}

const isLabel = (label: string): boolean =>
  !generic.has(label.toLowerCase().trim()) && label.split(" ").length <= maxLabelWords
