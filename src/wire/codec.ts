import type { Wire } from "../message/ids.ts"
import type { Format, Message } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { HeldState, ModelResponse, Tool } from "../message/request.ts"
import type { Json } from "./json.ts"

/** What a request says beside its messages, system part and tools. */
export type Settings = {
  readonly model?: string
  readonly maxOutputTokens?: number
  readonly stream: boolean
  readonly held?: HeldState
}

/** A place in the body, in every spelling that the API takes: `["generationConfig"]`, or a path of such names. */
export type Names = readonly string[]

/**
 * One wire format. Reading keeps the original text of every piece; writing lays what we know over that text, so a piece that
 * nobody changed comes out as it went in. The files of every format have the same sections in the same order.
 */
export type Codec = {
  readonly format: Format
  readonly names: { readonly messages: Names; readonly system: Names; readonly tools: Names }
  readonly readSettings: (body: Json) => Settings
  readonly readSystem: (system: Json) => readonly Part[]
  readonly readTools: (tools: Json) => readonly Tool[]
  /** `earlier` are the messages before it, for a format whose results name their call by position. */
  readonly readMessage: (json: Json, earlier: readonly Message[]) => Message
  /** `before` is what stood there, if anything did: its shape (text or blocks) is kept where it can be. */
  readonly writeSystem: (parts: readonly Part[], before: Wire | undefined) => Wire
  /** The list of tools; `before` is the one that stood there. */
  readonly writeTools: (tools: readonly Tool[], before: Wire | undefined) => Wire
  /** Usually one element; several where the format wants one for each tool result or call. */
  readonly writeMessage: (message: Message) => readonly Wire[]
  readonly readResponse: (body: Json) => ModelResponse
}
