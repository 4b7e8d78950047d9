import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { codecOf, streamCodecs } from "./codecs.ts"
import { readJson, requireObject } from "./json.ts"
import type { SseEvent } from "./sse.ts"
import type { DecodeState, EventReading, StreamEvent, WireStatement } from "./stream.ts"

export function startDecode(format: Format): DecodeState {
  codecOf(format) // throws for an unknown format name
  return { format, count: 0, after: "nothing", started: false, parts: 0, calls: 0, open: new Map(), closed: false }
}

/**
 * Read one event of the wire. Never throws for what an upstream sends: an event that cannot be read is an `error` event, and
 * every event, readable or not, carries the wire that it came from.
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

/** What the end of the stream says: nothing after a closing event, otherwise usually that it was cut. */
export function decodeEnd(state: DecodeState): readonly StreamEvent[] {
  if (state.closed) return []
  const said = streamCodecs[state.format].readEnd(state)
  return said.length > 0 ? said : [{ type: "error", problem: { code: "stream-cut", after: state.after } }]
}

/** Read a stream that is there as a whole, to its end. */
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

function readOrRefuse(state: DecodeState, sse: SseEvent): readonly [DecodeState, readonly WireStatement[]] {
  const { read, readDone } = streamCodecs[state.format]
  const isDone = sse.data.trim() === "[DONE]"
  if (sse.type !== "event" || sse.data === "" || (isDone && readDone === undefined)) return [state, []]
  const named = { ...state, after: sse.name ?? (sse.data === "[DONE]" ? "[DONE]" : "data") }
  const reading: EventReading = { state: named, said: [], slot: undefined }
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
