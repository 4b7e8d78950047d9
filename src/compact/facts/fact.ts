import type { CallId, Channel, MessageId } from "../../message/message.ts"

/** What sort of value it is. The first row names things, and a name stays itself wherever it turns up; the second describes them. */
export type FactKind =
  | (
      | "email"
      | "url"
      | "path"
      | "hash"
      | "id"
      | "command"
      | "identifier"
      | "error"
      | "name"
      | "quote"
      | "argument"
      | "line"
    )
  | ("amount" | "date" | "time" | "version" | "number" | "word")

/** Where a label was read, best first: a key it stood under, `key: value` in text, the words before it, or only its kind. */
export type LabelSource = "key" | "pair" | "words" | "kind"

/** A value as an extractor met it. */
export type Mention = {
  readonly kind: FactKind
  /** Verbatim, and always on one line. */
  readonly value: string
  readonly label: string
  readonly labelFrom: LabelSource
  /** The value that names the record this one belongs to. */
  readonly subject?: string
  /** Was it said to take the place of another? */
  readonly updates?: true
}

/** `failed` and `resolved` are said of commands: the last run failed, or failed once and went well later. */
export type FactState = "current" | "superseded" | "failed" | "resolved"

/** An exact value that came up in a transcript, what it is, and how it was used. */
export type Fact = Mention & {
  readonly source: { readonly messageId: MessageId; readonly callId?: CallId }
  readonly channel: Channel
  /** Positions of the messages that mention it first and last, counted from the start of the transcript. */
  readonly first: number
  readonly last: number
  /** How many messages mention it. */
  readonly uses: number
  /** How many messages pass it to a tool. */
  readonly usedInCalls: number
  readonly givenByUser: boolean
  /** Did the user or the assistant speak of it, rather than only a tool's output or a call? */
  readonly said?: true
  readonly state: FactState
}

const describing: ReadonlySet<FactKind> = new Set(["amount", "date", "time", "version", "number", "word"])

/** Does the kind say something about a subject, so that a later value can take its place? */
export const describesValue = (kind: FactKind): boolean => describing.has(kind)

type Placed = Mention & Pick<Fact, "channel">

/** What makes two mentions the same fact: the value alone for a name; for a description the value, whose it is, and who said so. */
export const factKey = ({ kind, value, label, subject = "" }: Mention, channel: Channel): string =>
  describesValue(kind) ? `${channel}\n${subject}\n${label}\n${value}` : value

/** The place that holds one value at a time, if the fact has such a place: an attribute of a subject, or what the user said `is` so. */
export function slotOf({ kind, label, labelFrom, subject, channel }: Placed): string | undefined {
  if (!describesValue(kind)) return undefined
  if (labelFrom === "key" && subject !== undefined) return `${channel}\n${subject}\n${label}`
  return labelFrom === "pair" && channel === "user" ? `${channel}\n\n${label}` : undefined
}

/** Who brought a value up, as far as it matters later: the user, or anyone else. In the order of print: what a person asked for comes last. */
export const blocks = ["others", "user"] as const

export type LedgerBlock = (typeof blocks)[number]

/** The line above what the user gave; the rest needs none. */
export const userHeading = "From the user"

export const blockOf = ({ givenByUser }: Pick<Fact, "givenByUser">): LedgerBlock => (givenByUser ? "user" : "others")

/** Longest value kept: what agents pass on as one argument is shorter, and a longer text is content rather than a fact. */
export const maxValueLength = 160

/** Shortest value kept: below that almost any context holds it by chance. */
export const minValueLength = 2

/** Longest label: a few words, so that a line is mostly values. */
export const maxLabelLength = 32

/** Facts held; a long day's session has a few thousand, and ranking them takes milliseconds. */
export const maxFacts = 8_000

/** Facts left after an overflow, so that the sorting is paid once in a thousand new facts. */
export const keptFacts = 3_000

/** Mentions read from one part: one flooding output may fill half the ledger and no more. */
export const maxMentionsPerPart = 1_500

/** Characters read from either end of one text; what lies between in a larger one is bulk that a call will name if it matters. */
export const maxScannedPerEnd = 250_000

/** Calls whose result may still come; agents run a handful in parallel. */
export const maxOpenCalls = 256

/** Longer than what people type after they have said what they want; in a user's message more than that is output or paste. */
export const maxTypedLength = 1_500

/** A tool's answer that is no longer is a sentence or two, written for the reader. */
export const maxShortAnswerLength = 400

/** From where a text is read. */
export type TextOrigin = {
  readonly channel: Channel
  /** Was it passed to a tool? */
  readonly inCall: boolean
  /** Did someone write it, for this conversation? Otherwise it is what a tool printed or what was pasted. */
  readonly spoken: boolean
}

/** Takes the values of a text one by one, in the order in which readers find them. */
export type Emit = (mention: Mention) => void

const plain = /^(?!@)[\p{L}\p{N}_@./:+#$€£¥₹%~\\=&?-]*[\p{L}\p{N}_@./+#$€£¥₹%~\\=&?-]$/u

/** Can the value stand among our signs as it is, and be told from them again? */
export const isPlain = (value: string): boolean => plain.test(value)

/** A value verbatim: as it is if nothing in it could be read as ours, otherwise between backticks, more of them than stand in a row inside. */
export function quoteValue(value: string): string {
  if (isPlain(value)) return value
  const longest = Math.max(0, ...[...value.matchAll(/`+/g)].map(([run]) => run.length))
  const mark = "`".repeat(longest + 1)
  return longest > 0 ? `${mark} ${value} ${mark}` : `${mark}${value}${mark}`
}

/** What ends a line or turns its direction somewhere: controls, separators, bidirectional overrides. */
const breaking = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Can the text stand on a line as it is, and is it short enough to be a value? */
export const isOneLine = (text: string): boolean => text.length <= maxValueLength && !breaking.test(text)
