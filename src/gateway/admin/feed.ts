/** An event as text of an event stream. */
type FeedEvent = {
  readonly number: number
  /** The session of the event, if there is one. */
  readonly session?: string
  readonly text: string
  /** Total bytes up to the end of this event. */
  readonly endBytes: number
}

/** The latest events, numbered. Readers keep their own position, so nothing is stored for a reader. */
export type Feed = {
  readonly publish: (name: string, session: string | undefined, value: unknown) => void
  /** The event after this number, if there is one yet. */
  readonly next: (number: number) => FeedEvent | undefined
  /** The number and end of the newest event. */
  readonly head: () => { readonly number: number; readonly endBytes: number }
  /** The number before the oldest kept event. */
  readonly floor: () => number
  /** The id from which a reader that has everything up to this number can resume. */
  readonly idOf: (number: number) => string
  /** The number in an id; undefined if it is not from this feed or later events are lost. */
  readonly numberOf: (id: string) => number | undefined
  /** Be told that there is a new event. */
  readonly subscribe: (listener: () => void) => () => void
}

/** Limit on events in memory, each at most some kilobytes: minutes of a busy gateway. */
const usualLimit = 1000

/** `name` distinguishes this feed's ids from those of another process, or of this one before a restart. */
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
