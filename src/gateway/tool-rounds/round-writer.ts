import type { Problem } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { sequenceOf } from "../../wire/responses/stream-write.ts"
import { type SseEvent, sseStep, startSse } from "../../wire/sse.ts"
import { writeArrayEvent } from "../../wire/sse-array.ts"
import { utf8Bytes } from "../../wire/sse-bytes.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { encodeEnd, encodeStep, startEncode } from "../../wire/stream-encode.ts"
import type { Framing } from "../events-in.ts"
import { streamError } from "../wire-error-stream.ts"

/** Writes the rounds of one exchange as one stream. */
export type RoundWriter = {
  readonly write: (event: StreamEvent) => readonly SseEvent[]
  /** What waits for more of its wire event goes out: nothing more of it comes. */
  readonly flush: () => readonly SseEvent[]
  /** A further stream follows: from here on nothing is where it was in the stream that it came in. */
  readonly join: () => void
  /** End the stream with an error in the words of its wire. */
  readonly fail: (problem: Problem) => readonly SseEvent[]
}

export function createRoundWriter(format: Format, framing: Framing): RoundWriter {
  let state = startEncode(format)
  let elements = 0
  const framed = (event: SseEvent): SseEvent => {
    if (framing !== "array") return event
    const raw = isWholeArray(event) ? event.raw : writeArrayEvent(event, elements)
    if (event.type === "event") elements++
    return raw === event.raw ? event : { ...event, raw }
  }
  const flush = (): readonly SseEvent[] => {
    const [next, written] = encodeEnd(state)
    state = next
    return written.map(framed)
  }
  return {
    flush,
    write: (event) => {
      const [next, written] = encodeStep(state, event)
      state = next
      return written.map(framed)
    },
    join: () => {
      state = { ...state, intact: false }
    },
    fail: (problem) => {
      const waiting = flush()
      const numbered = format === "openai-responses" ? { sequence: sequenceOf(state) } : {}
      const told = streamError(format, problem, { ...numbered, ...present({ responseId: state.start?.id }) })
      const events = told.flatMap((raw) => sseStep(startSse(), raw)[1]).map(framed)
      return [...waiting, ...events, ...(framing === "array" ? [closingBracket] : [])]
    },
  }
}

/** An array that ends without an element: its brackets stand in one piece. */
const isWholeArray = ({ type, raw }: SseEvent): boolean => type === "comment" && raw.includes(0x5b)

const closingBracket: SseEvent = { type: "comment", data: "", raw: utf8Bytes("]"), framing: "array" }
