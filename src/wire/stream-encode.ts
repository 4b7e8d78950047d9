import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { codecOf, streamCodecs } from "./codecs.ts"
import { readJson } from "./json.ts"
import type { SseEvent } from "./sse.ts"
import {
  type EncodeState,
  type StreamEvent,
  type WrittenEvent,
  type WrittenPart,
  withDelta,
  writtenPart,
} from "./stream.ts"

export function startEncode(format: Format): EncodeState {
  codecOf(format) // refuses a name that is none
  return { format, intact: true, count: 0, held: [], parts: 0, calls: 0, open: new Map(), ended: [] }
}

/**
 * Write one event. As long as every event that was read comes back, in order and with its stop, the very bytes go out again. From
 * the first that is left out, put in or moved, those that follow are numbered anew. Leaving out a `part-start` leaves out
 * the part; a second `response-start` is not written, so that a further stream can be joined on.
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

/** Write what still waits for the rest of its wire event: the caller kept only a piece of the last one. */
export const encodeEnd = (state: EncodeState): WrittenEvent => flush(state)

/** Write a whole list of events. */
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
 * A cut is relayed by cutting, and a stream that was relayed whole has ended as its upstream ended it: neither is written, nor
 * is a part that this wire has no words for.
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

/** Take an event into account before it is written. */
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
