import { setNewest } from "../../message/recall.ts"
import type { ExchangeRecord } from "../settings/exchange-record.ts"

type ExchangeListener = (record: ExchangeRecord) => void

/** A model call in progress, with its session and model as far as they are known. */
export type BegunExchange = Pick<ExchangeRecord, "id" | "atMs" | "tenant"> &
  Partial<Pick<ExchangeRecord, "session" | "model" | "client" | "project">>

/** The latest exchanges; metrics, logs and spans are made from its events. */
export type RecentExchanges = {
  readonly add: (record: ExchangeRecord) => void
  /** Call when a model call is sent upstream. Listeners are told; nothing is kept. */
  readonly begin: (begun: BegunExchange) => void
  readonly find: (id: string) => ExchangeRecord | undefined
  /** Newest first. */
  readonly newest: (limit: number, session?: string) => readonly ExchangeRecord[]
  readonly subscribe: (listener: ExchangeListener) => () => void
  readonly subscribeBegun: (listener: (begun: BegunExchange) => void) => () => void
}

/** Limit on records in memory, each some kilobytes. Lasting data is in the session's log. */
const usualLimit = 1000

export function createRecentExchanges(limit: number = usualLimit): RecentExchanges {
  const records = new Map<string, ExchangeRecord>()
  const ended = createListeners<ExchangeRecord>()
  const begun = createListeners<BegunExchange>()
  return {
    begin: begun.tell,
    add: (record) => {
      setNewest(records, record.id, record, limit)
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
          // Remove a listener that throws, so that it cannot break the exchange.
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
