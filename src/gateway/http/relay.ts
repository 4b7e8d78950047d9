import type { ServerResponse } from "node:http"
import type { Format } from "../../message/message.ts"
import { isDue, othersServed } from "../../store/pace.ts"
import { arrayEnd, arrayStep, type SseEvent, sseEnd, sseStep, startArray, startSse } from "../../wire/sse.ts"
import type { Ending } from "../settings/gateway-options.ts"
import { createByteList } from "./read-body.ts"
import type { UpstreamAnswer } from "./transport.ts"

/** The outcome of relaying a body to the client. */
export type Relayed = {
  readonly ending: Ending
  readonly bytes: number
  /** All bytes sent to the client, for the session log; undefined if there were too many to keep. */
  readonly kept: Buffer | undefined
}

export type RelayOptions = {
  /** Send a comment after this time without data; only in an event stream. */
  readonly keepAliveMs?: number
  readonly onFirstByte: () => void
}

/** Limit on bytes kept for the session log: no model response is larger. */
const maxKept = 64 * 1024 * 1024

const comment = Buffer.from(": keep-alive\n\n")

/** Writes to a client, keeps the bytes, and sends keep-alive comments between events. */
function createWriter(response: ServerResponse, { keepAliveMs, onFirstByte }: RelayOptions) {
  const kept = createByteList()
  let bytes = 0
  let lastMs = 0
  let atBoundary = true
  const sendKeepAlive = (): void => {
    if (!atBoundary || performance.now() - lastMs < (keepAliveMs ?? 0) || response.writableEnded) return
    lastMs = performance.now()
    response.write(comment)
  }
  const timer = keepAliveMs === undefined ? undefined : setInterval(sendKeepAlive, keepAliveMs)
  return {
    write: (chunk: Uint8Array): boolean => {
      if (bytes === 0) onFirstByte()
      bytes += chunk.length
      if (bytes <= maxKept) kept.add(chunk)
      else kept.clear()
      if (timer !== undefined) {
        lastMs = performance.now()
        atBoundary = endsEvent(chunk)
      }
      return response.write(chunk)
    },
    done: (): Omit<Relayed, "ending"> => {
      clearInterval(timer)
      return { bytes, kept: bytes <= maxKept ? kept.all() : undefined }
    },
  }
}

/** True if an event ends with these bytes, so that a comment may follow. */
function endsEvent(chunk: Uint8Array): boolean {
  const [before, last] = [chunk.at(-2), chunk.at(-1)]
  if (last === 0x0a) return before === 0x0a || (before === 0x0d && chunk.at(-3) === 0x0a)
  return last === 0x0d && before === 0x0d
}

/** Relays the bytes of a response as they arrive, no faster than the client reads; if the upstream breaks off, so does the response. */
export function relayBytes(answer: UpstreamAnswer, response: ServerResponse, options: RelayOptions): Promise<Relayed> {
  const { promise, resolve } = Promise.withResolvers<Relayed>()
  const writer = createWriter(response, options)
  const end = (ending: Ending): void => resolve({ ending, ...writer.done() })
  response.on("drain", answer.resume)
  answer.take({
    data: writer.write,
    end: () => {
      response.end()
      end("complete")
    },
    fail: ({ code }) => {
      response.destroy()
      end(code === "upstream-stopped" ? "client-left" : "upstream-cut")
    },
  })
  return promise
}

/** Relays events from a pipeline. If the pipeline throws, the client's connection is closed. */
export async function relayEvents(
  events: AsyncIterable<Pick<SseEvent, "raw">>,
  response: ServerResponse,
  options: RelayOptions,
  gone: AbortSignal,
): Promise<Relayed & { readonly cause?: unknown }> {
  const writer = createWriter(response, options)
  try {
    for await (const { raw } of events) {
      if (gone.aborted) return { ending: "client-left", ...writer.done() }
      if (raw.length > 0 && !writer.write(raw)) await drained(response, gone)
    }
    response.end()
    return { ending: "complete", ...writer.done() }
  } catch (cause) {
    response.destroy()
    return { ending: gone.aborted ? "client-left" : "upstream-cut", ...writer.done(), cause }
  }
}

function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const go = (): void => resolve()
  response.once("drain", go)
  gone.addEventListener("abort", go, { once: true })
  if (gone.aborted) go()
  return promise.finally(() => {
    response.off("drain", go)
    gone.removeEventListener("abort", go)
  })
}

/** The framing of a streamed response: server-sent events, or elements of a JSON array. */
export type StreamFraming = "events" | "array"

/** The framing of a response, by its content type; undefined if it is not streamed. */
export function framingOf(format: Format, contentType: string, path: string): StreamFraming | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return "events"
  return format === "gemini" && /:streamGenerateContent/.test(path) && /json/i.test(contentType) ? "array" : undefined
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>
type Events = AsyncGenerator<SseEvent, void, undefined>

/** Parses chunks into events, whose raw bytes together are the input; other requests are served between events. */
export const eventsIn = (chunks: Chunks, framing: StreamFraming): Events =>
  framing === "array" ? framed(chunks, startArray(), arrayStep, arrayEnd) : framed(chunks, startSse(), sseStep, sseEnd)

type Step<State> = (state: State, piece: Uint8Array) => readonly [State, readonly SseEvent[]]
type End<State> = (state: State) => readonly SseEvent[]

async function* framed<State>(chunks: Chunks, start: State, step: Step<State>, end: End<State>): Events {
  let state = start
  for await (const chunk of chunks) {
    for (const piece of piecesOf(chunk)) {
      const [next, events] = step(state, piece)
      state = next
      yield* paced(events)
    }
  }
  yield* end(state)
}

/** The events of bytes that have all arrived. */
export const framesIn = (bytes: Uint8Array, framing: StreamFraming): Iterable<SseEvent> =>
  framing === "array"
    ? framedAtOnce(bytes, startArray(), arrayStep, arrayEnd)
    : framedAtOnce(bytes, startSse(), sseStep, sseEnd)

function* framedAtOnce<State>(bytes: Uint8Array, start: State, step: Step<State>, end: End<State>): Iterable<SseEvent> {
  let state = start
  for (const piece of piecesOf(bytes)) {
    const [next, events] = step(state, piece)
    state = next
    yield* events
  }
  yield* end(state)
}

/** Number of bytes parsed in one step: some hundred small events. */
const pieceBytes = 32_768

function* piecesOf(chunk: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let from = 0; from < chunk.length; from += pieceBytes) yield chunk.subarray(from, from + pieceBytes)
}

async function* paced(events: readonly SseEvent[]): Events {
  for (const event of events) {
    if (isDue()) await othersServed()
    yield event
  }
  if (isDue()) await othersServed()
}
