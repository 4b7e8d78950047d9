import type { Tokens, Wire } from "./ids.ts"
import type { Format, Message, Transcript } from "./message.ts"
import type { Breakpoint, Part } from "./part.ts"

/** A tool as the request declares it. */
export type Tool = { readonly name: string; readonly wire: Wire; readonly breakpoint?: Breakpoint }

/** A stretch of a text: `text.slice(start, end)`. */
export type Span = { readonly start: number; readonly end: number }

/** Where the pieces stand in the body, so that an unchanged one is copied and never written anew. */
export type Layout = {
  /** The list of messages, brackets included, and each element of it. */
  readonly messages?: Span & { readonly elements: readonly Span[] }
  readonly system?: Span
  readonly tools?: Span
}

/** State that the provider holds for the client, so that this request does not carry the whole conversation. */
export type HeldState = {
  readonly type: "previous-response" | "thread" | "conversation" | "cached-content"
  readonly id?: string
}

/** A model call as it came in. `messages` stand one to one for the elements of the wire's own list. */
export type ModelRequest = {
  readonly format: Format
  /** The whole body. Forwarding it unchanged means forwarding this. */
  readonly wire: Wire
  readonly layout: Layout
  readonly model?: string
  /** What the wire keeps apart from the messages: `system`, `instructions`, `systemInstruction`. */
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  readonly messages: Transcript
  readonly stream: boolean
  readonly maxOutputTokens?: Tokens
  readonly held?: HeldState
}

/** What the provider says one request took. Input counts everything read, cached or not. */
export type Usage = {
  readonly inputTokens: Tokens
  readonly outputTokens: Tokens
  readonly cacheReadTokens: Tokens
  readonly cacheWriteTokens: Tokens
}

export type StopReason =
  | "end"
  | "tool-calls"
  | "length"
  | "refusal"
  | "pause"
  | "compaction"
  | "context-window"
  | "other"

/** A model's answer. One wire message, or on OpenAI Responses one message for each output item. */
export type ModelResponse = {
  readonly format: Format
  readonly wire?: Wire
  readonly id?: string
  readonly model?: string
  readonly messages: readonly Message[]
  readonly stop: StopReason
  readonly usage?: Usage
}
