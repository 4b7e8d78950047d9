import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format, ModelResponse, StopReason, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { markAsRead } from "./codec.ts"
import { codecOf, streamCodecs } from "./codecs.ts"
import { readJson, requireObject } from "./json.ts"
import type { SseEvent } from "./sse.ts"
import {
  type DecodeState,
  type EncodeState,
  type EventReading,
  indexOf,
  type LinkedList,
  listOf,
  type PartDraft,
  type ResponseStart,
  type StreamEvent,
  startReading,
  type WireStatement,
  type WrittenEvent,
  type WrittenPart,
  withDelta,
  writtenPart,
} from "./stream.ts"

export function startDecode(format: Format): DecodeState {
  codecOf(format) // throws for an unknown format name
  return { format, count: 0, after: "nothing", started: false, parts: 0, calls: 0, open: new Map(), closed: false }
}

/**
 * Reads one SSE event. Never throws for what an upstream sends: an unreadable event becomes an `error` event, and every event, readable or
 * not, keeps the original in `wire`.
 */
export function decodeStep(state: DecodeState, sse: SseEvent): readonly [DecodeState, readonly StreamEvent[]] {
  const place = state.count
  const [next, read] = readOrRefuse({ ...state, count: place + 1 }, sse)
  const list: readonly WireStatement[] = read.length === 0 ? [{ said: { type: "other" }, slot: undefined }] : read
  const events = list.map(({ said, slot }, piece): StreamEvent => {
    const stop = said.type === "response-stop" ? said.stop : undefined
    return { ...said, wire: { sse, place, piece, pieces: list.length, ...present({ slot, stop }) } }
  })
  return [next, events]
}

/** Reads the end of the stream: nothing after a closing event, otherwise usually a `stream-cut` error. */
export function decodeEnd(state: DecodeState): readonly StreamEvent[] {
  if (state.closed) return []
  const said = streamCodecs[state.format].readEnd(state)
  return said.length > 0 ? said : [{ type: "error", problem: { code: "stream-cut", after: state.after } }]
}

/** Reads a complete stream. */
export function decodeStream(format: Format, wire: Iterable<SseEvent>): readonly StreamEvent[] {
  let state = startDecode(format)
  const all: StreamEvent[] = []
  for (const sse of wire) {
    const [next, events] = decodeStep(state, sse)
    state = next
    all.push(...events)
  }
  return [...all, ...decodeEnd(state)]
}

/** Reused for every event: only one is read at a time, synchronously. */
let reused: EventReading | undefined

function readingOf(state: DecodeState): EventReading {
  reused ??= startReading(state)
  return Object.assign(reused, { state, said: [], slot: undefined })
}

function readOrRefuse(state: DecodeState, sse: SseEvent): readonly [DecodeState, readonly WireStatement[]] {
  const { read, readDone } = streamCodecs[state.format]
  const isDone = sse.data.trim() === "[DONE]"
  if (sse.type !== "event" || sse.data === "" || (isDone && readDone === undefined)) return [state, []]
  const named = { ...state, after: sse.name ?? (sse.data === "[DONE]" ? "[DONE]" : "data") }
  const reading = readingOf(named)
  try {
    if (isDone) readDone?.(reading)
    else read(reading, requireObject(readJson(sse.data, "response")), sse.name)
    return [reading.state, reading.said]
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const problem = inStream(error.problem, named.after)
    return [named, [{ said: { type: "error", problem }, slot: undefined }]]
  }
}

/** An invalid value is reported with the event it was in, because the response as a whole has no path. */
function inStream(problem: Problem, after: string): Problem {
  if (problem.code !== "response-invalid") return problem
  const { path, expected, found } = problem
  return { code: "stream-invalid", event: `${after} (${path})`, expected, found }
}

export function startEncode(format: Format): EncodeState {
  codecOf(format) // throws for an unknown format name
  return { format, intact: true, count: 0, held: [], parts: 0, calls: 0, open: new Map(), ended: [] }
}

/**
 * Writes one event. As long as all events that were read come back in order and with their stop reason, the original bytes are written.
 * From the first that is omitted, added or moved, the following ones are renumbered. Omitting a `part-start` omits the part; a second
 * `response-start` is not written, so that a further stream can be appended.
 */
