import type { Format, StopReason } from "../../src/message/message.ts"
import type { Json } from "./json.ts"
import type { ScriptedUsage } from "./script.ts"

/** One piece of the answer, in order; each wire formats it in its own way. */
export type Piece =
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "block"; readonly block: object }
  | { readonly type: "call"; readonly tool: string; readonly input: unknown }

/** What a request asks for, as far as the server needs it. */
export type ParsedRequest = {
  readonly kind: "generate" | "count"
  readonly model: string
  /** How the answer is sent: one body, server-sent events, or (Gemini without `alt=sse`) a JSON array in parts. */
  readonly framing: "whole" | "sse" | "array"
  readonly rounds: number
}

/** An answer ready to be formatted. */
export type Reply = {
  readonly index: number
  readonly asked: ParsedRequest
  readonly body: Json
  readonly pieces: readonly Piece[]
  readonly stop: StopReason
  readonly usage: ScriptedUsage
}

/** A server-sent event before encoding. `holds` says what kind of content it has, for faults aimed at it. */
export type WireEvent = { readonly name?: string; readonly data: string; readonly holds?: "arguments" | "text" }

export type FailureKind =
  | { readonly type: "rate-limited"; readonly retryAfterSeconds: number }
  | { readonly type: "server-error" }
  | { readonly type: "overloaded" }
  | { readonly type: "context-length"; readonly tokens: number; readonly limit: number }

/** An error answer in the provider's form. */
export type Failure = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A provider's API: what it accepts, how it answers, how it fails. */
export type Wire = {
  readonly format: Format
  /** `undefined` if it is not a path of this wire. */
  readonly ask: (url: URL, body: Json) => ParsedRequest | { readonly refused: Failure } | undefined
  readonly count: (inputTokens: number) => unknown
  readonly whole: (reply: Reply) => unknown
  /** Spaces of indentation in a whole answer's JSON, as the provider sends it. */
  readonly indent?: number
  readonly events: (reply: Reply) => readonly WireEvent[]
  readonly lineEnd: "\n" | "\r\n"
  readonly headers: (index: number) => Readonly<Record<string, string>>
  readonly fail: (kind: FailureKind, index: number) => Failure
  /** Returns the error events after `sent` events of the stream. */
  readonly failInStream: (kind: FailureKind, reply: Reply, sent: number) => readonly WireEvent[]
  /** Returns what is wrong with the history, in the provider's words; only called by a strict server. */
  readonly objection: (body: Json, model: string) => string | undefined
  /** Returns a 400 with this message. */
  readonly refuse: (message: string, index: number) => Failure
  /** Called once the answer is decided, on wires that store state for the client. */
  readonly remember?: (reply: Reply) => void
}

/** Number of code points in a streamed piece of text; small, so that every text comes in several. */
const deltaLength = 7

/** Splits a text for streaming, never inside a code point. */
export function deltas(text: string): readonly string[] {
  const points = Array.from(text)
  return Array.from({ length: Math.ceil(points.length / deltaLength) }, (_, n) =>
    points.slice(n * deltaLength, (n + 1) * deltaLength).join(""),
  )
}
