import type { Format, StopReason } from "../../src/message/message.ts"
import type { Json } from "./json.ts"

/** A tool call that the scripted model makes; `input` may hold `numberLiteral`s. */
export type Call = { readonly tool: string; readonly input: unknown }

/** Token counts that the script wants reported; they measure nothing. */
export type ScriptedUsage = {
  /** All input, cached or not. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** A fault. In an answer that is not streamed, `in-stream-error` is a 500, and `ping` and `comment` do nothing. */
export type Fault =
  | { readonly type: "http-429"; readonly retryAfterSeconds?: number }
  | { readonly type: "http-500" }
  | { readonly type: "http-529" }
  | { readonly type: "context-length"; readonly tokens?: number; readonly limit?: number }
  /** Sends nothing for this time, not even the headers. */
  | { readonly type: "delay"; readonly ms: number }
  /** The connection is cut after the headers and, in a stream, the opening event. */
  | { readonly type: "cut-early" }
  /** The connection is cut inside an event: one of tool arguments if there are any. */
  | { readonly type: "cut-mid" }
  /** An error event in the middle of the stream, or before the model's output; then the stream ends. */
  | { readonly type: "in-stream-error"; readonly kind?: "overloaded" | "context-length"; readonly early?: true }
  /** Silence in the middle of the stream. */
  | { readonly type: "stall"; readonly ms: number }
  /** Named `ping` events before the first and in the middle. */
  | { readonly type: "ping" }
  /** Server-sent-event comments before the first event and in the middle. */
  | { readonly type: "comment" }

/** One part of an answer, in this order: reasoning, text, blocks, calls. */
export type Output = {
  readonly reasoning?: string
  readonly text?: string
  /**
   * Blocks that only one wire has, passed through unchanged: a content block, an output item, a part. On the chat wire, fields of the
   * message.
   */
  readonly blocks?: readonly object[]
  readonly calls?: readonly Call[]
  /** By default `tool-calls` or `end`, as the answer requires. */
  readonly stop?: StopReason
  readonly usage?: Partial<ScriptedUsage>
  readonly fault?: Fault
}

/** What a script may depend on. */
export type Turn = {
  /** Number of model calls answered before by this server, refused ones included. */
  readonly index: number
  /** Number of tool rounds in the conversation so far. */
  readonly rounds: number
  readonly format: Format
  readonly model: string
  readonly stream: boolean
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** Returns the answer; several outputs form one answer that thinks, speaks and calls more than once. */
export type Script = (turn: Turn) => Output | readonly Output[]

/** Returns the answers in the order of the tool rounds; the last one is used for all later rounds. */
export function byRound(outputs: readonly Output[]): Script {
  return ({ rounds }) => outputs[Math.min(rounds, outputs.length - 1)] ?? {}
}

/** Applies the faults first, one per request, then the script. */
export function faultsFirst(faults: readonly Fault[], script: Script): Script {
  return (turn) => {
    const answer = script(turn)
    const fault = faults[turn.index]
    return fault === undefined ? answer : [...(Array.isArray(answer) ? answer : [answer]), { fault }]
  }
}
