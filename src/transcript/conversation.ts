import type { MessageId } from "../message/ids.ts"
import type { Format, Transcript } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { Tool } from "../message/request.ts"
import type { FileKind } from "./kind.ts"
import type { Origin } from "./origin.ts"

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
  readonly branches: readonly Branch[]
  readonly notes: readonly Note[]
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
export type Branch = {
  readonly reason: "abandoned" | "rolled-back"
  readonly from?: MessageId
  readonly messages: Transcript
}

/** What the file knows of a message beyond what the model is told. */
export type Note = {
  readonly message: MessageId
  /** Written by the client, not typed; made up in place of an answer; the summary of a branch; a command that the user ran. */
  readonly note: "client-written" | "synthetic" | "branch-summary" | "user-command"
}

/** What the client would send next: the last compaction's replacement and all that came after it. */
export function contextOf({ messages, compactions }: Conversation): Transcript {
  const last = compactions.at(-1)
  return last === undefined ? messages : [...last.replacement, ...messages.slice(last.at)]
}