export function encodeStep(state: EncodeState, event: StreamEvent): WrittenEvent {
  const { wire } = event
  const continues = wire !== undefined && state.held[0]?.wire?.sse === wire.sse
  const [ready, flushed] = continues ? [state, []] : flush(state)
  if (wire === undefined) return after(flushed, writeOwn(ready, event))
  const group = [...ready.held, event]
  if (wire.piece < wire.pieces - 1) return [{ ...ready, held: group }, flushed]
  return after(flushed, relay({ ...ready, held: [] }, group))
}

/** Writes what still waits for the rest of its SSE event, if the caller kept only some stream events of the last one. */
export const encodeEnd = (state: EncodeState): WrittenEvent => flush(state)

/** Writes a list of events. */
export function encodeStream(format: Format, events: Iterable<StreamEvent>): readonly SseEvent[] {
  let state = startEncode(format)
  const all: SseEvent[] = []
  for (const event of events) {
    const [next, written] = encodeStep(state, event)
    state = next
    all.push(...written)
  }
  return [...all, ...encodeEnd(state)[1]]
}

const after = (before: WrittenEvent[1], [state, events]: WrittenEvent): WrittenEvent =>
  before.length === 0 ? [state, events] : [state, [...before, ...events]]

function flush(state: EncodeState): WrittenEvent {
  return state.held.length === 0 ? [state, []] : relay({ ...state, held: [] }, state.held)
}

