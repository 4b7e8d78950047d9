import type { MemoryKind } from "../../compact/stages/flush.ts"

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
