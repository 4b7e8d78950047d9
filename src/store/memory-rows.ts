import type { MemoryOwner, MemoryQuery, MemoryRow, MemoryStore, RowCount } from "./memory-row.ts"
import { hitLimits, isHit, rankHits } from "./rank-hits.ts"
import { phrasesOf, termsOf } from "./search-terms.ts"
import type { Holdings, SessionId } from "./store.ts"

/** The memory of a memory store, in the order in which it was written. */
export type MemoryRows = MemoryStore & {
  readonly namesOf: (session: SessionId) => Holdings["memory"]
  /** False if the session had none. */
  readonly removeAll: (session: SessionId) => boolean
}

export function createMemoryRows(call: <Value>(work: () => Value) => Promise<Value>): MemoryRows {
  const rows = new Map<string, MemoryRow>()
  const nameOf = (session: SessionId, id: string): string => JSON.stringify([session, id])
  const ofSession = (session: SessionId): readonly MemoryRow[] =>
    [...rows.values()].filter((row) => row.session === session)
  return {
    write: (written) =>
      call(() => {
        for (const row of written) {
          const name = nameOf(row.session, row.id)
          if (!rows.has(name)) rows.set(name, row)
        }
      }),
    supersede: (session, ids, by) =>
      call(() => {
        for (const id of ids) {
          const row = rows.get(nameOf(session, id))
          if (row === undefined || row.supersededBy !== undefined || id === by) continue
          rows.set(nameOf(session, id), { ...row, supersededBy: by })
        }
      }),
    search: (query) => call(() => search([...rows.values()], query)),
    get: (owner, ids) =>
      call(() => {
        const asked = new Set(ids)
        return [...rows.values()].filter((row) => isOwned(row, owner) && asked.has(row.id))
      }),
    days: (owner) =>
      call(() => {
        const days = Map.groupBy(
          [...rows.values()].filter((row) => isOwned(row, owner)),
          ({ day }) => day,
        )
        const counted = [...days].map(([day, { length }]) => ({ day, rows: length }))
        return counted.sort((one, other) => (one.day < other.day ? 1 : -1))
      }),
    counts: (owner, session, day) =>
      call(() => {
        const written = [...rows.values()].filter((row) => isOwned(row, owner) && row.day === day)
        return { agent: countOf(written), session: countOf(written.filter((row) => row.session === session)) }
      }),
    namesOf: (session) => ofSession(session).map(({ tenant, agent, id }) => ({ tenant, agent, id })),
    removeAll: (session) => {
      const mine = ofSession(session)
      for (const { id } of mine) rows.delete(nameOf(session, id))
      return mine.length > 0
    },
  }
}

function search(rows: readonly MemoryRow[], query: MemoryQuery) {
  const phrases = phrasesOf(query.text ?? "")
  const found = rows.filter((row) => isWanted(row, query) && isHit(termsOf(row.text), phrases))
  const newest = found.reverse().sort((one, other) => other.atMs - one.atMs)
  const { show, fetch } = hitLimits(query.limit)
  return rankHits(newest.slice(0, fetch), phrases, show)
}

const isOwned = (row: MemoryRow, { tenant, agent }: MemoryOwner): boolean =>
  row.tenant === tenant && row.agent === agent

const countOf = (rows: readonly MemoryRow[]): RowCount => ({
  rows: rows.length,
  data: rows.filter(({ trusted }) => !trusted).length,
})

function isWanted(row: MemoryRow, query: MemoryQuery): boolean {
  return (
    isOwned(row, query) &&
    (query.session === undefined || row.session === query.session) &&
    (query.kind === undefined || row.kind === query.kind) &&
    (query.fromDay === undefined || row.day >= query.fromDay) &&
    (query.toDay === undefined || row.day <= query.toDay) &&
    (query.trustedOnly !== true || row.trusted) &&
    (query.withSuperseded === true || row.supersededBy === undefined)
  )
}
