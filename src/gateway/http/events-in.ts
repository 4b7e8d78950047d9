import { setImmediate as nextTurn } from "node:timers/promises"
import type { Format } from "../../message/message.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../../wire/sse.ts"
import { arrayEnd, arrayStep, startArray } from "../../wire/sse-array.ts"

/** How the pieces of a streamed answer are told apart: server-sent events, or the elements of a JSON array. */
export type Framing = "events" | "array"

/** How an answer is framed, by what it says it is; nothing if it came whole. */
export function framingOf(format: Format, contentType: string, path: string): Framing | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return "events"
  return format === "gemini" && /:streamGenerateContent/.test(path) && /json/i.test(contentType) ? "array" : undefined
}

/** The events in chunks of bytes, as they come; the raw bytes of all of them are the bytes that came. Others are served between them, however many there are. */
export async function* eventsIn(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  framing: Framing,
): AsyncGenerator<SseEvent, void, undefined> {
  const pace = createPace()
  if (framing === "array") {
    let state = startArray()
    for await (const chunk of chunks) {
      for (const piece of piecesOf(chunk)) {
        const [next, events] = arrayStep(state, piece)
        state = next
        yield* paced(events, pace)
      }
    }
    yield* arrayEnd(state)
    return
  }
  let state = startSse()
  for await (const chunk of chunks) {
    for (const piece of piecesOf(chunk)) {
      const [next, events] = sseStep(state, piece)
      state = next
      yield* paced(events, pace)
    }
  }
  yield* sseEnd(state)
}

/** Read at once: some hundred small events. */
const pieceBytes = 32_768

function* piecesOf(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let from = 0; from < chunk.length; from += pieceBytes) yield chunk.subarray(from, from + pieceBytes)
}

async function* paced(events: readonly SseEvent[], pace: Pace): AsyncGenerator<SseEvent, void, undefined> {
  for (const event of events) {
    if (pace.isDue()) await pace.rest()
    yield event
  }
  if (pace.isDue()) await pace.rest()
}

/** Cuts long work into slices, between which others are served. */
type Pace = {
  /** Has this slice taken as long as it may? */
  readonly isDue: () => boolean
  /** Let others be served, and begin the next slice. */
  readonly rest: () => Promise<void>
}

/** Nobody notices a pause of this length. */
const sliceMs = 15

function createPace(now: () => number = () => performance.now()): Pace {
  let begunMs = now()
  return {
    isDue: () => now() - begunMs >= sliceMs,
    rest: async () => {
      await nextTurn()
      begunMs = now()
    },
  }
}
