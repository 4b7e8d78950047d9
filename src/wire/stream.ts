import { HoldfastError, type Problem } from "../message/errors.ts"
import type { CallId, CallKind, Format, ModelResponse, StopReason, Usage, Wire } from "../message/message.ts"
import { present } from "../message/present.ts"
import { countIn, type Json, stringIn } from "./json.ts"
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
export type StreamStatement =
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
export type StreamEvent = StreamStatement & { readonly wire?: WireEvent }

/** The event without its wire: for another format, or to be written anew. */
export function withoutWire(event: StreamEvent): StreamEvent {
  const { wire: _, ...said } = event
  return said
}

/** The part that an event speaks of, if it speaks of one: all that share it are held, dropped or let go together. */
export const indexOf = (event: StreamEvent): number | undefined => ("index" in event ? event.index : undefined)

/** A part that has begun and not ended, as the reader sees it. */
export type OpenPart = {
  readonly start: PartStart
  /** Have pieces of its content come? */
  readonly fed: boolean
  /** The input that stood in its beginning, for a server that streams none. */
  readonly input?: Wire
}

/** Where the reading of a stream stands. One shape for every format; each uses what it needs. */
export type DecodeState = {
  readonly format: Format
  /** How many events of the wire were read. */
  readonly count: number
  /** The last of them, by name: where a cut happened. */
  readonly after: string
  readonly started: boolean
  /** How many parts have begun, and how many of them were calls that the client runs. */
  readonly parts: number
  readonly calls: number
  /** The parts that are open, by the wire's own name for them. */
  readonly open: ReadonlyMap<string, OpenPart>
  readonly usage?: Usage
  /** The wire's own usage so far, where later events complete it. */
  readonly usageWire?: Wire
  readonly stop?: StopReason
  /** Nothing more is due: the closing event came, or an error took its place. */
  readonly closed: boolean
}

/** Something that an event of the wire says, and which element of its list says it. */
export type WireStatement = { readonly said: StreamStatement; readonly slot?: number }
export type Read = readonly [DecodeState, readonly WireStatement[]]

/** A part that has begun and not ended, as the writer sees it. */
export type WrittenPart = {
  readonly start: StreamEvent & PartStart
  /** Its number, and among calls its number, in the stream that goes out. */
  readonly index: number
  readonly call: number
  /** What it said so far, kept only for a part of our own. */
  readonly text: string
  readonly input: string
  readonly signature?: string
}

/** Where the writing of a stream stands. */
export type EncodeState = {
  readonly format: Format
  /** Everything so far was relayed as it came, and none of it left out. */
  readonly intact: boolean
  readonly count: number
  /** Pieces of one wire event that wait for the rest of it. */
  readonly held: readonly StreamEvent[]
  readonly start?: StreamEvent & ResponseStart
  readonly parts: number
  readonly calls: number
  /** By the number that each part came with. */
  readonly open: ReadonlyMap<number, WrittenPart>
  /** The parts that have ended: the event that ended each, or what it came to if it is ours. */
  readonly ended: readonly (SseEvent | Wire)[]
  readonly usage?: Usage
  readonly stop?: StopReason
  /** The last numbered event of the wire that was relayed while everything was intact. */
  readonly last?: SseEvent
  /** The next sequence number, once they are ours to give. */
  readonly sequence?: number
}

export type WrittenEvent = readonly [EncodeState, readonly SseEvent[]]

/** A list that grows at its end without a copy. */
export type LinkedList<Item> = { readonly item: Item; readonly before: LinkedList<Item> } | undefined

export function listOf<Item>(chain: LinkedList<Item>): readonly Item[] {
  const items: Item[] = []
  for (let link = chain; link !== undefined; link = link.before) items.push(link.item)
  return items.reverse()
}

/** A part that was collected. */
export type PartDraft = {
  readonly start: StreamEvent & PartStart
  readonly text: string
  readonly input: string
  readonly signature?: string
  /** What came for it that has no field of its own. */
  readonly others: readonly StreamEvent[]
  readonly end?: StreamEvent
}

/** All that a stream said, put together but not yet in the format's own shape. */
export type Collected = {
  readonly start?: StreamEvent & ResponseStart
  /** In the order in which they began; a call that did not end is not among them. */
  readonly parts: readonly PartDraft[]
  readonly others: readonly StreamEvent[]
  readonly stop: StopReason
  readonly usage?: Usage
  readonly end?: StreamEvent
}

