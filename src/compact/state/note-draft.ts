import { directs } from "../../language/imperative.ts"
import { anyOf } from "../../language/word-lists.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { createRecent } from "../../message/recall.ts"
import { claimIn } from "../gate/claim.ts"
import { scanText } from "../gate/scan.ts"
import { maxLineLength, maxNoteSources, type Note, oneLine } from "../summary/summary.ts"
import lists from "./cue-words.json" with { type: "json" }

/** A note in the making: what it quotes of a tool's output is judged only once the note is known to be kept. */
export type NoteDraft = Note & {
  /** A line or value of a tool's output, shown behind the text. */
  readonly quoted?: string
  /** The quotation is values under their keys, which no verb begins. */
  readonly values?: boolean
  /** What follows the quotation, in words of ours. */
  readonly after?: string
  /** What is said in place of a quotation that is not there. */
  readonly otherwise?: string
}

/** The note of a draft, or nothing if its own words may not stand. A quotation that may not is left out. */
function finish({ quoted, values = false, after = "", otherwise = "", ...note }: NoteDraft): Note | undefined {
  if (!admits(note.text, note.channel === "tool" ? "assistant" : note.channel)) return undefined
  const sources = distinct(note.sources)
  const parts = quoted === undefined ? [] : values ? [quoted] : quotable(quoted)
  const told = parts.find((part) => part !== undefined && part !== "" && admits(part, "tool"))
  if (told === undefined) {
    return { ...note, sources, ...endedBy(note, `${otherwise}${after}`) }
  }
  return { ...note, sources, ...endedBy(note, `: ${told}${after}`), channel: "tool" }
}

/** What the newest line is worth more than an old one. */
const recency = 3

/** Messages until that is half: an eighth of the transcript, and never less than five rounds of call, result and answer. */
const halfLife = (length: number): number => Math.max(16, length / 8)

/** The worth of a line seen from the end of the transcript; a lasting wish does not age. */
function worthOf({ kind, worth, at }: NoteDraft, length: number): number {
  return worth + (kind === "wish" ? recency : recency * 2 ** ((at + 1 - length) / halfLife(length)))
}

/** The worthiest notes, in order of position. */
export function worthiest(drafts: readonly NoteDraft[], length: number, limit: number): readonly Note[] {
  const dated = drafts.map((draft) => ({ ...draft, worth: worthOf(draft, length) }))
  const kept = new Set(dated.toSorted((one, other) => other.worth - one.worth).slice(0, limit))
  return dated
    .filter((draft) => kept.has(draft))
    .flatMap((draft) => finish(draft) ?? [])
    .sort((one, other) => one.at - other.at)
}

/** The text and its short form with what follows both. */
const endedBy = ({ text, short }: Note, end: string): Pick<Note, "text" | "short"> => ({
  text: end === "" ? text : oneLine(`${text}${end}`, 2 * maxLineLength),
  ...(short === undefined ? {} : { short: end === "" ? short : oneLine(`${short}${end}`, 2 * maxLineLength) }),
})

/** Each id once; of many the first and the last ones. */
export function distinct(ids: readonly string[]): readonly string[] {
  const each = [...new Set(ids)]
  return each.length <= maxNoteSources
    ? each
    : [...each.slice(0, maxNoteSources / 2), ...each.slice(-maxNoteSources / 2)]
}

/**
 * May these words stand in a summary? What a person said may; the assistant's words may unless they carry an attempt to steer; what data
 * says may only if it neither steers nor claims that somebody has allowed or asked for something.
 */
export const admits = (text: string, channel: Channel): boolean =>
  instructs(channel) || (channel === "assistant" ? admitsOfAssistant(text) : admitsOfData(text, channel))

/** Texts of which the answer is kept: most notes are those of the compaction before. */
const maxKept = 2000

const isSteady = (text: string, channel: Channel): boolean => scanText(text, { channel }).findings.length === 0
const admitsOfAssistant = createRecent((text) => isSteady(text, "assistant"), maxKept)
const admitsOfTool = createRecent((text) => isSteady(text, "tool") && claimIn(text) === undefined, maxKept)
const admitsOfData = (text: string, channel: Channel): boolean =>
  channel === "tool" ? admitsOfTool(text) : isSteady(text, channel) && claimIn(text) === undefined

/** Where a piece of a line ends that can be read by itself: behind a label, a sentence, a dash. */
const pieces = /(?<=[:.;!?。！？：；])\s+|(?<=[。！？：；])|\s[—–-]\s/u

const nounUses = anyOf(
  "\\p{L}+[_.]\\w|\\p{L}+ (?:timeout|timed out|refused|denied)\\b",
  `${anyOf(lists.systemCalls)} (?:to )?(?:host|address|socket|port|server)\\b`,
  `${anyOf(lists.usedOf)} of`,
  "(?:call|write|access|return|change|update|push) to|(?:type|name) ['\"`]",
  "\\p{L}+ (?:complete|completed|succeeded|successful|finished)(?![\\p{L}])",
  "\\p{L}+ (?:failed|aborted|rejected)(?=\\W*$|[:.;,!])",
  `${anyOf(lists.codeVerbs)} ${anyOf(lists.codeThings)}\\b`,
)
/** Verbs that compilers and system calls use as nouns, and names in code that begin with one: `test_refresh`. */
const asNoun = new RegExp(`^\\W{0,3}${nounUses}`, "iu")

const obliges =
  /(?<![\p{L}])(?:please|kindly|you (?:must|should|need|have to|are required)|(?:assistant|agent|model|ai) (?:must|should|needs))(?![\p{L}])/iu

/** A word and the thing it is done to: a command by its build, whatever its verb. Participles and small words begin a report. */
const built = new RegExp(
  `^\\W{0,4}(?!\\p{L}*${anyOf(lists.reportEndings)}\\s)\\p{L}{2,20} (?:a|an|the|this|these|those|your|my|me|us|all|every|following)(?![\\p{L}])`,
  "iu",
)

/** The name of a program before what it says. */
const label = /^\S{1,60}:$/
/** A code of an error: `START_TOO_FAR`. */
const errorCode = /^[A-Z\d]+(?:_[A-Z\d]+)+:?$/

/** What may be quoted of a line, best first: of reasons that followed one another, the last one alone if not both. */
const quotable = (line: string): readonly (string | undefined)[] => [
  tellingPart(line),
  ...(line.includes(thenSign) ? [tellingPart(line.slice(line.lastIndexOf(thenSign) + thenSign.length))] : []),
  codeIn(line),
]

/** Between two reasons of a run that failed twice. */
export const thenSign = ", then: "

/** The code that an error opens with or names, which tells something where its words may not stand. */
const codeIn = (line: string): string | undefined => {
  const [first = ""] = line.split(": ", 1)
  return errorCode.test(first) ? first : /(?<![\w-])[A-Z\d]{2,20}(?:_[A-Z\d]{2,20}){1,6}(?![\w-])/.exec(line)?.[0]
}

/** Shorter than this a remainder is a label without its message. */
const minQuoted = 8

/** What a line of data says before it begins to tell its reader what to do; nothing if it does so from the start. */
function tellingPart(line: string): string | undefined {
  let end = 0
  for (const piece of line.split(pieces)) {
    const isName = asNoun.test(piece) || label.test(piece) || errorCode.test(piece)
    if (obliges.test(piece) || built.test(piece) || (directs(piece) && !isName)) break
    end = line.indexOf(piece, end) + piece.length
  }
  const told = line.slice(0, end).trim()
  return told.length >= minQuoted || told === line.trim() ? told : undefined
}
