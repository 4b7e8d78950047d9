import { assert } from "./assert.ts"

/** Who speaks. Tool results have the role `user` on the wire; what they may do depends on the channel, not on the role. */
export type Role = "system" | "user" | "assistant"

/** The supported wire formats. */
export type Format = "anthropic-messages" | "openai-chat" | "openai-responses" | "gemini"

export const formats: readonly Format[] = ["anthropic-messages", "openai-chat", "openai-responses", "gemini"]

/** The provider API of a request: OpenAI's has two formats, the others one each. */
export type ApiFamily = "anthropic" | "openai" | "gemini"

export const families: readonly ApiFamily[] = ["anthropic", "openai", "gemini"]

export const familyOf: Readonly<Record<Format, ApiFamily>> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  gemini: "gemini",
}

export type Message = {
  readonly id: MessageId
  readonly role: Role
  readonly parts: readonly Part[]
  /** This message as it was on the wire; absent for one that we made. */
  readonly wire?: Wire
  /** The format of `wire` in this message and its parts. */
  readonly format?: Format
}

export type Transcript = readonly Message[]

/**
 * Who runs a call: the client (`function`, `custom`), the provider itself, a person who approves; `other` is a client call of a kind that
 * we only relay.
 */
export type CallKind = "function" | "custom" | "provider" | "approval" | "other"

/** An image or file that is never decoded: only its type and size are known. */
export type Media = {
  readonly mediaType?: string
  readonly held: "inline" | "url" | "file"
  /** Length of the inline base64 text in characters. */
  readonly inlineLength?: number
  /** In pixels, if the wire states them. */
  readonly width?: number
  readonly height?: number
  /** Requested resolution, in the provider's word. */
  readonly detail?: string
}

/** A prompt-cache marker on a part or tool: everything up to here should be cached for this long. */
export type Breakpoint = "5m" | "1h"

/**
 * One piece of a message. `wire` is the provider's own block as it was on the wire, so that unknown fields are kept. `channel` is only set
 * if it differs from what the part's position implies.
 */
export type Part = { readonly wire?: Wire; readonly channel?: Channel; readonly breakpoint?: Breakpoint } & (
  | { readonly type: "text"; readonly text: string }
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | { readonly type: "image"; readonly media: Media }
  | { readonly type: "document"; readonly media: Media; readonly title?: string; readonly text?: string }
  /** Kept or dropped whole: a provider's compaction item, a reference to an item that it holds. */
  | { readonly type: "opaque"; readonly kind: string; readonly wire: Wire }
  /** A block type unknown to us. */
  | { readonly type: "unknown"; readonly wire: Wire }
)

export type ReasoningPart = {
  readonly type: "reasoning"
  readonly text: string
  /** Binds the text to what came before it; useless, and often refused, once that has changed. */
  readonly signature?: string
  /** True if some or all of it is encrypted: `text` is then incomplete. */
  readonly sealed?: boolean
}

export type ToolCallPart = {
  readonly type: "tool-call"
  readonly callId: CallId
  readonly tool: string
  readonly kind: CallKind
  /** Parsed if the wire has valid JSON, otherwise the text as it came. */
  readonly input: unknown
}

export type ToolResultPart = {
  readonly type: "tool-result"
  readonly callId: CallId
  readonly kind: CallKind
  /** The tool's name, if the wire repeats it or the result is ours; the call has it in any case. */
  readonly tool?: string
  readonly content: readonly Part[]
  readonly failed?: boolean
}

declare const brand: unique symbol
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Identifies a message in its transcript; stable while the history only grows. */
export type MessageId = Brand<string, "MessageId">
/** Connects a tool call to its result; the provider's own id if it gave one. */
export type CallId = Brand<string, "CallId">
/** A number of tokens as the model counts them. */
export type Tokens = Brand<number, "Tokens">
/** JSON text exactly as it was on the wire: number literals, key order and escapes included. */
export type Wire = Brand<string, "Wire">

export const messageId = (id: string): MessageId => id as MessageId
export const callId = (id: string): CallId => id as CallId
export const wireText = (json: string): Wire => json as Wire

/** The only way to make a `Tokens`, so that a length in characters cannot be mistaken for one. */
export function tokens(count: number): Tokens {
  if (!Number.isSafeInteger(count) || count < 0) assert(false, `not a token count: ${count}`)
  return count as Tokens
}

/** A tool as the request declares it. */
export type Tool = { readonly name: string; readonly wire: Wire; readonly breakpoint?: Breakpoint }

/** A range of a text: `text.slice(start, end)`. */
export type Span = { readonly start: number; readonly end: number }

/** Where the pieces are in the body, so that an unchanged one is copied instead of serialized. */
export type Layout = {
  /** The list of messages, brackets included, and each element of it. */
  readonly messages?: Span & { readonly elements: readonly Span[] }
  readonly system?: Span
  readonly tools?: Span
}

/** State that the provider holds for the client, so that this request does not contain the whole conversation. */
export type HeldState = {
  readonly type: "previous-response" | "thread" | "conversation" | "cached-content"
  readonly id?: string
}

/** A model call as it came in. `messages` correspond one to one to the elements of the wire's own list. */
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

/** The provider's token counts for one request. Input includes everything read, cached or not. */
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

/** A model's answer. One wire message, or on OpenAI Responses one message per output item. */
export type ModelResponse = {
  readonly format: Format
  readonly wire?: Wire
  readonly id?: string
  readonly model?: string
  readonly messages: readonly Message[]
  readonly stop: StopReason
  readonly usage?: Usage
}

/** Where a text came in. Its authority depends on the channel, never on what the text claims about itself. */
export type Channel = "operator" | "system" | "user" | "assistant" | "memory" | "document" | "tool"

/** A channel with a larger number may overrule one with a smaller number. No text in a request can be in channel `operator`. */
const trustOf: Readonly<Record<Channel, number>> = {
  operator: 5,
  system: 4,
  user: 3,
  assistant: 2,
  memory: 1,
  document: 1,
  tool: 0,
}

export const trust = (channel: Channel): number => trustOf[channel]

/** True if a text in this channel may be obeyed as an instruction. */
export const instructs = (channel: Channel): boolean => trustOf[channel] >= trustOf.user

/** Returns the text that a model reads in a part; empty for parts that are not text. */
export function textOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text
    case "tool-call":
      return typeof part.input === "string" ? part.input : (JSON.stringify(part.input) ?? "")
    case "tool-result":
      return part.content.map(textOf).join("\n")
    case "document":
      return part.text ?? ""
    case "image":
    case "opaque":
    case "unknown":
      return ""
  }
}

/** Returns the text of a message as a model reads it, one part per line. */
export const textOfMessage = ({ parts }: Pick<Message, "parts">): string => parts.map(textOf).join("\n")

/** Returns a part verbatim: its text, or the JSON that it came as. */
export const textOrWire = (part: Part): string => (part.type === "text" ? part.text : (part.wire ?? ""))

/** Returns the tool calls of a transcript, in order. */
export const callsIn = (messages: Transcript): readonly (Pick<Part, "wire"> & ToolCallPart)[] =>
  messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call"))
