import type { Format } from "../message/message.ts"
import type { LossEvent } from "../wire/translate.ts"

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
