import type { Channel } from "../../message/channel.ts"
import type { CallId, MessageId } from "../../message/ids.ts"

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
export const describes = (kind: FactKind): boolean => describing.has(kind)

type Placed = Mention & Pick<Fact, "channel">

/** What makes two mentions the same fact: the value alone for a name; for a description the value, whose it is, and who said so. */
export const keyOf = ({ kind, value, label, subject = "" }: Mention, channel: Channel): string =>
  describes(kind) ? `${channel}\n${subject}\n${label}\n${value}` : value

/** The place that holds one value at a time, if the fact has such a place: an attribute of a subject, or what the user said `is` so. */
export function slotOf({ kind, label, labelFrom, subject, channel }: Placed): string | undefined {
  if (!describes(kind)) return undefined
  if (labelFrom === "key" && subject !== undefined) return `${channel}\n${subject}\n${label}`
  return labelFrom === "pair" && channel === "user" ? `${channel}\n\n${label}` : undefined
}
