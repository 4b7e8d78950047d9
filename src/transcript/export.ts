import { writePlain, writeTrace } from "./body.ts"
import { writeClaudeCode } from "./claude-code-write.ts"
import { writeCodex } from "./codex.ts"
import { type Conversation, type Exported, type ExportOptions, type FileKind, requireKind } from "./conversation.ts"
import { writePi } from "./pi-write.ts"

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
  return writers[requireKind(kind)](conversation, options)
}
