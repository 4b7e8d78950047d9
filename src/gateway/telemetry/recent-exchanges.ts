import type { ExchangeRecord } from "../settings/exchange-record.ts"

type ExchangeListener = (record: ExchangeRecord) => void

/** A model call on its way: its session and model as far as they are known before the answer. */
export type BegunExchange = Pick<ExchangeRecord, "id" | "atMs" | "tenant"> &
  Partial<Pick<ExchangeRecord, "session" | "model" | "client">>

/** The newest exchanges, for whoever looks; metrics, logs and spans are made from what is told here. */
export type RecentExchanges = {
  readonly add: (record: ExchangeRecord) => void
  /** A model call goes upstream. It is told to whoever looks, and kept by nobody. */
  readonly begin: (begun: BegunExchange) => void
  readonly find: (id: string) => ExchangeRecord | undefined
  /** Newest first. */
  readonly newest: (limit: number, session?: string) => readonly ExchangeRecord[]
  readonly subscribe: (listener: ExchangeListener) => () => void
  readonly subscribeBegun: (listener: (begun: BegunExchange) => void) => () => void
}

/** Kept in memory: a record is some kilobytes. What has to last is in the session's log. */
const usualLimit = 1000

export function createRecentExchanges(limit: number = usualLimit): RecentExchanges {
  const records = new Map<string, ExchangeRecord>()
  const ended = createListeners<ExchangeRecord>()
  const begun = createListeners<BegunExchange>()
  return {
    begin: begun.tell,
    add: (record) => {
      records.set(record.id, record)
      for (const oldest of records.keys()) {
        if (records.size <= limit) break
        records.delete(oldest)
      }
      ended.tell(record)
    },
    find: (id) => records.get(id),
    newest: (most, session) => {
      const all = [...records.values()].reverse()
      return (session === undefined ? all : all.filter((record) => record.session === session)).slice(0, most)
    },
    subscribe: ended.subscribe,
    subscribeBegun: begun.subscribe,
  }
}

type Listeners<Event> = {
  readonly tell: (event: Event) => void
  readonly subscribe: (listener: (event: Event) => void) => () => void
}

function createListeners<Event>(): Listeners<Event> {
  const listeners = new Set<(event: Event) => void>()
  return {
    tell: (event) => {
      for (const listener of listeners) {
        try {
          listener(event)
        } catch {
          // Whoever looks on must not break what it looks at.
          listeners.delete(listener)
        }
      }
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
