import type { Feed } from "./feed.ts"
import { createCursor, type FeedCursor } from "./feed-cursor.ts"

export type StreamRequest = {
  /** Only what is about this session. */
  readonly session?: string
  /** The id of the last event that the reader has. */
  readonly lastId?: string
  readonly signal: AbortSignal
}

/** The readers of a feed. */
export type EventStreams = {
  /** Nothing where there are as many as there may be. */
  readonly open: (request: StreamRequest) => ReadableStream<Uint8Array> | undefined
  readonly count: () => number
  readonly close: () => void
}

/** Each is a connection of someone who looks; a handful of people have a few pages each. */
export const maxStreams = 50
/** A reader that took nothing while it was to be told so often that the stream is alive has gone. */
const maxStalled = 8

type Reader = { readonly hear: () => void; readonly beat: () => void; readonly end: () => void }

/** Gives every reader what happens as fast as it reads, and cuts off one that does not keep up. */
export function createEventStreams(feed: Feed, keepAliveMs: number): EventStreams {
  const readers = new Set<Reader>()
  const stopHearing = feed.subscribe(() => {
    for (const reader of [...readers]) reader.hear()
  })
  const timer = setInterval(() => {
    for (const reader of [...readers]) reader.beat()
  }, keepAliveMs)
  timer.unref()
  let closed = false
  return {
    open: ({ lastId, session, signal }) => {
      if (closed || readers.size >= maxStreams) return undefined
      return openReader(createCursor(feed, lastId, session), signal, readers)
    },
    count: () => readers.size,
    close: () => {
      closed = true
      stopHearing()
      clearInterval(timer)
      for (const reader of [...readers]) reader.end()
    },
  }
}

const encoder = new TextEncoder()

function openReader(cursor: FeedCursor, signal: AbortSignal, readers: Set<Reader>): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let wanted = false
  let stalled = 0
  const leave = (): boolean => readers.delete(reader)
  /** With what it did not take yet, as far as that is one piece. */
  const end = (): void => {
    if (!leave()) return
    const rest = cursor.take()
    if (rest !== "") controller?.enqueue(encoder.encode(rest))
    controller?.close()
  }
  const cutOff = (): void => {
    if (leave()) controller?.error(new Error("the reader of the event stream did not keep up"))
  }
  const hand = (): void => {
    const piece = wanted ? cursor.take() : ""
    if (piece === "") return
    wanted = false
    stalled = 0
    controller?.enqueue(encoder.encode(piece))
  }
  const reader: Reader = {
    hear: () => {
      hand()
      if (cursor.isBehind()) cutOff()
    },
    beat: () => {
      stalled += wanted ? 0 : 1
      if (stalled > maxStalled) return cutOff()
      cursor.beat()
      hand()
    },
    end,
  }
  return new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
      readers.add(reader)
      signal.addEventListener("abort", end, { once: true })
      if (signal.aborted) end()
    },
    pull: () => {
      wanted = true
      hand()
    },
    cancel: () => void leave(),
  })
}
