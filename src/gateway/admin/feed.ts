/** Something that happened, as it stands in an event stream. */
type FeedEvent = {
  readonly number: number
  /** The session that it is about, if it is about one. */
  readonly session?: string
  readonly text: string
  /** Bytes of this event and of all before it. */
  readonly endBytes: number
}

/** The newest of what happened, numbered; whoever reads it keeps its own place, so that nothing is held for anyone. */
export type Feed = {
  readonly publish: (name: string, session: string | undefined, value: unknown) => void
  /** The event behind this number, if there is one yet. */
  readonly next: (number: number) => FeedEvent | undefined
  /** The number and the end of the newest. */
  readonly head: () => { readonly number: number; readonly endBytes: number }
  /** The number of the oldest that is still there, less one. */
  readonly floor: () => number
  /** The id by which a reader that has everything up to this number takes up again. */
  readonly idOf: (number: number) => string
  /** The number that an id says, if it is one of ours and nothing behind it is lost. */
  readonly numberOf: (id: string) => number | undefined
  /** Hear that there is something new. */
  readonly subscribe: (listener: () => void) => () => void
}

/** Kept in memory, each some kilobytes at most: minutes of a busy gateway. */
const usualLimit = 1000

/** `name` tells this feed's ids from those of another program, or of this one before it was started anew. */
export function createFeed(name: string, limit: number = usualLimit): Feed {
  const events = new Map<number, FeedEvent>()
  const listeners = new Set<() => void>()
  let head = { number: 0, endBytes: 0 }
  const floor = (): number => Math.max(0, head.number - limit)
  const idOf = (number: number): string => `${name}-${number}`
  return {
    publish: (kind, session, value) => {
      const number = head.number + 1
      const text = `id: ${idOf(number)}\nevent: ${kind}\ndata: ${JSON.stringify(value)}\n\n`
      const endBytes = head.endBytes + Buffer.byteLength(text)
      events.set(number, { number, text, endBytes, ...(session === undefined ? {} : { session }) })
      head = { number, endBytes }
      events.delete(floor())
      for (const listener of [...listeners]) listener()
    },
    next: (number) => events.get(number + 1),
    head: () => head,
    floor,
    idOf,
    numberOf: (id) => {
      const digits = id.startsWith(`${name}-`) ? /^\d{1,15}$/.exec(id.slice(name.length + 1))?.[0] : undefined
      const number = Number(digits ?? Number.NaN)
      return number >= floor() && number <= head.number ? number : undefined
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