function relay(state: EncodeState, group: readonly StreamEvent[]): WrittenEvent {
  const [first] = group
  if (first?.wire === undefined) return [state, []]
  const { wire } = first
  const { sse } = wire
  const intact = state.intact && wire.place === state.count && group.length === wire.pieces
  const counted = group.reduce(track, { ...state, intact, count: state.count + 1 })
  const changed = group.some((event) => event.type === "response-stop" && event.stop !== event.wire?.stop)
  const readable = sse.type === "event" && /^\s*\{/.test(sse.data) && !group.some(({ type }) => type === "error")
  const asItCame = !readable || (intact && !changed)
  const { rewrite, isNumbered } = streamCodecs[state.format]
  const relayed = { sse, first, kept: group }
  const [next, events]: WrittenEvent = asItCame
    ? [counted, [sse]]
    : rewrite(counted, { ...relayed, body: readJson(sse.data, "response") })
  const same = intact && events.length === 1 && events[0] === sse
  const passed = same && readable && isNumbered(sse) ? { ...next, last: sse } : next
  return [settle({ ...passed, intact: same }, group), events]
}

/**
 * Writes an event of our own. Not written: a cut, which is relayed by cutting; the end of a stream that was relayed completely, which
 * upstream wrote; and a part that the format cannot represent.
 */
function writeOwn(state: EncodeState, event: StreamEvent): WrittenEvent {
  const { write, canWrite } = streamCodecs[state.format]
  if (event.type === "error" && event.problem.code === "stream-cut") return [state, []]
  if (event.type === "part-start" && !canWrite(event)) return [state, []]
  if (event.type !== "response-end") return writeTracked(state, event, write)
  if (state.intact && state.stop !== undefined) return [state, []]
  const counted = { ...state, ...present({ usage: event.usage }) }
  if (state.stop !== undefined) return writeTracked(counted, event, write)
  const [stopped, said] = writeTracked(counted, { type: "response-stop", stop: event.stop }, write)
  return after(said, writeTracked(stopped, event, write))
}

function writeTracked(
  state: EncodeState,
  event: StreamEvent,
  write: (state: EncodeState, event: StreamEvent) => WrittenEvent,
): WrittenEvent {
  const [next, events] = write(track({ ...state, intact: false }, event), event)
  return [settle(next, [event]), events]
}

/** Updates the state with an event before it is written. */
function track(state: EncodeState, event: StreamEvent): EncodeState {
  switch (event.type) {
    case "response-start":
      return state.start === undefined ? { ...state, start: event } : state
    case "part-start": {
      const isCall = event.part === "tool-call"
      const part: WrittenPart = { start: event, index: state.parts, call: state.calls, text: "", input: "" }
      const open = new Map(state.open).set(event.index, part)
      return { ...state, open, parts: state.parts + 1, calls: state.calls + (isCall ? 1 : 0) }
    }
    case "part-end":
      return event.wire === undefined || !state.open.has(event.index)
        ? state
        : { ...state, ended: [...state.ended, event.wire.sse] }
    case "usage":
      return { ...state, usage: event.usage }
    case "response-stop":
      return { ...state, stop: event.stop }
    default:
      return event.wire === undefined ? grow(state, event) : state
  }
}

function grow(state: EncodeState, event: StreamEvent): EncodeState {
  const part = writtenPart(state, event)
  if (part === undefined) return state
  return { ...state, open: new Map(state.open).set(part.start.index, withDelta(part, event)) }
}

function settle(state: EncodeState, group: readonly StreamEvent[]): EncodeState {
  const ends = group.filter((event) => event.type === "part-end")
  if (ends.length === 0) return state
  const open = new Map(state.open)
  for (const end of ends) open.delete(end.index)
  return { ...state, open }
}

/** A part while it is being collected, with its position among the parts. */
type Draft = Omit<PartDraft, "others"> & { readonly others: LinkedList<StreamEvent>; readonly place: number }

/** The state of collecting a response. Texts grow by concatenation, which copies nothing until they are read. */
export type CollectState = {
  readonly format: Format
  readonly start?: StreamEvent & ResponseStart
  /** By the number that each part has in the stream. */
  readonly open: ReadonlyMap<number, Draft>
  readonly begun: number
  readonly ended: LinkedList<Draft>
  readonly others: LinkedList<StreamEvent>
  readonly stop?: StopReason
  readonly usage?: Usage
  readonly end?: StreamEvent
}

export function startCollect(format: Format): CollectState {
  codecOf(format) // throws for an unknown format name
  return { format, open: new Map(), begun: 0, ended: undefined, others: undefined }
}

/** Adds one event, from upstream or of our own. */
export function collectStep(state: CollectState, event: StreamEvent): CollectState {
  switch (event.type) {
    case "response-start":
      return state.start === undefined ? { ...state, start: event } : state
    case "part-start": {
      const draft = { start: event, text: "", input: "", others: undefined, place: state.begun }
      const before = state.open.get(event.index)
      const ended = before !== undefined && isText(before) ? { item: before, before: state.ended } : state.ended
      return { ...state, ended, begun: state.begun + 1, open: new Map(state.open).set(event.index, draft) }
    }
    case "part-end":
      return endPart(state, event)
    case "usage":
      return { ...state, usage: event.usage }
    case "response-stop":
      return { ...state, stop: event.stop }
    case "response-end":
      return { ...state, stop: event.stop, end: event, ...present({ usage: event.usage }) }
    case "error":
      return state
    default:
      return growDraft(state, event)
  }
}

/** True if the part may be kept even if it never ended. */
const isText = ({ start }: Draft): boolean => start.part === "text" || start.part === "reasoning"

function endPart(state: CollectState, event: StreamEvent & { readonly index: number }): CollectState {
  const draft = state.open.get(event.index)
  if (draft === undefined) return state
  const open = new Map(state.open)
  open.delete(event.index)
  return { ...state, open, ended: { item: { ...draft, end: event }, before: state.ended } }
}

function growDraft(state: CollectState, event: StreamEvent): CollectState {
  const index = indexOf(event)
  const { collectsOthers } = streamCodecs[state.format]
  if (index === undefined) {
    const kept = collectsOthers === "all" && event.wire?.sse.type === "event" && event.wire.sse.data !== ""
    return kept ? { ...state, others: { item: event, before: state.others } } : state
  }
  const draft = state.open.get(index)
  if (draft === undefined || (event.type === "other" && collectsOthers === "none")) return state
  const others = event.type === "other" ? { item: event, before: draft.others } : draft.others
  return { ...state, open: new Map(state.open).set(index, { ...withDelta(draft, event), others }) }
}

/**
 * Returns the response so far, equal to one read from a complete body: the same parts, and in `wire` what a client sends back in its next
 * request. Text that was cut off is kept; an unfinished tool call is not, because it must not be acted on.
 */
export function collectEnd({ format, open, ended, stop, usage, ...state }: CollectState): ModelResponse {
  const cut = [...open.values()].filter(isText)
  const drafts = [...listOf(ended), ...cut].sort((one, other) => one.place - other.place)
  const parts = drafts.map(({ place: _, others, ...draft }): PartDraft => ({ ...draft, others: listOf(others) }))
  const others = listOf(state.others)
  const { start, end } = state
  const said = { stop: stop ?? "other", ...present({ usage }) }
  const answer = streamCodecs[format].assemble({ parts, others, ...said, ...present({ start, end }) })
  for (const message of answer.messages) markAsRead(message.parts)
  return { ...answer, ...said, ...present({ id: start?.id, model: start?.model }) }
}

/** Collects a whole stream, or the held events of one part. */
export function collect(format: Format, events: Iterable<StreamEvent>): ModelResponse {
  let state = startCollect(format)
  for (const event of events) state = collectStep(state, event)
  return collectEnd(state)
}
