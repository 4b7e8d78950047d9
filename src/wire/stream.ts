import { describe, HoldfastError, type Problem } from "../message/errors.ts"
import type { CallId, CallKind, Format, ModelResponse, StopReason, Usage, Wire } from "../message/message.ts"
import { present } from "../message/present.ts"
import { countIn, type Json, readJson, stringIn } from "./json.ts"
import type { SseEvent } from "./sse.ts"

/** The SSE event that a stream event was read from. One SSE event may yield several stream events. */
export type WireEvent = {
  readonly sse: SseEvent
  /** Its position in the stream, comments included: a gap tells the writer that an event was left out. */
  readonly place: number
  /** This stream event is number `piece` of the `pieces` that were read from it. */
  readonly piece: number
  readonly pieces: number
  /** Index into the SSE event's own list of tool calls or parts. */
  readonly slot?: number
  /** The stop reason in the SSE event. A `response-stop` with another reason overwrites it when written. */
  readonly stop?: StopReason
}

/** A part of the response begins. A part of kind `other` is relayed unread. */
export type PartStart = { readonly type: "part-start"; readonly index: number } & (
  | { readonly part: "text" | "reasoning" | "other" }
  | { readonly part: "tool-call"; readonly callId: CallId; readonly tool: string; readonly kind: CallKind }
)

export type ResponseStart = {
  readonly type: "response-start"
  readonly id?: string
  readonly model?: string
  /** Seconds since 1970; some formats require it in a response that we start ourselves. */
  readonly createdAt?: number
}

/**
 * A streamed response in terms that all formats share. Parts are numbered from zero in the order in which they begin.
 * - A part is complete at its `part-end`; do not act on a tool call without one.
 * - `response-stop` has the stop reason; usage may follow, and `response-end` closes the response with both.
 * - `other` is relayed unread; with an `index` it belongs to that part.
 */
type StreamStatement =
  | ResponseStart
  | PartStart
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly index: number; readonly text: string }
  | { readonly type: "signature-delta"; readonly index: number; readonly signature: string }
  /** A fragment of the tool input: JSON text, or free text for a custom tool. */
  | { readonly type: "input-delta"; readonly index: number; readonly text: string }
  | { readonly type: "part-end"; readonly index: number }
  /** Cumulative usage; the last one counts. */
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "response-stop"; readonly stop: StopReason }
  | { readonly type: "response-end"; readonly stop: StopReason; readonly usage?: Usage }
  | { readonly type: "error"; readonly problem: Problem }
  | { readonly type: "other"; readonly index?: number }

/**
 * An event of a streamed response. With `wire`, the original SSE event is written, with only numbers, ids and the stop reason changed;
 * to change anything else, leave `wire` out. A part is either all from upstream or all our own, and held events are released in their
 * original order.
 */
export type StreamEvent = StreamStatement & { readonly wire?: WireEvent }

/** The event without its SSE original, so that it is written from scratch or in another format. */
export function withoutWire(event: StreamEvent): StreamEvent {
  const { wire: _, ...said } = event
  return said
}

/** The part that an event belongs to, if any. All events of a part are held, dropped or released together. */
export const indexOf = (event: StreamEvent): number | undefined => ("index" in event ? event.index : undefined)

/** The unfinished part of the outgoing stream that an event belongs to, if any. */
export function writtenPart(state: EncodeState, event: StreamEvent): WrittenPart | undefined {
  const index = indexOf(event)
  return index === undefined ? undefined : state.open.get(index)
}

/** Returns the JSON that an event was read from; undefined for an event of our own. */
export const wireJson = (event: StreamEvent | undefined): Json | undefined =>
  event?.wire === undefined ? undefined : readJson(event.wire.sse.data, "response")

/** The type and message of an error: the upstream's as it came, or our own. */
export const errorNames = (problem: Problem, ours: string): { readonly type: string; readonly message: string } =>
  problem.code === "upstream-error"
    ? { type: problem.type, message: problem.message }
    : { type: ours, message: describe(problem).sentence }

/** True if an event becomes a chunk, in formats that stream chunks of one response. No chunk ends a part, and a response starts once. */
export function becomesChunk(state: EncodeState, event: StreamEvent): boolean {
  if (event.type === "part-end") return false
  if (event.type === "response-start") return event === state.start
  const index = indexOf(event)
  return index === undefined || state.open.has(index)
}

/** An unfinished part while a stream is read. */
type OpenPart = {
  readonly start: PartStart
  /** Whether any of its content has arrived. */
  readonly fed: boolean
  /** The tool input given in the opening event, by servers that do not stream it. */
  readonly input?: Wire
}

