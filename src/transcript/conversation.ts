import { HoldfastError } from "../message/errors.ts"
import type { Format, Message, MessageId, ModelRequest, Part, Tool, Transcript } from "../message/message.ts"
import type { LossEvent } from "../wire/translate.ts"

/** A file as read: its conversations, the main one first, and every line without a message. */
export type TranscriptFile = {
  readonly kind: FileKind
  readonly conversations: readonly Conversation[]
  readonly skipped: readonly SkippedLine[]
}

/** `cut-off`: the last line, cut off by a crash. `no-message`: a known type that the model never sees. `repeated`: a duplicate. */
export type SkipReason = "cut-off" | "no-message" | "unknown-type" | "repeated"

/** A line without a message, verbatim. */
export type SkippedLine = {
  readonly line: number
  readonly reason: SkipReason
  readonly type?: string
  readonly text: string
}

/** One conversation: every message of the current branch, including those that were compacted away. */
export type Conversation = {
  readonly id?: string
  readonly title?: string
  /** The wire format of the messages, system parts and tools. */
  readonly format: Format
  readonly model?: string
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  readonly messages: Transcript
  readonly compactions: readonly Compaction[]
  readonly branches: readonly AbandonedBranch[]
  readonly notes: readonly MessageNote[]
  /** True for a subagent's conversation in the file of the main one. */
  readonly sidechain?: true
  /** Other data of the conversation, as the file has it. */
  readonly meta: Readonly<Record<string, unknown>>
  /** The text that it was read from; absent for a conversation that was built in memory. */
  readonly origin?: Origin
}

/** The client's own compaction: from then on the model saw `replacement` instead of the messages before index `at`. */
export type Compaction = {
  readonly at: number
  readonly replacement: Transcript
  readonly trigger?: string
  readonly tokensBefore?: number
}

/** Messages of an abandoned branch in file order; `from` is the message after which it began, absent at the start. */
export type AbandonedBranch = {
  readonly reason: "abandoned" | "rolled-back"
  readonly from?: MessageId
  readonly messages: Transcript
}

/** What the file says about a message beyond what the model sees. */
export type MessageNote = {
  readonly message: MessageId
  /** Written by the client, inserted in place of an answer, the summary of a branch, or a command that the user ran. */
  readonly note: "client-written" | "synthetic" | "branch-summary" | "user-command"
}

/** Returns what the client would send next: the last compaction's replacement and all messages after it. */
export function contextOf({ messages, compactions }: Conversation): Transcript {
  const last = compactions.at(-1)
  return last === undefined ? messages : [...last.replacement, ...messages.slice(last.at)]
}

/** The kinds of transcript files: a list of messages or a request body, traces line by line, or an agent's own session file. */
export type FileKind = "messages" | "trace" | "claude-code" | "codex" | "pi"

export const fileKinds: readonly FileKind[] = ["messages", "trace", "claude-code", "codex", "pi"]

/** Validates a kind that came from a flag. */
export function requireKind(kind: FileKind): FileKind {
  if (!fileKinds.includes(kind))
    throw new HoldfastError({ code: "format-unknown", found: `"${String(kind).slice(0, 80)}"`, known: fileKinds })
  return kind
}

/** The text that a conversation was read from, so that unchanged parts are copied instead of written again. */
type Origin = BodyOrigin | LinesOrigin

/** A body, a trace, or a bare list that was read as the only member of a body. */
export type BodyOrigin = {
  readonly type: "body"
  readonly kind: FileKind
  readonly request: ModelRequest
  readonly bare: boolean
  /** The text after it in the file: a line break after a trace on its own line. */
  readonly after: string
}

/** The lines of a session file without line breaks, and the lines of each message. */
export type LinesOrigin = {
  readonly type: "lines"
  readonly kind: FileKind
  readonly lines: readonly string[]
  readonly owned: ReadonlyMap<Message, readonly number[]>
  readonly messages: Transcript
  /** Lines with the session's data, which are copied even if the messages changed. */
  readonly head: readonly number[]
  /** The id that the next entry names as its parent. */
  readonly leaf?: string
  /** True if the last line is cut off; then nothing can be appended. */
  readonly cut: boolean
}

/** Returns the whole text, ready for more lines. */
export function textBefore({ lines }: LinesOrigin): string {
  const text = lines.join("\n")
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}

/** A time in the two notations of session files. */
export type Instant = { readonly iso: string; readonly ms: number }

/**
 * Data that a file needs and a conversation does not have. Every member has a fixed default, so that the same conversation gives the same
 * text.
 */
export type ExportOptions = {
  /** The wire format of a list of messages or a trace; by default the conversation's own. */
  readonly format?: Format
  readonly now?: Instant
  /** Returns the id of the n-th new line of a session file. */
  readonly newId?: (n: number) => string
  readonly cwd?: string
}

export type Exported = {
  readonly text: string
  readonly lost: readonly LossEvent[]
  readonly lostTools: readonly string[]
}
