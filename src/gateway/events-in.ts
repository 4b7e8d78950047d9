import type { Format } from "../message/message.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../wire/sse.ts"
import { arrayEnd, arrayStep, startArray } from "../wire/sse-array.ts"

/** How the pieces of a streamed answer are told apart: server-sent events, or the elements of a JSON array. */
export type Framing = "events" | "array"

/** How an answer is framed, by what it says it is; nothing if it came whole. */
export function framingOf(format: Format, contentType: string, path: string): Framing | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return "events"
  return format === "gemini" && /:streamGenerateContent/.test(path) && /json/i.test(contentType) ? "array" : undefined
}

/** The events in chunks of bytes, as they come; the raw bytes of all of them are the bytes that came. */
export async function* eventsIn(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  framing: Framing,
): AsyncGenerator<SseEvent, void, undefined> {
  if (framing === "array") {
    let state = startArray()
    for await (const chunk of chunks) {
      const [next, events] = arrayStep(state, chunk)
      state = next
      yield* events
    }
    yield* arrayEnd(state)
    return
  }
  let state = startSse()
  for await (const chunk of chunks) {
    const [next, events] = sseStep(state, chunk)
    state = next
    yield* events
  }
  yield* sseEnd(state)
}
