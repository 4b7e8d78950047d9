import { createListeners } from "../../message/listeners.ts"
import { setNewest } from "../../message/recall.ts"

type StreamRequest = {
  readonly session?: string
  /** The id of the last event that the reader received. */
  readonly lastId?: string
  readonly signal: AbortSignal
}

/** Limit on readers, each with a connection: a handful of people with a few pages each. */
export const maxStreams = 50
/** Number of keep-alive intervals after which a reader that reads nothing is disconnected. */
const maxStalled = 8

type Reader = { readonly hear: () => void; readonly beat: () => void; readonly end: () => void }

export type EventStreams = ReturnType<typeof createEventStreams>

/** Sends events to every reader of a feed as fast as it reads, and disconnects readers that do not keep up. */
export function createEventStreams(feed: Feed, keepAliveMs: number) {
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
    /** Undefined if the limit on readers is reached. */
    open: ({ lastId, session, signal }: StreamRequest): ReadableStream<Uint8Array> | undefined => {
      if (closed || readers.size >= maxStreams) return undefined
      return openReader(createCursor(feed, lastId, session), signal, readers)
    },
    count: (): number => readers.size,
    close: (): void => {
      closed = true
      stopHearing()
      clearInterval(timer)
      for (const reader of [...readers]) reader.end()
    },
  }
}

const encoder = new TextEncoder()

function openReader(
  cursor: ReturnType<typeof createCursor>,
  signal: AbortSignal,
  readers: Set<Reader>,
): ReadableStream<Uint8Array> {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let wanted = false
  let stalled = 0
  const leave = (): boolean => readers.delete(reader)
  /** Ends the stream after one last piece of pending events. */
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

/** Limit on bytes that wait for a reader. They wait in the feed, and are never copied for a reader. */
export const maxWaitingBytes = 1_000_000
/** Approximate length of one piece in characters. */
const pieceLength = 64 * 1024

/** Starts after the reader's last event, or at the end. If that event is lost or of another process: a gap event and all kept events. */
function createCursor(feed: Feed, lastId: string | undefined, session: string | undefined) {
  const known = lastId === undefined ? feed.head().number : feed.numberOf(lastId)
  let at = known ?? feed.floor()
  // Earlier events are read at the reader's own pace, and do not count as waiting.
  const openedBytes = feed.head().endBytes
  let takenBytes = openedBytes
  let said = known === undefined ? gapAt(feed, at) : `: holdfast\nid: ${feed.idOf(at)}\n\n`
  return {
    /** The next piece of text for the reader; empty if there is nothing new. */
    take: (): string => {
      let piece = said
      said = ""
      for (let event = feed.next(at); event !== undefined && piece.length < pieceLength; event = feed.next(at)) {
        at = event.number
        takenBytes = Math.max(openedBytes, event.endBytes)
        if (session === undefined || event.session === session) piece += event.text
      }
      return piece
    },
    /** Puts a keep-alive comment before the next piece. */
    beat: (): void => {
      if (said === "") said = `: keep-alive\nid: ${feed.idOf(at)}\n\n`
    },
    /** True if too much waits for the reader, or events are already lost. */
    isBehind: (): boolean => at < feed.floor() || feed.head().endBytes - takenBytes > maxWaitingBytes,
  }
}

function gapAt(feed: Feed, at: number): string {
  const lost = JSON.stringify({ type: "events-lost", kept: feed.head().number - at })
  return `id: ${feed.idOf(at)}\nevent: gap\ndata: ${lost}\n\n`
}

/** An event as text of an event stream. */
type FeedEvent = {
  readonly number: number
  readonly session?: string
  readonly text: string
  /** Total bytes up to the end of this event. */
  readonly endBytes: number
}

/** Limit on events in memory, each at most some kilobytes: minutes of a busy gateway. */
const defaultLimit = 1000

export type Feed = ReturnType<typeof createFeed>

/**
 * The latest events, numbered. Readers keep their own position, so nothing is stored for a reader. `name` distinguishes this feed's ids
 * from those of another process, or of this one before a restart.
 */
export function createFeed(name: string, limit: number = defaultLimit) {
  const events = new Map<number, FeedEvent>()
  const { emit, subscribe } = createListeners<void>()
  let head = { number: 0, endBytes: 0 }
  /** The number before the oldest kept event. */
  const floor = (): number => Math.max(0, head.number - limit)
  /** The id from which a reader that has everything up to this number can resume. */
  const idOf = (number: number): string => `${name}-${number}`
  return {
    publish: (kind: string, session: string | undefined, value: unknown): void => {
      const number = head.number + 1
      const text = `id: ${idOf(number)}\nevent: ${kind}\ndata: ${JSON.stringify(value)}\n\n`
      const endBytes = head.endBytes + Buffer.byteLength(text)
      const of = session === undefined ? {} : { session }
      setNewest(events, number, { number, text, endBytes, ...of }, limit)
      head = { number, endBytes }
      emit()
    },
    next: (number: number): FeedEvent | undefined => events.get(number + 1),
    head: (): Pick<FeedEvent, "number" | "endBytes"> => head,
    floor,
    idOf,
    /** The number in an id; undefined if it is not from this feed or later events are lost. */
    numberOf: (id: string): number | undefined => {
      const digits = id.startsWith(`${name}-`) ? /^\d{1,15}$/.exec(id.slice(name.length + 1))?.[0] : undefined
      const number = Number(digits ?? Number.NaN)
      return number >= floor() && number <= head.number ? number : undefined
    },
    /** Calls the listener for each new event. */
    subscribe,
  }
}
