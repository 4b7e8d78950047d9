import type { Problem } from "../message/errors.ts"
import type { CallId } from "../message/ids.ts"
import type { CallKind } from "../message/part.ts"
import type { StopReason, Usage } from "../message/request.ts"
import type { SseEvent } from "./sse.ts"

/** The event of the wire that an event was read from; several may come from one. */
export type WireEvent = {
  readonly sse: SseEvent
  /** Which event of its stream it was, comments counted: how a writer knows that none is missing before it. */
  readonly place: number
  /** This is piece number `piece` of the `pieces` that were read from it. */
  readonly piece: number
  readonly pieces: number
  /** Which element of the wire event's own list (tool calls, parts) it speaks of. */
  readonly slot?: number
  /** The stop that it names: a `response-stop` that says another is laid over it. */
  readonly stop?: StopReason
}

/** A part of the answer begins. `other` is one that we relay and do not read. */
export type PartStart = { readonly type: "part-start"; readonly index: number } & (
  | { readonly part: "text" | "reasoning" | "other" }
  | { readonly part: "tool-call"; readonly callId: CallId; readonly tool: string; readonly kind: CallKind }
)

export type ResponseStart = {
  readonly type: "response-start"
  readonly id?: string
  readonly model?: string
  /** In seconds, for a wire that wants to know and an answer that we begin. */
  readonly createdAt?: number
}

/**
 * What a streamed answer says, in any format. Parts are numbered from zero in the order in which they begin.
 * - Nothing is complete before its `part-end`; a tool call without one must not be acted on.
 * - `response-stop` says why the model stopped; usage may follow, and `response-end` closes the answer with both.
 * - `other` is relayed and otherwise left alone; with an `index` it belongs to that part.
 */
export type Said =
  | ResponseStart
  | PartStart
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly index: number; readonly text: string }
  | { readonly type: "signature-delta"; readonly index: number; readonly signature: string }
  /** A piece of the input's text: JSON, or for a custom tool whatever it takes. */
  | { readonly type: "input-delta"; readonly index: number; readonly text: string }
  | { readonly type: "part-end"; readonly index: number }
  /** All of the usage so far; the last one counts. */
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "response-stop"; readonly stop: StopReason }
  | { readonly type: "response-end"; readonly stop: StopReason; readonly usage?: Usage }
  | { readonly type: "error"; readonly problem: Problem }
  | { readonly type: "other"; readonly index?: number }

/**
 * An event of a streamed answer. With `wire` it is written as what it was read from, and only numbers, ids and the stop are laid
 * over that; to say something else, leave `wire` out. A part is wholly the upstream's or wholly ours, and events that were held
 * go on in the order in which they came.
 */
export type StreamEvent = Said & { readonly wire?: WireEvent }

/** The event without its wire: for another format, or to be written anew. */
export function withoutWire(event: StreamEvent): StreamEvent {
  const { wire: _, ...said } = event
  return said
}

/** The part that an event speaks of, if it speaks of one: all that share it are held, dropped or let go together. */
export const indexOf = (event: StreamEvent): number | undefined => ("index" in event ? event.index : undefined)
