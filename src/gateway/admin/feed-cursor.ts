import type { Feed } from "./feed.ts"

/** A reader's place in a feed. */
export type FeedCursor = {
  /** The next piece for the reader, as far as there is something to say. */
  readonly take: () => string
  /** Say this first: that the stream is alive. */
  readonly beat: () => void
  /** More waits for the reader than may, or something is lost already. */
  readonly isBehind: () => boolean
}

/** What may wait for a reader that does not keep up. It waits in the feed, and is never copied for a reader. */
export const maxWaitingBytes = 1_000_000
/** Events are handed over in pieces of about so many characters. */
const pieceLength = 64 * 1024

/**
 * Begins behind the event that the reader has, or behind everything. A reader whose event is lost, or is another program's, is told of
 * the gap and gets all that is kept.
 */
export function createCursor(feed: Feed, lastId: string | undefined, session: string | undefined): FeedCursor {
  const known = lastId === undefined ? feed.head().number : feed.numberOf(lastId)
  let at = known ?? feed.floor()
  // What happened before is read at the reader's own pace, and does not count as waiting.
  const openedBytes = feed.head().endBytes
  let takenBytes = openedBytes
  let said = known === undefined ? gapAt(feed, at) : `: holdfast\nid: ${feed.idOf(at)}\n\n`
  return {
    take: () => {
      let piece = said
      said = ""
      for (let event = feed.next(at); event !== undefined && piece.length < pieceLength; event = feed.next(at)) {
        at = event.number
        takenBytes = Math.max(openedBytes, event.endBytes)
        if (session === undefined || event.session === session) piece += event.text
      }
      return piece
    },
    beat: () => {
      if (said === "") said = `: keep-alive\nid: ${feed.idOf(at)}\n\n`
    },
    isBehind: () => at < feed.floor() || feed.head().endBytes - takenBytes > maxWaitingBytes,
  }
}

function gapAt(feed: Feed, at: number): string {
  const lost = JSON.stringify({ type: "events-lost", kept: feed.head().number - at })
  return `id: ${feed.idOf(at)}\nevent: gap\ndata: ${lost}\n\n`
}
