import { HoldfastError } from "../message/errors.ts"
import { checkBatch, isSameBatch, noHead, possibleDuplicates, wholeRange } from "./batch.ts"
import { createMemoryAliases, type MemoryAliases } from "./memory-aliases.ts"
import { createMemoryJobs, type MemoryJobs } from "./memory-jobs.ts"
import { createMemoryRows, type MemoryRows } from "./memory-rows.ts"
import { isPayload } from "./payload-hash.ts"
import { reserveLog } from "./reserved-log.ts"
import type { Appended, Batch, Holdings, SessionFilter, SessionId, SessionRow, Store, StoredEntry } from "./store.ts"

type Session = {
  readonly tenant: string
  readonly agent: string
  readonly createdMs: number
  readonly updatedMs: number
  /** Grows in place: a log may be long, and an append must not copy it. */
  readonly entries: StoredEntry[]
  /** The messages by parent and key. */
  readonly messages: Map<string, number>
}

const messageName = (parent: number, key: string): string => `${parent} ${key}`

/** All that a store holds; each table by session first. */
type Tables = {
  readonly sessions: Map<SessionId, Session>
  readonly payloads: Map<SessionId, Map<string, string>>
  readonly summaries: Map<SessionId, Map<string, string>>
  readonly aliases: MemoryAliases
  readonly jobs: MemoryJobs
  readonly rows: MemoryRows
}

/** A store that lasts as long as the process: for tests, for trying things out, and as the measure of the others. */
export function createMemoryStore({ now = Date.now }: { readonly now?: () => number } = {}): Store {
  let closed = false
  const call = async <Value>(work: () => Value): Promise<Value> => {
    if (closed) throw new HoldfastError({ code: "store-closed", store: "memory" })
    return work()
  }
  const tables: Tables = {
    sessions: new Map(),
    payloads: new Map(),
    summaries: new Map(),
    aliases: createMemoryAliases(call),
    jobs: createMemoryJobs(call),
    rows: createMemoryRows(call),
  }
  const entriesOf = (session: SessionId): readonly StoredEntry[] => tables.sessions.get(session)?.entries ?? []
  return reserveLog({
    kind: "memory",
    isShared: false,
    append: (session, batch) => call(() => append(tables, session, batch, now())),
    head: (session) => call(() => headOf(entriesOf(session))),
    read: (session, range) =>
      call(() => {
        const { from, to, limit } = wholeRange(range)
        return entriesOf(session).slice(from - 1, Math.min(to, from - 1 + limit))
      }),
    readEntries: (session, seqs) =>
      call(() => {
        const asked = new Set(seqs)
        const entries = entriesOf(session)
        return [...asked].sort((one, other) => one - other).flatMap((seq) => entries[seq - 1] ?? [])
      }),
    outline: (session, range) =>
      call(() => {
        const { from, to, limit } = wholeRange(range)
        const entries = entriesOf(session).slice(from - 1, Math.min(to, from - 1 + limit))
        return entries.map(({ body: _, ...outline }) => outline)
      }),
    payloads: (session, hashes) => call(() => payloadsOf(tables, session, hashes)),
    session: (session) => call(() => rowOf(tables, session)),
    sessions: (filter) => call(() => listSessions(tables, filter)),
    holdings: (session) => call(() => holdingsOf(tables, session)),
    copy: (from, to, upTo) => call(() => copy(tables, from, to, upTo, now())),
    remove: (session) => call(() => remove(tables, session)),
    putSummary: (session, key, json) => call(() => putFirst(tableOf(tables.summaries, session), key, json)),
    getSummary: (session, key) => call(() => tables.summaries.get(session)?.get(key)),
    putAliases: tables.aliases.putAliases,
    findAliases: tables.aliases.findAliases,
    jobs: tables.jobs,
    memory: tables.rows,
    check: () => call(() => []),
    vacuum: () => call(() => {}),
    close: async () => {
      closed = true
    },
  })
}

