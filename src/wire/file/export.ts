import type { Format } from "../../message/message.ts"
import type { LossEvent } from "../translate.ts"
import { writePlain, writeTrace } from "./body-write.ts"
import { writeClaudeCode } from "./claude-code/write.ts"
import { writeCodex } from "./codex/write.ts"
import type { Conversation, FileKind } from "./conversation.ts"
import { writePi } from "./pi/write.ts"

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

const writers: Readonly<Record<FileKind, (conversation: Conversation, options: ExportOptions) => Exported>> = {
  messages: writePlain,
  trace: writeTrace,
  "claude-code": writeClaudeCode,
  codex: writeCodex,
  pi: writePi,
}

/**
 * Write a conversation as a file of that kind: every message of it, compacted away or not. To write what the client would send next
 * instead, give it `messages: contextOf(conversation)`.
 */
export function exportTranscript(conversation: Conversation, kind: FileKind, options: ExportOptions = {}): Exported {
  return writers[kind](conversation, options)
}
