import { directs } from "../../language/imperative.ts"
import { anyOf } from "../../language/word-lists.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { createRecent } from "../../message/recall.ts"
import { claimIn } from "../gate/claim.ts"
import { scanText } from "../gate/scan.ts"
import { maxLineLength, maxNoteSources, type Note, oneLine } from "../summary/summary.ts"
import lists from "./cue-words.json" with { type: "json" }

/** A note before it is chosen: the part quoted from a tool's output is checked only if the note is kept. */
export type NoteDraft = Note & {
  /** A line or value of a tool's output, added after the text. */
  readonly quoted?: string
  /** True if `quoted` is a list of keys and values rather than prose that could instruct the reader. */
  readonly values?: boolean
  /** Words of the user as the client reports them in a tool's result: shown between quotation marks, as a report. */
  readonly reported?: string
  /** Further lines of the output, each quoted only if it is admitted, behind our own words that introduce them. */
  readonly also?: { readonly lead: string; readonly lines: readonly string[] }
  /** Our own text after the quotation. */
  readonly after?: string
  /** Our own text if there is no quotation. */
  readonly otherwise?: string
}

/** Returns the note of a draft, without a quotation that is not admitted; undefined if its own text is not admitted. */
function finish({
  quoted,
  reported,
  values = false,
  also,
  after = "",
  otherwise = "",
  ...note
}: NoteDraft): Note | undefined {
  if (!admits(note.text, note.channel === "tool" ? "assistant" : note.channel)) return undefined
  const sources = distinct(note.sources)
  if (reported !== undefined && reported !== "" && hasNoSteering(reported, "tool"))
    return {
      ...note,
      sources,
      ...endedBy(note, ` (as reported: “${reported.replace(/[“”]/g, '"')}”)${after}`),
      channel: "tool",
    }
  const parts = quoted === undefined ? [] : values ? [quoted] : quotable(quoted)
  const told = parts.find((part) => part !== undefined && part !== "" && admits(part, "tool"))
  const others = (also?.lines ?? []).filter((line) => partBeforeInstruction(line) === line && admits(line, "tool"))
  if (told === undefined && others.length === 0) return { ...note, sources, ...endedBy(note, `${otherwise}${after}`) }
  const [first, lead] = told === undefined ? ["", ": "] : [`: ${told}`, also?.lead ?? ""]
  const rest = others.length === 0 ? "" : `${lead}${others.join("; ")}`
  return { ...note, sources, ...endedBy(note, `${first}${rest}${after}`), channel: "tool" }
}

/** Extra worth of the newest line. */
const recency = 3

/**
 * Number of messages after which that extra is halved: an eighth of the transcript, but at least about five rounds of call, result and
 * answer.
 */
const halfLife = (length: number): number => Math.max(16, length / 8)

/** Worth of a line at the end of the transcript; a wish does not lose worth with age. */
function worthOf({ kind, worth, at }: NoteDraft, length: number): number {
  return worth + (kind === "wish" ? recency : recency * 2 ** ((at + 1 - length) / halfLife(length)))
}

/** Returns the notes of highest worth, in order of position. */
export function worthiest(drafts: readonly NoteDraft[], length: number, limit: number): readonly Note[] {
  const dated = drafts.map((draft) => ({ ...draft, worth: worthOf(draft, length) }))
  const kept = new Set(dated.toSorted((one, other) => other.worth - one.worth).slice(0, limit))
  return dated
    .filter((draft) => kept.has(draft))
    .flatMap((draft) => finish(draft) ?? [])
    .sort((one, other) => one.at - other.at)
}

/** Appends `end` to the text and to its short form. */
const endedBy = ({ text, short }: Note, end: string): Pick<Note, "text" | "short"> => ({
  text: end === "" ? text : oneLine(`${text}${end}`, 2 * maxLineLength),
  ...(short === undefined ? {} : { short: end === "" ? short : oneLine(`${short}${end}`, 2 * maxLineLength) }),
})

/** Removes duplicates and, beyond the limit, keeps the first and the last ids. */
export function distinct(ids: readonly string[]): readonly string[] {
  const each = [...new Set(ids)]
  return each.length <= maxNoteSources
    ? each
    : [...each.slice(0, maxNoteSources / 2), ...each.slice(-maxNoteSources / 2)]
}

/**
 * True if a text may stand in a summary. Text of a person may; text of the assistant may unless it tries to steer the reader; text of data
 * may only if it neither steers nor claims that somebody has allowed or asked for something.
 */
