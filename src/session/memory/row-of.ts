import type { MemoryEntry, MemoryKind } from "../../compact/state/flush.ts"
import { clipText } from "../../language/cut-text.ts"
import { instructs } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { hashData } from "../../message/sha256.ts"
import type { MemoryOwner, MemoryRow } from "../../store/store.ts"

/** A memory is a line or a paragraph; what is longer is content, stands whole in the log, and is found there by its sources. */
export const maxTextLength = 2_000

/** A line rests on a handful of messages; one that names more is about all of them. */
export const maxRowSources = 32

/** Where and when a memory is written down. */
type RowPlace = MemoryOwner & { readonly session: string; readonly atMs: number }

/** Everything that only a terminal or an old protocol reads; line breaks and tabs stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f]+/g

/** A moment's day in UTC. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

/** One spelling for texts that differ only in how they are set. */
export const normalText = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ")

/**
 * A memory as it is kept, or nothing if it says nothing. Its id is made of whose it is and what it says, so that the same words are the
 * same row whenever they are flushed. It is trusted only if its channel may instruct, whatever the entry claims. Data that is about
 * nothing in particular is the same row in all sessions of its agent.
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

type Identified = Pick<MemoryRow, "agent" | "session" | "kind" | "text" | "trusted">

function idOf(row: Identified, subject: string | undefined): string {
  if (row.trusted || subject !== undefined) return sessionIdOf(row)
  return hashData(["data", row.agent, row.kind, normalText(row.text)])
}

/** The id of a row that is one session's own. Data without a subject was stored under such ids before it was the same in all sessions. */
export const sessionIdOf = ({ agent, session, kind, text, trusted }: Identified): string =>
  hashData([agent, session, kind, normalText(text), trusted])

/** A stored row under the id that it would get today. */
export const withCurrentId = (row: MemoryRow): MemoryRow =>
  row.trusted || row.subject !== undefined ? row : { ...row, id: idOf(row, undefined) }

/** The row of something that was given up in between and is said anew: the same words, resting on other messages. */
export const againOf = (row: MemoryRow): MemoryRow => ({ ...row, id: hashData(["again", row.id, ...row.sources]) })

/** Longer than a label with the name of a record; what is longer before a colon is a sentence. */
const maxSubjectLength = 200
const maxLabelWords = 6

/** `label of subject: value`, whole; neither half of the subject may hold a sign that ends a thought. */
const sign = '[^\\n.,;!?(){}\\[\\]<>|"`“”«»]'
const named = new RegExp(`^(\\p{L}${sign}{0,80}) of (\\S[^\\n]{0,160})$`, "u")
const bare = new RegExp(`^\\p{L}${sign}{0,40}$`, "u")

/** Of what somebody wanted or settled on, only what names its record exactly: an id, an address, a path. */
const exact = /[\d@_/#]/

/** Kinds of which one thing has one value at a time. A path, a command or an error stands beside others of its name. */
const oneValued: ReadonlySet<MemoryKind> = new Set([
  "fact",
  "identifier",
  "wish",
  "decision",
  "correction",
  "conclusion",
])

/** Labels that say only what sort of value or remark follows: many may stand side by side. */
const generic: ReadonlySet<string> = new Set(
  (
    "amount date time version number word name quote argument line id identifier value item email url path hash command error fact " +
    "note notes todo update warning info example question answer step option reason result output input message text type kind list copy " +
    "part one some all most each many summary use case end start rest lot kind sort pair set"
  ).split(" "),
)

/**
 * What a memory is about, where its own shape says so: the words before the colon of `label of subject: value`, or of `label: value` for
 * an exact value that somebody who may instruct gave. Anything less plain is about nothing, and nothing takes its place.
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
  // With a second colon nobody can tell where the value starts.
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
