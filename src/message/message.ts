import { assert } from "./assert.ts"

/** Who speaks. Tool results come from the user's side of the line; what they may do is a question of channel, not of role. */
export type Role = "system" | "user" | "assistant"

/** The wire formats that we speak. */
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
  /** This message as it stood on the wire; absent under one that we made. */
  readonly wire?: Wire
  /** Whose wire: the `wire` of this message and its parts means something in this format only. */
  readonly format?: Format
}

export type Transcript = readonly Message[]

/** Who runs a call: the client (`function`, `custom`), the provider itself, a person who approves; `other` is a client call of a shape we only relay. */
export type CallKind = "function" | "custom" | "provider" | "approval" | "other"

/** Bytes that stay where they are: we know what they are and how large, and never look inside. */
export type Media = {
  readonly mediaType?: string
  readonly held: "inline" | "url" | "file"
  /** Length of the inline base64 text in characters. */
  readonly inlineLength?: number
  /** Pixels, where the wire says so. */
  readonly width?: number
  readonly height?: number
  /** Asked-for resolution, in the provider's word. */
  readonly detail?: string
}

/** A prompt-cache marker on a part or tool: everything up to here is worth keeping, for this long. */
export type Breakpoint = "5m" | "1h"

/**
 * One piece of a message. `wire` is the provider's own block as it stood on the wire: what we do not know, we do not lose.
 * `channel` is noted only where it differs from what the part's place says.
 */
export type Part = { readonly wire?: Wire; readonly channel?: Channel; readonly breakpoint?: Breakpoint } & (
  | { readonly type: "text"; readonly text: string }
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | { readonly type: "image"; readonly media: Media }
  | { readonly type: "document"; readonly media: Media; readonly title?: string; readonly text?: string }
  /** Stands or falls whole: a provider's compaction item, a reference to an item it holds. */
  | { readonly type: "opaque"; readonly kind: string; readonly wire: Wire }
  /** A block type that we never heard of. */
  | { readonly type: "unknown"; readonly wire: Wire }
)

export type ReasoningPart = {
  readonly type: "reasoning"
  readonly text: string
  /** Binds the text to what came before it; useless, and often refused, once that changed. */
  readonly signature?: string
  /** Some or all of it is encrypted: `text` is not the whole. */
  readonly sealed?: boolean
}

export type ToolCallPart = {
  readonly type: "tool-call"
  readonly callId: CallId
  readonly tool: string
  readonly kind: CallKind
  /** Parsed where the wire carries JSON that parses, otherwise the text as it came. */
  readonly input: unknown
}

export type ToolResultPart = {
  readonly type: "tool-result"
  readonly callId: CallId
  readonly kind: CallKind
  /** The tool's name, where the wire repeats it or the result is ours; the call says it in any case. */
  readonly tool?: string
  readonly content: readonly Part[]
  readonly failed?: boolean
}

declare const brand: unique symbol
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** A message's place in its transcript; unique there, and stable while the history only grows. */
export type MessageId = Brand<string, "MessageId">
/** What ties a tool call to its result; the provider's own id wherever it gave one. */
export type CallId = Brand<string, "CallId">
/** A count of tokens as the model would count them. */
export type Tokens = Brand<number, "Tokens">
/** JSON text exactly as it stood on the wire: number literals, key order and escapes included. */
export type Wire = Brand<string, "Wire">

export const messageId = (id: string): MessageId => id as MessageId
export const callId = (id: string): CallId => id as CallId
export const wireText = (json: string): Wire => json as Wire

/** The only way to make a `Tokens`: a length in characters can never pass for one. */
export function tokens(count: number): Tokens {
  if (!Number.isSafeInteger(count) || count < 0) assert(false, `not a token count: ${count}`)
  return count as Tokens
}

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

/** Where a text came in. Authority is the channel's, never what the text claims of itself. */
export type Channel = "operator" | "system" | "user" | "assistant" | "memory" | "document" | "tool"

/** Who may overrule whom: a larger number does. Nothing in the token stream reaches `operator`. */
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

/** May a text of this channel be obeyed as an instruction at all? */
export const instructs = (channel: Channel): boolean => trustOf[channel] >= trustOf.user

/** The text that a model reads in a part; nothing for what is not text. */
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

/** The text of a message as a model reads it, its parts on lines of their own. */
export const textOfMessage = ({ parts }: Pick<Message, "parts">): string => parts.map(textOf).join("\n")

/** What a part says verbatim: its text, or the JSON it came as. */
export const textOrWire = (part: Part): string => (part.type === "text" ? part.text : (part.wire ?? ""))

/** The tool calls of a transcript, in order. */
export const callsIn = (messages: Transcript): readonly (Pick<Part, "wire"> & ToolCallPart)[] =>
  messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call"))
