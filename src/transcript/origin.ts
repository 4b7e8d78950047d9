import type { Message, Transcript } from "../message/message.ts"
import type { ModelRequest } from "../message/request.ts"
import type { FileKind } from "./kind.ts"

/** The text that a conversation was read from, so that what nobody changed is copied and never written anew. */
export type Origin = BodyOrigin | LinesOrigin

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

export type Reuse =
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
