import { type Channel, trust } from "../../message/channel.ts"
import type { MemoryRow } from "../../store/memory-row.ts"

/** A row and where it stands among those that one flush adds, counted from 1; 0 for one that was there before. */
export type Contender = { readonly row: MemoryRow; readonly place: number }

const channels: readonly Channel[] = ["operator", "system", "user", "assistant", "memory", "document", "tool"]

/** Larger than any channel's trust: nothing untrusted reaches what is trusted. */
const trustedRank = 100

function rankOf({ trusted, channel }: MemoryRow): number {
  const known = channels.find((name) => name === channel)
  return (trusted ? trustedRank : 0) + (known === undefined ? 0 : trust(known))
}

/** What holds one value at a time: a subject within its session and kind. */
const slotOf = ({ tenant, agent, session, kind, subject }: MemoryRow): string =>
  JSON.stringify([tenant, agent, session, kind, subject])

/**
 * Which rows have lost their place, and to which. A later one of the same subject takes it, if it comes from the same channel or a more
 * trusted one; later is what was written down later, and within a flush what stands further down. Values that one message gave together
 * stand side by side. Only the rows decide, not the order in which they were flushed.
 */
export function supersessions(contenders: readonly Contender[]): ReadonlyMap<string, string> {
  const lost = new Map<string, string>()
  const slots = Map.groupBy(
    contenders.filter(({ row }) => row.subject !== undefined),
    ({ row }) => slotOf(row),
  )
  for (const rows of slots.values()) markLost(rows.toSorted(latestFirst), lost)
  return lost
}

const latestFirst = (one: Contender, other: Contender): number =>
  other.row.atMs - one.row.atMs || other.place - one.place || (one.row.id < other.row.id ? -1 : 1)

const isSameMoment = (one: Contender, other: Contender): boolean =>
  one.row.atMs === other.row.atMs && one.place === other.place

/** The two latest rows of each rank that no one message gave: whatever a row came from, one of them came from elsewhere. */
type Later = Map<number, readonly MemoryRow[]>

function markLost(sorted: readonly Contender[], lost: Map<string, string>): void {
  const later: Later = new Map()
  let waiting: MemoryRow[] = []
  for (const [at, contender] of sorted.entries()) {
    const before = sorted[at - 1]
    if (before !== undefined && !isSameMoment(before, contender)) {
      for (const row of waiting) addLater(later, row)
      waiting = []
    }
    waiting.push(contender.row)
    const by = contender.row.supersededBy === undefined ? successorOf(contender.row, later) : undefined
    if (by !== undefined) lost.set(contender.row.id, by.id)
  }
}

function addLater(later: Later, row: MemoryRow): void {
  const rank = rankOf(row)
  const [first, second] = later.get(rank) ?? []
  if (first === undefined) later.set(rank, [row])
  else if (second === undefined && !isTogether(first, row)) later.set(rank, [first, row])
}

function successorOf(row: MemoryRow, later: Later): MemoryRow | undefined {
  let found: MemoryRow | undefined
  for (const [rank, rows] of later) {
    if (rank < rankOf(row)) continue
    const one = rows.find((other) => !isTogether(other, row))
    if (one !== undefined && (found === undefined || one.atMs > found.atMs)) found = one
  }
  return found
}

/** Did one message give both? */
const isTogether = (one: MemoryRow, other: MemoryRow): boolean =>
  one.sources[0] !== undefined && one.sources[0] === other.sources[0]
