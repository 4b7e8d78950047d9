import type { MemoryEntry } from "../../compact/stages/flush.ts"
import type { DayCounts, MemoryHit, MemoryOwner, MemoryRow, MemoryStore, RowCount } from "../../store/memory-row.ts"
import type { SessionId } from "../../store/store.ts"
import { checkDay, checkMoment, checkName, checkSearch, type MemorySearch, maxHits } from "./check-search.ts"
import { dayText } from "./day-text.ts"
import { maxRowsPerFlush, mergeOffered, planMemory, type Room } from "./plan-memory.ts"
import { rivalsOf } from "./rivals-of.ts"
import { againOf, dayOf, rowOf, sessionIdOf, withCurrentId } from "./row-of.ts"

/** What became of the entries that were to be remembered. */
export type Remembered = {
  readonly written: readonly MemoryRow[]
  /** Ids of rows that lost their place to one that was written. They stay, marked. */
  readonly superseded: readonly string[]
  /** How many were there already. */
  readonly known: number
  /** How many were beyond a limit: of one flush, of the session's day, or of the agent's. */
  readonly leftOut: number
  /** The limit that was reached, if one was. */
  readonly limit?: "flush" | "session-day" | "agent-day"
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
  /** Whose agent it is; none unless given. */
  readonly tenant?: string
  readonly agent: string
  readonly limits?: Partial<MemoryLimits>
  readonly now?: () => number
}

/** How much may be written on one day: a row takes about 600 bytes in a store, its index included (measured on SQLite). */
export type MemoryLimits = {
  readonly sessionRowsPerDay: number
  readonly agentRowsPerDay: number
}

/** Some 1 MB a day for a session and 6 MB for an agent; a day's work of a busy session leaves a few hundred rows. */
export const usualMemoryLimits: MemoryLimits = { sessionRowsPerDay: 2_000, agentRowsPerDay: 10_000 }

/** Of a limit, the part that data may take; the rest is for what people say. */
const dataShare = 0.75

/** Entries that one flush looks at: a ledger holds up to 8,000 facts, and a long transcript has about as many notes. */
export const maxEntriesPerFlush = 20_000

/** Rows asked for by id at once: below the number of parameters that any database takes. */
const rowsPerGet = 500

/** The memory of one agent of a tenant over a store. Nothing of another agent or tenant is ever read or returned. */
export function createMemory(options: MemoryOptions): Memory {
  const { store, tenant = "", agent, now = Date.now } = options
  if (tenant !== "") checkName("tenant", tenant)
  checkName("agent", agent)
  const owner: MemoryOwner = { tenant, agent }
  const limits = { ...usualMemoryLimits, ...options.limits }

  const find = async (search: MemorySearch): Promise<readonly MemoryHit[]> => {
    checkSearch(search)
    const hits = await store.search({ ...search, ...owner })
    return hits.filter(({ row }) => row.tenant === tenant && row.agent === agent)
  }

  const remember = async (session: SessionId, entries: readonly MemoryEntry[]): Promise<Remembered> => {
    checkName("session", session)
    const atMs = Math.trunc(now())
    checkMoment(atMs)
    const looked = entries.slice(0, maxEntriesPerFlush)
    const offered = mergeOffered(looked.flatMap((entry) => rowOf(entry, { ...owner, session, atMs }) ?? []))
    const rows = [...offered.values()].map(({ row }) => row)
    const known = await getRows(
      store,
      owner,
      rows.flatMap((row) => [row.id, row.subject === undefined ? sessionIdOf(row) : againOf(row).id]),
    )
    const rivals = await rivalsOf(rows, known, find)
    const room = roomIn(await store.counts(owner, session, dayOf(atMs)), limits)
    const plan = planMemory(offered, [...rivals, ...known.map(withCurrentId)], room)
    await writeRows(store, plan.write)
    for (const [by, ids] of plan.supersede) await store.supersede(session, ids, by)
    return {
      written: plan.write,
      superseded: [...plan.supersede.values()].flat(),
      known: plan.known,
      leftOut: plan.leftOut + Math.max(0, entries.length - maxEntriesPerFlush),
      ...(plan.leftOut === 0 ? {} : { limit: plan.write.length >= maxRowsPerFlush ? "flush" : room.limit }),
    }
  }

  const day = async (wanted: string): Promise<string | undefined> => {
    checkDay("day", wanted)
    const hits = await find({ fromDay: wanted, toDay: wanted, withSuperseded: true, limit: maxHits })
    if (hits.length === 0) return undefined
    const rows = hits.map(({ row }) => row)
    const total = (await store.days(owner)).find((one) => one.day === wanted)?.rows ?? rows.length
    return dayText(wanted, rows, total)
  }

  return { remember, search: find, days: () => store.days(owner), day }
}

type LimitedRoom = Room & { readonly limit: "session-day" | "agent-day" }

/** What is left of the day's limits, and which of them is the closer one. */
function roomIn({ agent, session }: DayCounts, { sessionRowsPerDay, agentRowsPerDay }: MemoryLimits): LimitedRoom {
  const left = (most: number, { rows, data }: RowCount): Room => ({
    rows: most - rows,
    data: Math.min(most - rows, Math.floor(most * dataShare) - data),
  })
  const [inSession, inAgent] = [left(sessionRowsPerDay, session), left(agentRowsPerDay, agent)]
  return {
    rows: Math.min(inSession.rows, inAgent.rows),
    data: Math.min(inSession.data, inAgent.data),
    limit: inAgent.data < inSession.data ? "agent-day" : "session-day",
  }
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

async function getRows(store: MemoryStore, owner: MemoryOwner, ids: readonly string[]): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = []
  for (let at = 0; at < ids.length; at += rowsPerGet)
    rows.push(...(await store.get(owner, ids.slice(at, at + rowsPerGet))))
  return rows
}