function append(tables: Tables, id: SessionId, batch: Batch, atMs: number): Appended {
  checkBatch(batch)
  const session = tables.sessions.get(id)
  const entries: StoredEntry[] = session?.entries ?? []
  const head = headOf(entries)
  if (batch.after > head.seq) return { type: "conflict", head }
  const behind = entries.slice(batch.after, batch.after + batch.entries.length).map(({ hash }) => hash)
  if (isSameBatch(batch, behind)) return { type: "appended" }
  if (batch.after < head.seq) return { type: "conflict", head }
  for (const { parent, key } of possibleDuplicates(batch)) {
    const there = session?.messages.get(messageName(parent, key))
    if (there !== undefined) return { type: "duplicate", seq: there }
  }
  const messages = session?.messages ?? new Map<string, number>()
  for (const { seq, parent, key } of batch.entries)
    if (parent !== undefined && key !== undefined) messages.set(messageName(parent, key), seq)
  for (const entry of batch.entries) entries.push(entry)
  tables.sessions.set(id, {
    tenant: session?.tenant || (batch.tenant ?? ""),
    agent: session?.agent || (batch.agent ?? ""),
    createdMs: session?.createdMs ?? atMs,
    updatedMs: atMs,
    entries,
    messages,
  })
  for (const [hash, text] of batch.payloads ?? []) putFirst(tableOf(tables.payloads, id), hash, text)
  return { type: "appended" }
}

function payloadsOf(tables: Tables, session: SessionId, hashes: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    hashes.map((hash) => {
      const text = tables.payloads.get(session)?.get(hash)
      if (text !== undefined && isPayload(text, hash)) return [hash, text]
      const reason = text === undefined ? `payload ${hash} is missing` : `payload ${hash} is not what it was`
      throw new HoldfastError({ code: "store-corrupt", store: "memory", session, reason })
    }),
  )
}

function rowOf(tables: Tables, id: SessionId): SessionRow | undefined {
  const session = tables.sessions.get(id)
  if (session === undefined) return undefined
  const { tenant, agent, createdMs, updatedMs, entries } = session
  return { id, tenant, agent, head: headOf(entries), createdMs, updatedMs }
}

function listSessions(tables: Tables, filter: SessionFilter = {}): readonly SessionRow[] {
  const { tenant, agent, updatedBeforeMs, limit } = filter
  const rows = [...tables.sessions.keys()].flatMap((id) => rowOf(tables, id) ?? [])
  const wanted = rows.filter(
    (row) =>
      (tenant === undefined || row.tenant === tenant) &&
      (agent === undefined || row.agent === agent) &&
      (updatedBeforeMs === undefined || row.updatedMs < updatedBeforeMs),
  )
  return wanted
    .sort((one, other) => other.updatedMs - one.updatedMs)
    .slice(0, wholeRange({ ...(limit === undefined ? {} : { limit }) }).limit)
}

function holdingsOf(tables: Tables, session: SessionId): Holdings {
  return {
    payloads: [...(tables.payloads.get(session)?.keys() ?? [])],
    summaries: [...(tables.summaries.get(session)?.keys() ?? [])],
    memory: tables.rows.namesOf(session),
  }
}

function copy(tables: Tables, from: SessionId, to: SessionId, upTo: number, atMs: number): boolean {
  if (tables.sessions.has(to)) return false
  const session = tables.sessions.get(from)
  const entries = session?.entries.slice(0, Math.max(0, upTo)) ?? []
  if (session === undefined || entries.length === 0) return true
  const { tenant, agent } = session
  const messages = new Map([...session.messages].filter(([, seq]) => seq <= entries.length))
  tables.sessions.set(to, { tenant, agent, createdMs: atMs, updatedMs: atMs, entries, messages })
  for (const [hash, text] of tables.payloads.get(from) ?? []) putFirst(tableOf(tables.payloads, to), hash, text)
  return true
}

function remove(tables: Tables, session: SessionId): boolean {
  const removed = [
    tables.sessions.delete(session),
    tables.payloads.delete(session),
    tables.summaries.delete(session),
    tables.jobs.removeAll(session),
    tables.rows.removeAll(session),
    tables.aliases.removeAll(session),
  ]
  return removed.includes(true)
}

function headOf(entries: readonly StoredEntry[]) {
  const last = entries.at(-1)
  return last === undefined ? noHead : { seq: last.seq, hash: last.hash }
}

function tableOf(tables: Map<SessionId, Map<string, string>>, session: SessionId): Map<string, string> {
  const table = tables.get(session) ?? new Map<string, string>()
  tables.set(session, table)
  return table
}

/** False if something is there: the first stays. */
function putFirst(table: Map<string, string>, key: string, text: string): boolean {
  if (table.has(key)) return false
  table.set(key, text)
  return true
}
