import { HoldfastError } from "../message/errors.ts"
import type { Format, Message, MessageId, ModelRequest, Part, Tool, Transcript } from "../message/message.ts"
import type { LossEvent } from "../wire/translate.ts"

/** A file as read: its conversations, the main one first, and every line that gave no message. */
export type TranscriptFile = {
  readonly kind: FileKind
  readonly conversations: readonly Conversation[]
  readonly skipped: readonly SkippedLine[]
}

/** `cut-off`: the last line, broken off by a crash. `no-message`: known, and not said to the model. `repeated`: stands there twice. */
export type SkipReason = "cut-off" | "no-message" | "unknown-type" | "repeated"

/** A line that gave no message, kept as it stands. */
export type SkippedLine = {
  readonly line: number
  readonly reason: SkipReason
  readonly type?: string
  readonly text: string
}

/** One conversation: everything that was said on the branch that is current, compacted away since or not. */
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
  /** A subagent's conversation that the file of the main one carries. */
  readonly sidechain?: true
  /** What else the file says of the conversation, in the file's own words. */
  readonly meta: Readonly<Record<string, unknown>>
  /** The text that it was read from; absent under one that we made. */
  readonly origin?: Origin
}

/** The client's own compaction: from then on the model saw `replacement` in place of the messages before index `at`. */
export type Compaction = {
  readonly at: number
  readonly replacement: Transcript
  readonly trigger?: string
  readonly tokensBefore?: number
}

/** What was said and then left: in the order of writing, after the message `from`, or from the start. */
export type AbandonedBranch = {
  readonly reason: "abandoned" | "rolled-back"
  readonly from?: MessageId
  readonly messages: Transcript
}

/** What the file knows of a message beyond what the model is told. */
export type MessageNote = {
  readonly message: MessageId
  /** Written by the client, not typed; made up in place of an answer; the summary of a branch; a command that the user ran. */
  readonly note: "client-written" | "synthetic" | "branch-summary" | "user-command"
}

/** What the client would send next: the last compaction's replacement and all that came after it. */
export function contextOf({ messages, compactions }: Conversation): Transcript {
  const last = compactions.at(-1)
  return last === undefined ? messages : [...last.replacement, ...messages.slice(last.at)]
}

/** What a transcript file is: a list of messages or a request body, traces line by line, or an agent's own session file. */
export type FileKind = "messages" | "trace" | "claude-code" | "codex" | "pi"

export const fileKinds: readonly FileKind[] = ["messages", "trace", "claude-code", "codex", "pi"]

/** The kind itself; a name that came from a flag may be none. */
export function requireKind(kind: FileKind): FileKind {
  if (!fileKinds.includes(kind))
    throw new HoldfastError({ code: "format-unknown", found: `"${kind}"`, known: fileKinds })
  return kind
}

/** The text that a conversation was read from, so that what nobody changed is copied and never written anew. */
type Origin = BodyOrigin | LinesOrigin

/** A body, a trace, or a bare list that was read as the only member of a body. */
export type BodyOrigin = {
  readonly type: "body"
  readonly kind: FileKind
  readonly request: ModelRequest
  readonly bare: boolean
  /** What follows the text in its file: a line break after a trace that is a line. */
  readonly after: string
}

/** The lines of a session file, breaks left out, and which of them each message came in. */
export type LinesOrigin = {
  readonly type: "lines"
  readonly kind: FileKind
  readonly lines: readonly string[]
  readonly owned: ReadonlyMap<Message, readonly number[]>
  readonly messages: Transcript
  /** Lines that say whose session it is: copied even when the messages changed. */
  readonly head: readonly number[]
  /** The id that the next entry names as its parent. */
  readonly leaf?: string
  /** Is the last line broken off? Then nothing can be appended after it. */
  readonly cut: boolean
}

type Reuse =
  | { readonly type: "whole" }
  | { readonly type: "append"; readonly added: Transcript }
  | { readonly type: "rebuild" }

/** How much of the text still stands: all of it, all of it and more after it, or the lines of single messages. */
export function reuseOf({ messages: original, cut }: LinesOrigin, messages: Transcript): Reuse {
  if (!original.every((message, n) => message === messages[n])) return { type: "rebuild" }
  if (messages.length === original.length) return { type: "whole" }
  return cut ? { type: "rebuild" } : { type: "append", added: messages.slice(original.length) }
}

/** The whole text, ready for more lines after it. */
export function textBefore({ lines }: LinesOrigin): string {
  const text = lines.join("\n")
  return text === "" || text.endsWith("\n") ? text : `${text}\n`
}

/** A moment, in the two spellings that session files use. */
export type Instant = { readonly iso: string; readonly ms: number }

/** What a file needs that no conversation knows. Everything has a fixed default, so that the same conversation gives the same text. */
export type ExportOptions = {
  /** The wire format of a list of messages or a trace; the conversation's own unless asked for. */
  readonly format?: Format
  readonly now?: Instant
  /** An id for the n-th new line of a session file. */
  readonly newId?: (n: number) => string
  readonly cwd?: string
}

export type Exported = {
  readonly text: string
  readonly lost: readonly LossEvent[]
  readonly lostTools: readonly string[]
}
