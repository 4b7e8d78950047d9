import type { Format, StopReason } from "../../src/message/message.ts"
import type { Json } from "./json.ts"

/** A tool call that the scripted model makes; `input` may hold `numberLiteral`s. */
export type Call = { readonly tool: string; readonly input: unknown }

/** Token counts as the script wants them reported; they measure nothing. */
export type ScriptedUsage = {
  /** Everything read, cached or not. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
}

/** What goes wrong. In an answer that is not streamed `in-stream-error` is a 500, and `ping` and `comment` do nothing. */
export type Fault =
  | { readonly type: "http-429"; readonly retryAfterSeconds?: number }
  | { readonly type: "http-500" }
  | { readonly type: "http-529" }
  | { readonly type: "context-length"; readonly tokens?: number; readonly limit?: number }
  /** Nothing for this long, not even the headers. */
  | { readonly type: "delay"; readonly ms: number }
  /** The connection dies after the headers and, in a stream, the opening event. */
  | { readonly type: "cut-early" }
  /** The connection dies inside an event: one of tool arguments if there are any. */
  | { readonly type: "cut-mid" }
  /** An error event in the middle of the stream, or before the model says anything; then it ends. */
  | { readonly type: "in-stream-error"; readonly kind?: "overloaded" | "context-length"; readonly early?: true }
  /** Silence in the middle of the stream. */
  | { readonly type: "stall"; readonly ms: number }
  /** Named `ping` events before the first and in the middle. */
  | { readonly type: "ping" }
  /** Server-sent-event comments before the first event and in the middle. */
  | { readonly type: "comment" }

/** One step of an answer, in this order: reasoning, text, blocks, calls. */
export type Output = {
  readonly reasoning?: string
  readonly text?: string
  /**
   * What only one wire knows, in its own words and as it is: a content block, an output item, a part. On the chat wire,
   * fields of the message.
   */
  readonly blocks?: readonly object[]
  readonly calls?: readonly Call[]
  /** Otherwise `tool-calls` or `end`, as the answer has it. */
  readonly stop?: StopReason
  readonly usage?: Partial<ScriptedUsage>
  readonly fault?: Fault
}

/** What a script may decide by. */
export type Turn = {
  /** How many model calls this server answered before, refused ones included. */
  readonly index: number
  /** How many rounds of tool calls the conversation already holds. */
  readonly rounds: number
  readonly format: Format
  readonly model: string
  readonly stream: boolean
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
}

/** Several outputs are one answer that thinks, speaks and calls more than once. */
export type Script = (turn: Turn) => Output | readonly Output[]

/** The answers in the order of the tool rounds; the last one stands for all later rounds. */
export function byRound(outputs: readonly Output[]): Script {
  return ({ rounds }) => outputs[Math.min(rounds, outputs.length - 1)] ?? {}
}

/** The faults first, one for each request in turn, then the script. */
export function faultsFirst(faults: readonly Fault[], script: Script): Script {
  return (turn) => {
    const answer = script(turn)
    const fault = faults[turn.index]
    return fault === undefined ? answer : [...(Array.isArray(answer) ? answer : [answer]), { fault }]
  }
}
