import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { codecOf, streamCodecs } from "./codecs.ts"
import type { SseEvent } from "./sse.ts"
import { type DecodeState, pieces, type Read, type StreamEvent } from "./stream.ts"

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
  const list = read.length === 0 ? pieces({ type: "other" }) : read
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

function readOrRefuse(state: DecodeState, sse: SseEvent): Read {
  if (sse.type !== "event" || sse.data === "" || isStrayDone(state, sse)) return [state, []]
  const named = { ...state, after: sse.name ?? (sse.data === "[DONE]" ? "[DONE]" : "data") }
  try {
    return streamCodecs[state.format].read(named, sse)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return [named, pieces({ type: "error", problem: inStream(error.problem, named.after) })]
  }
}

/** Some proxies end streams of every format with the `[DONE]` of Chat Completions. */
const isStrayDone = ({ format }: DecodeState, { data }: SseEvent): boolean =>
  format !== "openai-chat" && data.trim() === "[DONE]"

/** An invalid value is reported with the event it was in, because the response as a whole has no path. */
function inStream(problem: Problem, after: string): Problem {
  if (problem.code !== "response-invalid") return problem
  const { path, expected, found } = problem
  return { code: "stream-invalid", event: `${after} (${path})`, expected, found }
}
