import type { Format, StopReason } from "../../src/message/message.ts"
import type { Json } from "./json.ts"
import type { ScriptedUsage } from "./script.ts"

/** One thing that the answer says, in order; the wires lay it out each in its own way. */
export type Piece =
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "block"; readonly block: object }
  | { readonly type: "call"; readonly tool: string; readonly input: unknown }

/** What a request wants, as far as the server must know. */
export type Asked = {
  readonly kind: "generate" | "count"
  readonly model: string
  /** How the answer travels: one body, server-sent events, or (Gemini without `alt=sse`) a JSON array in parts. */
  readonly framing: "whole" | "sse" | "array"
  readonly rounds: number
}

/** An answer ready to be laid out. */
export type Reply = {
  readonly index: number
  readonly asked: Asked
  readonly body: Json
  readonly pieces: readonly Piece[]
  readonly stop: StopReason
  readonly usage: ScriptedUsage
}

/** A server-sent event before it is bytes. `holds` says what kind of content it carries, for faults that aim. */
export type WireEvent = { readonly name?: string; readonly data: string; readonly holds?: "arguments" | "text" }

export type FailureKind =
  | { readonly type: "rate-limited"; readonly retryAfterSeconds: number }
  | { readonly type: "server-error" }
  | { readonly type: "overloaded" }
  | { readonly type: "context-length"; readonly tokens: number; readonly limit: number }

/** An error answer in the wire's own shape. */
export type Failure = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A provider's API: what it accepts, how it answers, how it fails. */
export type Wire = {
  readonly format: Format
  /** `undefined`: not a path of this wire. */
  readonly ask: (url: URL, body: Json) => Asked | { readonly refused: Failure } | undefined
  readonly count: (inputTokens: number) => unknown
  readonly whole: (reply: Reply) => unknown
  /** Spaces of indentation in a whole answer's JSON, as the provider sends it. */
  readonly indent?: number
  readonly events: (reply: Reply) => readonly WireEvent[]
  readonly lineEnd: "\n" | "\r\n"
  readonly headers: (index: number) => Readonly<Record<string, string>>
  readonly fail: (kind: FailureKind, index: number) => Failure
  /** The error events after `sent` events of the stream. */
  readonly failInStream: (kind: FailureKind, reply: Reply, sent: number) => readonly WireEvent[]
  /** What is wrong with the history, in the provider's words; asked only of a strict server. */
  readonly objection: (body: Json, model: string) => string | undefined
  /** A 400 with these words. */
  readonly refuse: (message: string, index: number) => Failure
  /** Called once the answer is decided, on wires that hold state for the client. */
  readonly remember?: (reply: Reply) => void
}

/** How many code points a streamed piece of text has; small, so that every text comes in several. */
const deltaLength = 7

/** Cut a text for streaming; never inside a code point. */
export function deltas(text: string): readonly string[] {
  const points = Array.from(text)
  return Array.from({ length: Math.ceil(points.length / deltaLength) }, (_, n) =>
    points.slice(n * deltaLength, (n + 1) * deltaLength).join(""),
  )
}
