import type { MemoryEntry } from "../stage/flush.ts"
import type { MemoryHit, MemoryRow, MemoryStore } from "../store/memory-row.ts"
import type { SessionId } from "../store/store.ts"
import { checkDay, checkMoment, checkName, checkSearch, type MemorySearch, maxHits } from "./check-search.ts"
import { dayText } from "./day-text.ts"
import { mergeOffered, planMemory } from "./plan-memory.ts"
import { rivalsOf } from "./rivals-of.ts"
import { againOf, rowOf } from "./row-of.ts"

/** What became of the entries that were to be remembered. */
export type Remembered = {
  readonly written: readonly MemoryRow[]
  /** Ids of rows that lost their place to one that was written. They stay, marked. */
  readonly superseded: readonly string[]
  /** How many were there already. */
  readonly known: number
  /** How many were beyond the limits of one flush. */
  readonly leftOut: number
}

export type MemoryDay = { readonly day: string; readonly rows: number }

/** What one agent knows beyond a session: a daily log that is written once, never rewritten, and searched. */
export type Memory = {
  /** Write entries down under today. The same entries again change nothing. */
  readonly remember: (session: SessionId, entries: readonly MemoryEntry[]) => Promise<Remembered>
  /** The agent's own rows, best first; without words the newest first. */
  readonly search: (search: MemorySearch) => Promise<readonly MemoryHit[]>
  /** The days that have rows, newest first. */
  readonly days: () => Promise<readonly MemoryDay[]>
  /** One day as Markdown; nothing if nothing was written on it. */
  readonly day: (day: string) => Promise<string | undefined>
}

export type MemoryOptions = {
  readonly store: MemoryStore
  readonly agent: string
  readonly now?: () => number
}

/** Entries that one flush looks at: a ledger holds up to 8,000 facts, and a long transcript has about as many notes. */
export const maxEntriesPerFlush = 20_000

/** Rows asked for by id at once: below the number of parameters that any database takes. */
const rowsPerGet = 500

/** The memory of one agent over a store. Nothing of another agent is ever read or returned. */
export function createMemory({ store, agent, now = Date.now }: MemoryOptions): Memory {
  checkName("agent", agent)

  const find = async (search: MemorySearch): Promise<readonly MemoryHit[]> => {
    checkSearch(search)
    return (await store.search({ ...search, agent })).filter(({ row }) => row.agent === agent)
  }

  const remember = async (session: SessionId, entries: readonly MemoryEntry[]): Promise<Remembered> => {
    checkName("session", session)
    const atMs = Math.trunc(now())
    checkMoment(atMs)
    const looked = entries.slice(0, maxEntriesPerFlush)
    const offered = mergeOffered(looked.flatMap((entry) => rowOf(entry, { agent, session, atMs }) ?? []))
    const rows = [...offered.values()].map(({ row }) => row)
    const known = await getRows(
      store,
      agent,
      rows.flatMap((row) => (row.subject === undefined ? [row.id] : [row.id, againOf(row).id])),
    )
    const rivals = await rivalsOf(rows, known, find)
    const plan = planMemory(offered, [...rivals, ...known])
    await writeRows(store, plan.write)
    for (const [by, ids] of plan.supersede) await store.supersede(session, ids, by)
    return {
      written: plan.write,
      superseded: [...plan.supersede.values()].flat(),
      known: plan.known,
      leftOut: plan.leftOut + Math.max(0, entries.length - maxEntriesPerFlush),
    }
  }

  const day = async (wanted: string): Promise<string | undefined> => {
    checkDay("day", wanted)
    const hits = await find({ fromDay: wanted, toDay: wanted, withSuperseded: true, limit: maxHits })
    if (hits.length === 0) return undefined
    const rows = hits.map(({ row }) => row)
    const total = (await store.days(agent)).find((one) => one.day === wanted)?.rows ?? rows.length
    return dayText(wanted, rows, total)
  }

  return { remember, search: find, days: () => store.days(agent), day }
}

/** Rows written at once: an embedded store holds up its process while it writes, and this many take it some milliseconds. */
const rowsPerWrite = 100

/** In pieces, so that others get a turn in between. Half a writing is no harm: the next one completes it. */
async function writeRows(store: MemoryStore, rows: readonly MemoryRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerWrite) {
    await store.write(rows.slice(at, at + rowsPerWrite))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function getRows(store: MemoryStore, agent: string, ids: readonly string[]): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = []
  for (let at = 0; at < ids.length; at += rowsPerGet)
    rows.push(...(await store.get(agent, ids.slice(at, at + rowsPerGet))))
  return rows
}