/** One wire format's way to stream. The files of every format have the same functions. */
export type StreamCodec = {
  readonly format: Format
  /** What an event says; what cannot be read is thrown as a Problem, and becomes an `error` event that keeps its wire. */
  readonly read: (state: DecodeState, sse: SseEvent) => Read
  /** What a stream that stops here has said by that; only asked when nothing closed it. */
  readonly readEnd: (state: DecodeState) => readonly StreamStatement[]
  /** Write those pieces of one wire event that are left, laid over it. The state has counted them already. */
  readonly rewrite: (state: EncodeState, kept: readonly StreamEvent[]) => WrittenEvent
  /** Write an event of our own. The state has counted it already. */
  readonly write: (state: EncodeState, event: StreamEvent) => WrittenEvent
  /** Put together what a client would send back in its next request. */
  readonly assemble: (collected: Collected) => ModelResponse
  /** Can a part of our own be said on this wire so that the client does with it what it should? */
  readonly canWrite: (start: PartStart) => boolean
  /** Does the event carry a number of its place in the stream? */
  readonly isNumbered: (sse: SseEvent) => boolean
  /** Which `other` events are needed to put the answer together. */
  readonly collectsOthers: "none" | "of-parts" | "all"
}

/** A part as a format's reader announces it: its number is given here. */
export type Begun =
  | { readonly part: "text" | "reasoning" | "other" }
  | Omit<Extract<PartStart, { readonly part: "tool-call" }>, "type" | "index">

const clientKinds: ReadonlySet<CallKind> = new Set(["function", "custom", "other", "approval"])

/** Open the part that the wire calls `key`. */
export function openPart(
  state: DecodeState,
  key: string,
  begun: Begun,
  input?: OpenPart["input"],
): readonly [DecodeState, PartStart] {
  if (state.open.has(key)) throw invalid(state, "a part that has not begun", "one that has")
  const start: PartStart = { type: "part-start", index: state.parts, ...begun }
  const open = new Map(state.open).set(key, { start, fed: false, ...present({ input }) })
  const calls = state.calls + (begun.part === "tool-call" && clientKinds.has(begun.kind) ? 1 : 0)
  return [{ ...state, parts: state.parts + 1, calls, open }, start]
}

export function closePart(state: DecodeState, key: string): DecodeState {
  const open = new Map(state.open)
  open.delete(key)
  return { ...state, open }
}

/** Note that content has come, so that what stood in the part's beginning is not taken for it. */
export function feedPart(state: DecodeState, key: string, part: OpenPart): DecodeState {
  return part.fed ? state : { ...state, open: new Map(state.open).set(key, { ...part, fed: true }) }
}

/** The open part of that name; a delta for any other is a Problem. */
export function requirePart(state: DecodeState, key: string): OpenPart {
  const part = state.open.get(key)
  if (part === undefined) throw invalid(state, "a part that has begun", "one that has not")
  return part
}

/** On most wires only calls that the client runs can be told as ours: those of a provider come with the provider's own results. */
export const isClientPart = (start: PartStart): boolean =>
  start.part === "tool-call" ? start.kind === "function" || start.kind === "custom" : start.part !== "other"

export const invalid = ({ after }: DecodeState, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "stream-invalid", event: after, expected, found })

export const pieces = (...said: readonly StreamStatement[]): readonly WireStatement[] =>
  said.map((one) => ({ said: one }))

export function stopPiece(state: DecodeState, stop: StopReason): readonly [DecodeState, StreamStatement] {
  return [
    { ...state, stop },
    { type: "response-stop", stop },
  ]
}

export function usagePieces(
  state: DecodeState,
  usage: Usage | undefined,
): readonly [DecodeState, readonly StreamStatement[]] {
  return usage === undefined ? [state, []] : [{ ...state, usage }, [{ type: "usage", usage }]]
}

export function endOf({ stop, usage }: DecodeState): StreamStatement {
  return { type: "response-end", stop: stop ?? "other", ...present({ usage }) }
}

/** An error object of any provider. */
export function errorOf(error: Json | undefined): StreamStatement {
  const type = stringIn(error, "type") ?? stringIn(error, "code") ?? stringIn(error, "status") ?? "error"
  const message = stringIn(error, "message") ?? (typeof error?.value === "string" ? error.value : "no message")
  return {
    type: "error",
    problem: { code: "upstream-error", type, message, ...present({ status: countIn(error, "code") }) },
  }
}