/** State of reading a stream, the same type for every format. */
export type DecodeState = {
  readonly format: Format
  /** Number of SSE events read. */
  readonly count: number
  /** Name of the last one, for the error message if the stream breaks off. */
  readonly after: string
  readonly started: boolean
  /** Number of parts begun, and how many of them are tool calls that the client runs. */
  readonly parts: number
  readonly calls: number
  /** Unfinished parts by the name that the format gives them. */
  readonly open: ReadonlyMap<string, OpenPart>
  readonly usage?: Usage
  /** The provider's usage object so far, for formats that send it in several events. */
  readonly usageWire?: Wire
  readonly stop?: StopReason
  /** The closing event or an error has arrived. */
  readonly closed: boolean
}

/** One statement of an SSE event, and the index in its list that it was read from. */
export type WireStatement = { readonly said: StreamStatement; readonly slot: number | undefined }

/** An unfinished part while a stream is written. */
export type WrittenPart = {
  readonly start: StreamEvent & PartStart
  /** Its number in the outgoing stream, and its number among the tool calls there. */
  readonly index: number
  readonly call: number
  /** Its content so far, kept only for parts that we write ourselves. */
  readonly text: string
  readonly input: string
  readonly signature?: string
}

/** State of writing a stream. */
export type EncodeState = {
  readonly format: Format
  /** Everything so far was relayed unchanged and complete. */
  readonly intact: boolean
  readonly count: number
  /** Stream events of one SSE event that wait for the others of it. */
  readonly held: readonly StreamEvent[]
  readonly start?: StreamEvent & ResponseStart
  readonly parts: number
  readonly calls: number
  /** Unfinished parts by their number in the incoming stream. */
  readonly open: ReadonlyMap<number, WrittenPart>
  /** Finished parts: the SSE event that ended each, or the finished JSON of a part of our own. */
  readonly ended: readonly (SseEvent | Wire)[]
  readonly usage?: Usage
  readonly stop?: StopReason
  /** The last SSE event with a sequence number that was relayed while `intact`. */
  readonly last?: SseEvent
  /** The next sequence number, once we have to assign them. */
  readonly sequence?: number
}

export type WrittenEvent = readonly [EncodeState, readonly SseEvent[]]

/** An SSE event that is written again: its JSON, and which of its stream events were kept. */
export type KeptEvent = {
  readonly sse: SseEvent
  readonly body: Json
  readonly first: StreamEvent
  readonly kept: readonly StreamEvent[]
}

/** A persistent list: appending copies nothing. */
export type LinkedList<Item> = { readonly item: Item; readonly before: LinkedList<Item> } | undefined

export function listOf<Item>(chain: LinkedList<Item>): readonly Item[] {
  const items: Item[] = []
  for (let link = chain; link !== undefined; link = link.before) items.push(link.item)
  return items.reverse()
}

/** A part with what a delta adds to it; the same part after any other event. */
export function withDelta<Part extends { readonly text: string; readonly input: string }>(
  part: Part,
  event: StreamEvent,
): Part {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
      return { ...part, text: part.text + event.text }
    case "input-delta":
      return { ...part, input: part.input + event.text }
    case "signature-delta":
      return { ...part, signature: event.signature }
    default:
      return part
  }
}

/** A part put together from its events. */
export type PartDraft = {
  readonly start: StreamEvent & PartStart
  readonly text: string
  readonly input: string
  readonly signature?: string
  /** Events of the part that no field above has. */
  readonly others: readonly StreamEvent[]
  readonly end?: StreamEvent
}

/** A whole stream put together, not yet in the shape of its format. */
export type CollectedStream = {
  readonly start?: StreamEvent & ResponseStart
  /** In the order in which they began, without unfinished tool calls. */
  readonly parts: readonly PartDraft[]
  readonly others: readonly StreamEvent[]
  readonly stop: StopReason
  readonly usage?: Usage
  readonly end?: StreamEvent
}

/** How one format streams. The file of every format has these functions. */
export type StreamCodec = {
  readonly format: Format
  /** Reads the JSON of an SSE event. Throws a Problem if it is malformed, which becomes an `error` event with the original in `wire`. */
  readonly read: (reading: EventReading, json: Json, name: string | undefined) => void
  /** Reads `[DONE]`, where the format has it. Some proxies end streams of every format with it: elsewhere it says nothing. */
  readonly readDone?: (reading: EventReading) => void
  /** What the end of the connection means, if no closing event came before it. */
  readonly readEnd: (state: DecodeState) => readonly StreamStatement[]
  /** Writes what is kept of one SSE event over its original text. The state already includes these events. */
  readonly rewrite: (state: EncodeState, relayed: KeptEvent) => WrittenEvent
  readonly write: (state: EncodeState, event: StreamEvent) => WrittenEvent
  /** Builds the response as a client would send it back in its next request. */
  readonly assemble: (collected: CollectedStream) => ModelResponse
  /** Whether a part of our own can be written in this format so that clients handle it correctly. */
  readonly canWrite: (start: PartStart) => boolean
  readonly isNumbered: (sse: SseEvent) => boolean
  /** Which `other` events `assemble` needs. */
  readonly collectsOthers: "none" | "of-parts" | "all"
}