export const admits = (text: string, channel: Channel): boolean =>
  instructs(channel) || (channel === "assistant" ? admitsOfAssistant(text) : admitsOfData(text, channel))

/** Number of texts whose result is cached: most notes recur from the compaction before. */
const maxKept = 2000

const hasNoSteering = (text: string, channel: Channel): boolean => scanText(text, { channel }).findings.length === 0
const admitsOfAssistant = createRecent((text) => hasNoSteering(text, "assistant"), maxKept)
const admitsOfTool = createRecent((text) => hasNoSteering(text, "tool") && claimIn(text) === undefined, maxKept)
const admitsOfData = (text: string, channel: Channel): boolean =>
  channel === "tool" ? admitsOfTool(text) : hasNoSteering(text, channel) && claimIn(text) === undefined

/** Boundaries between parts of a line that can be read alone: after a label, a sentence, or a dash. */
const pieces = /(?<=[:.;!?。！？：；])\s+|(?<=[。！？：；])|\s[—–…-]\s/u

const nounUses = anyOf(
  "\\p{L}+[_.]\\w|\\p{L}+ (?:timeout|timed out|refused|denied|conflicts?)\\b|request to \\w+",
  "(?:get|head|post|put|patch|delete) ['\"]https?:",
  `${anyOf(lists.systemCalls)} (?:to )?(?:host|address|socket|port|server)\\b`,
  `${anyOf(lists.usedOf)} of`,
  "(?:call|write|access|return|change|update|push) to|(?:type|name) ['\"`]",
  "\\p{L}+ (?:complete|completed|succeeded|successful|finished)(?![\\p{L}])",
  "\\p{L}+ (?:failed|aborted|rejected)(?=\\W*$|[:.;,!])",
  `${anyOf(lists.codeVerbs)} ${anyOf(lists.codeThings)}\\b`,
)
/** Verbs used as nouns by compilers and system calls, and identifiers that begin with a verb: `test_refresh`. */
const asNoun = new RegExp(`^\\W{0,3}${nounUses}`, "iu")

const obliges =
  /(?<![\p{L}])(?:please|kindly|you (?:must|should|need|have to|are required)|(?:assistant|agent|model|ai) (?:must|should|needs))(?![\p{L}])/iu

/**
 * Matches the form of a command, a verb followed by its object, whatever the verb. Participles and function words begin a report instead.
 */
const commandForm = new RegExp(
  `^\\W{0,4}(?!\\p{L}*${anyOf(lists.reportEndings)}\\s)\\p{L}{2,20} (?:a|an|the|this|these|those|your|my|me|us|all|every|following)(?![\\p{L}])`,
  "iu",
)

/** The name of a program before its message. */
const label = /^\S{1,60}:$/
/** An error code: `START_TOO_FAR`, `AccessDenied`. */
const errorCode = /^(?:[A-Z\d]+(?:_[A-Z\d]+)+|(?:[A-Z][a-z\d]{1,30}){2,8}):?$/

/** Parts of a line that may be quoted, best first: of reasons joined by `thenSign`, the last one alone if not all of them. */
const quotable = (line: string): readonly (string | undefined)[] => [
  partBeforeInstruction(line),
  ...(line.includes(thenSign) ? [partBeforeInstruction(line.slice(line.lastIndexOf(thenSign) + thenSign.length))] : []),
  codeIn(line),
]

/** Separates two reasons of a run that failed twice. */
export const thenSign = ", then: "

/** Returns the error code that a line begins with or contains, for when its words are not admitted. */
const codeIn = (line: string): string | undefined => {
  const [first = ""] = line.split(": ", 1)
  return errorCode.test(first) ? first : /(?<![\w-])[A-Z\d]{2,20}(?:_[A-Z\d]{2,20}){1,6}(?![\w-])/.exec(line)?.[0]
}

/** Minimum length of a partial quotation in characters; a shorter one is a label without its message. */
const minQuoted = 8

/** Returns the part of a line before it begins to instruct its reader; undefined if it does so from the start. */
function partBeforeInstruction(line: string): string | undefined {
  let end = 0
  for (const piece of line.split(pieces)) {
    const isName = asNoun.test(piece) || label.test(piece) || errorCode.test(piece)
    if (obliges.test(piece) || commandForm.test(piece) || (directs(piece) && !isName)) break
    end = line.indexOf(piece, end) + piece.length
  }
  const told = line.slice(0, end).trim()
  if (told === line.trim()) return told
  return told.length >= minQuoted ? told.replace(/[;:,]+$/, "") : undefined
}
