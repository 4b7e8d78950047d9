import type { ExchangeRecord } from "../settings/exchange-record.ts"

type ExchangeListener = (record: ExchangeRecord) => void

/** The newest exchanges, for whoever looks; metrics, logs and spans are made from what is told here. */
export type RecentExchanges = {
  readonly add: (record: ExchangeRecord) => void
  readonly find: (id: string) => ExchangeRecord | undefined
  /** Newest first. */
  readonly newest: (limit: number, session?: string) => readonly ExchangeRecord[]
  readonly subscribe: (listener: ExchangeListener) => () => void
}

/** Kept in memory: a record is some kilobytes. What has to last is in the session's log. */
const usualLimit = 1000

export function createRecentExchanges(limit: number = usualLimit): RecentExchanges {
  const records = new Map<string, ExchangeRecord>()
  const listeners = new Set<ExchangeListener>()
  return {
    add: (record) => {
      records.set(record.id, record)
      for (const oldest of records.keys()) {
        if (records.size <= limit) break
        records.delete(oldest)
      }
      for (const listener of listeners) {
        try {
          listener(record)
        } catch {
          // Whoever looks on must not break what it looks at.
          listeners.delete(listener)
        }
      }
    },
    find: (id) => records.get(id),
    newest: (most, session) => {
      const all = [...records.values()].reverse()
      return (session === undefined ? all : all.filter((record) => record.session === session)).slice(0, most)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
