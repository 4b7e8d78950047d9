import type { MemoryRow } from "../../store/memory-row.ts"
import { againOf, maxSources, normalText } from "./row-of.ts"
import { type Contender, supersessions } from "./supersessions.ts"

/** Rows that one flush may write: a session's first has a few hundred. What is left out is offered again by the next flush. */
export const maxRowsPerFlush = 2_000

/** What a flush does to a memory, decided before anything is done. */
export type MemoryPlan = {
  readonly write: readonly MemoryRow[]
  /** Rows that lose their place, by the row that takes it. */
  readonly supersede: ReadonlyMap<string, readonly string[]>
  /** How many of the offered rows were there already. */
  readonly known: number
  /** How many were new and had no room. */
  readonly leftOut: number
}

/** How many rows may be written, and how many of them may be data, so that no flood of output leaves people's words without room. */
export type Room = { readonly rows: number; readonly data: number }

/** Offered rows against those that are stored: what is new is written, what was said before is not, and who lost a place is marked. */
export function planMemory(merged: Offered, stored: readonly MemoryRow[], room: Room): MemoryPlan {
  const storedById = new Map(stored.map((row) => [row.id, row]))
  const unknown = [...merged.values()].filter(({ row }) => !storedById.has(row.id))
  const rows = Math.min(room.rows, maxRowsPerFlush)
  const fresh = withinRoom(unknown, { ...room, rows })
  const contenders = [...[...storedById.values()].map((row) => ({ row, place: 0 })), ...fresh]
  const first = supersessions(contenders)
  const left = { rows: rows - fresh.length, data: room.data - fresh.filter(({ row }) => !row.trusted).length }
  const again = saidAgain({ merged, storedById, contenders, lost: first })
  const returned = withinRoom(again, left)
  const lost = returned.length === 0 ? first : supersessions([...contenders, ...returned])
  const marked = [...lost].filter(([id]) => storedById.has(id))
  return {
    write: [...fresh, ...returned].map(({ row }) => withSuccessor(row, lost.get(row.id))),
    supersede: new Map(
      [...Map.groupBy(marked, ([, by]) => by)].map(([by, pairs]) => [by, pairs.map(([id]) => id)] as const),
    ),
    known: merged.size - unknown.length,
    leftOut: unknown.length - fresh.length + again.length - returned.length,
  }
}

/** What people said first, then data, as many as there is room for; in the order in which they came. */
function withinRoom(contenders: readonly Contender[], { rows, data }: Room): readonly Contender[] {
  const trusted = contenders.filter(({ row }) => row.trusted).slice(0, Math.max(0, rows))
  const others = contenders
    .filter(({ row }) => !row.trusted)
    .slice(0, Math.max(0, Math.min(data, rows - trusted.length)))
  const kept = new Set([...trusted, ...others])
  return contenders.filter((contender) => kept.has(contender))
}

const withSuccessor = (row: MemoryRow, by: string | undefined): MemoryRow =>
  by === undefined ? row : { ...row, supersededBy: by }

/** The rows of a flush by their ids. */
export type Offered = ReadonlyMap<string, Contender>

/** Each row once, with the messages of all that said it, in the place where it was said last. */
export function mergeOffered(offered: readonly MemoryRow[]): Offered {
  const merged = new Map<string, Contender>()
  for (const [at, row] of offered.entries()) {
    const said = merged.get(row.id)?.row ?? row
    const sources = said === row ? row.sources : [...new Set([...said.sources, ...row.sources])].slice(0, maxSources)
    merged.set(row.id, { row: { ...said, sources }, place: at + 1 })
  }
  return merged
}

type Found = {
  readonly merged: Offered
  readonly storedById: ReadonlyMap<string, MemoryRow>
  readonly contenders: readonly Contender[]
  readonly lost: ReadonlyMap<string, string>
}

const wordsOf = ({ kind, trusted, text }: MemoryRow): string => JSON.stringify([kind, trusted, normalText(text)])

/** What was said before and lost its place, and now stands last among what is said of its subject, in a message that was not known. */
function saidAgain({ merged, storedById, contenders, lost }: Found): readonly Contender[] {
  const last = new Map<string, Contender>()
  for (const contender of merged.values()) {
    const { kind, trusted, subject } = contender.row
    const slot = JSON.stringify([kind, trusted, subject])
    if (subject !== undefined && contender.place > (last.get(slot)?.place ?? 0)) last.set(slot, contender)
  }
  const current = new Set(
    contenders.filter(({ row }) => row.supersededBy === undefined && !lost.has(row.id)).map(({ row }) => wordsOf(row)),
  )
  return [...last.values()].flatMap(({ row, place }) => {
    const known = storedById.get(row.id)
    if (known === undefined || current.has(wordsOf(row))) return []
    const isNew = row.sources.some((source) => !known.sources.includes(source))
    const again = againOf(row)
    return isNew && !storedById.has(again.id) ? [{ row: again, place }] : []
  })
}
