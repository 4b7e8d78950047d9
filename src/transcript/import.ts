import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { readPlain, readTraces } from "./body.ts"
import { readClaudeCode } from "./claude-code-read.ts"
import { readCodex } from "./codex.ts"
import { type FileKind, requireKind, type TranscriptFile } from "./conversation.ts"
import { detectFile } from "./detect.ts"
import { readPi } from "./pi-read.ts"

/** A longer text is refused: engines end strings a little beyond this (V8 at 536,870,888 characters). */
export const maxFileLength = 500_000_000

/** What the caller knows of the file: otherwise its kind, and the wire format of bare messages, are told by its structure. */
export type ImportOptions = { readonly kind?: FileKind; readonly format?: Format }

const readers: Readonly<Record<FileKind, (text: string, format?: Format) => TranscriptFile>> = {
  messages: readPlain,
  trace: readTraces,
  "claude-code": (text) => readClaudeCode(text),
  codex: (text) => readCodex(text),
  pi: (text) => readPi(text),
}

/** Read a transcript file of any kind. One pass over its lines: time grows with the length of the file and no faster. */
export function importTranscript(text: string, { kind, format }: ImportOptions = {}): TranscriptFile {
  if (typeof text !== "string")
    throw new HoldfastError({ code: "json-invalid", offset: 0, reason: `it is ${typeof text}, not text` })
  if (text.length > maxFileLength)
    throw new HoldfastError({ code: "body-too-large", length: text.length, limit: maxFileLength })
  return readers[requireKind(kind ?? detectFile(text))](text, format)
}