/** A part as a format's reader opens it; `openPart` assigns its number. */
export type BegunPart =
  | { readonly part: "text" | "reasoning" | "other" }
  | Omit<Extract<PartStart, { readonly part: "tool-call" }>, "type" | "index">

const clientKinds: ReadonlySet<CallKind> = new Set(["function", "custom", "other", "approval"])

/** In most formats we can write only tool calls that the client runs: a provider's own calls come with the provider's results. */
export const isClientPart = (start: PartStart): boolean =>
  start.part === "tool-call" ? start.kind === "function" || start.kind === "custom" : start.part !== "other"

type ReadSoFar = { state: DecodeState; slot: number | undefined; said: WireStatement[] }

/** An SSE event while it is read: the state so far, what the event said so far, and the index in its list that is being read. */
export type EventReading = ReturnType<typeof startReading>

export function startReading(state: DecodeState) {
  const reading: ReadSoFar = { state, slot: undefined, said: [] }
  /** Notes what the SSE event says. */
  const say = (said: StreamStatement): void => void reading.said.push({ said, slot: reading.slot })
  return Object.assign(reading, { say, ...partsIn(reading, say), ...statementsIn(reading, say) })
}

const partsIn = (reading: ReadSoFar, say: (said: StreamStatement) => void) => {
  const invalid = (expected: string, found: string): HoldfastError =>
    new HoldfastError({ code: "stream-invalid", event: reading.state.after, expected, found })
  /** The open part of that name. Throws a Problem if there is none. */
  const part = (key: string): OpenPart => {
    const known = reading.state.open.get(key)
    if (known === undefined) throw invalid("a part that has begun", "one that has not")
    return known
  }
  return {
    invalid,
    part,
    /** Opens the part that the wire calls `key`. */
    open: (key: string, begun: BegunPart, input?: OpenPart["input"]): PartStart => {
      const { state } = reading
      if (state.open.has(key)) throw invalid("a part that has not begun", "one that has")
      const start: PartStart = { type: "part-start", index: state.parts, ...begun }
      const open = new Map(state.open).set(key, { start, fed: false, ...present({ input }) })
      const calls = state.calls + (begun.part === "tool-call" && clientKinds.has(begun.kind) ? 1 : 0)
      reading.state = { ...state, parts: state.parts + 1, calls, open }
      say(start)
      return start
    },
    close: (key: string): void => {
      const { index } = part(key).start
      const open = new Map(reading.state.open)
      open.delete(key)
      reading.state = { ...reading.state, open }
      say({ type: "part-end", index })
    },
    /** Records that content has arrived, so that the input of the opening event is not used instead. */
    feed: (key: string, input?: OpenPart["input"]): void => {
      const known = part(key)
      if (known.fed && input === undefined) return
      const open = new Map(reading.state.open).set(key, { ...known, fed: true, ...present({ input }) })
      reading.state = { ...reading.state, open }
    },
  }
}

const statementsIn = (reading: ReadSoFar, say: (said: StreamStatement) => void) => ({
  /** More of a text or of reasoning. */
  text: (part: "text" | "reasoning", index: number, text: string): void =>
    say({ type: part === "text" ? "text-delta" : "reasoning-delta", index, text }),
  start: (
    names: { [Name in "id" | "model"]: string | undefined } & { readonly createdAt?: number | undefined },
  ): void => {
    reading.state = { ...reading.state, started: true }
    say({ type: "response-start", ...present(names) })
  },
  stop: (stop: StopReason): void => {
    reading.state = { ...reading.state, stop }
    say({ type: "response-stop", stop })
  },
  usage: (usage: Usage | undefined): void => {
    if (usage === undefined) return
    reading.state = { ...reading.state, usage }
    say({ type: "usage", usage })
  },
  /** The response is complete. */
  end: (): void => {
    say(endOf(reading.state))
    reading.state = { ...reading.state, closed: true }
  },
  /** An error object of any provider, which ends the stream. */
  error: (error: Json | undefined): void => {
    const type = stringIn(error, "type") ?? stringIn(error, "code") ?? stringIn(error, "status") ?? "error"
    const message = stringIn(error, "message") ?? (typeof error?.value === "string" ? error.value : "no message")
    const status = present({ status: countIn(error, "code") })
    say({ type: "error", problem: { code: "upstream-error", type, message, ...status } })
    reading.state = { ...reading.state, closed: true }
  },
})

export function endOf({ stop, usage }: DecodeState): StreamStatement {
  return { type: "response-end", stop: stop ?? "other", ...present({ usage }) }
}
