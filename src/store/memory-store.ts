import { HoldfastError } from "../message/errors.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { isPayload } from "./packed-text.ts"
import { reserveLog } from "./reserved-log.ts"
import { searchAmong } from "./search-terms.ts"
import {
  type Appended,
  type Batch,
  checkBatch,
  type FoundAlias,
  type Holdings,
  isSameBatch,
  type Job,
  type JobStore,
  type MemoryOwner,
  type MemoryQuery,
  type MemoryRow,
  type MemoryStore,
  noHead,
  possibleDuplicates,
  type Range,
  type RowCount,
  type SessionFilter,
  type SessionId,
  type SessionRow,
  type Store,
  type StoredEntry,
  wholeRange,
} from "./store.ts"
import { corruptStore } from "./stored-row.ts"

type Session = {
  readonly tenant: string
  readonly agent: string
  readonly createdMs: number
  readonly updatedMs: number
  /** Mutated in place: a log may be long, and an append must not copy it. */
  readonly entries: StoredEntry[]
  /** The messages by parent and key. */
  readonly messages: Map<string, number>
}

const messageName = (parent: number, key: string): string => `${parent} ${key}`

/** The tables of a store, each keyed by session first. */
type Tables = {
  readonly sessions: Map<SessionId, Session>
  readonly payloads: Map<SessionId, Map<string, string>>
  readonly summaries: Map<SessionId, Map<string, string>>
  readonly aliases: ReturnType<typeof createMemoryAliases>
  readonly jobs: ReturnType<typeof createMemoryJobs>
  readonly rows: ReturnType<typeof createMemoryRows>
}

type MemoryStoreOptions = { readonly now?: () => number }
const memoryStoreNames = optionNames<MemoryStoreOptions>()("now")

/** A store in memory: for tests and experiments, and as the reference for the others. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptionNames(options, memoryStoreNames, "createMemoryStore")
  const { now = Date.now } = options
  let closed = false
  const call: Call =
    (work) =>
    async (...given) => {
      if (closed) throw new HoldfastError({ code: "store-closed", store: "memory" })
      return work(...given)
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
  const entriesIn = (session: SessionId, range: Range | undefined): readonly StoredEntry[] => {
    const { from, to, limit } = wholeRange(range)
    return entriesOf(session).slice(from - 1, Math.min(to, from - 1 + limit))
  }
  return reserveLog({
    kind: "memory",
    isShared: false,
    append: call((session, batch) => append(tables, session, batch, now())),
    head: call((session) => headOf(entriesOf(session))),
    read: call(entriesIn),
    readEntries: call((session, seqs) => {
      const entries = entriesOf(session)
      return [...new Set(seqs)].sort((one, other) => one - other).flatMap((seq) => entries[seq - 1] ?? [])
    }),
    outline: call((session, range) => entriesIn(session, range).map(({ body: _, ...outline }) => outline)),
    payloads: call((session, hashes) => payloadsOf(tables, session, hashes)),
    session: call((session) => rowOf(tables, session)),
    sessions: call((filter) => listSessions(tables, filter)),
    holdings: call((session) => holdingsOf(tables, session)),
    copy: call((from, to, upTo) => copy(tables, from, to, upTo, now())),
    remove: call((session) => remove(tables, session)),
    putSummary: call((session, key, json) => putFirst(tableOf(tables.summaries, session), key, json)),
    getSummary: call((session, key) => tables.summaries.get(session)?.get(key)),
    putAliases: tables.aliases.putAliases,
    findAliases: tables.aliases.findAliases,
    jobs: tables.jobs,
    memory: tables.rows,
    check: call(() => []),
    scrub: call(() => {}),
    usedBytes: call(() => sizeOf(tables)),
    vacuum: call(() => {}),
    close: async () => {
      closed = true
    },
  })
}

/** The characters of all entries and payloads. */
function sizeOf({ sessions, payloads }: Tables): number {
  let size = 0
  for (const { entries } of sessions.values()) for (const { body } of entries) size += body.length
  for (const texts of payloads.values()) for (const text of texts.values()) size += text.length
  return size
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
      throw corruptStore("memory", session, `payload ${hash} is ${text === undefined ? "missing" : "not what it was"}`)
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

/** Returns false if there is a value already: the first stays. */
function putFirst(table: Map<string, string>, key: string, text: string): boolean {
  if (table.has(key)) return false
  table.set(key, text)
  return true
}

/** Makes a call of the store, which is refused once the store is closed. */
type Call = <Given extends readonly unknown[], Value>(
  work: (...given: Given) => Value,
) => (...given: Given) => Promise<Value>

/** What else has rows of a session; returns false if there was none. */
type Removal = { readonly removeAll: (session: SessionId) => boolean }

/** The aliases of a memory store, by name and by session. */
function createMemoryAliases(call: Call): Pick<Store, "putAliases" | "findAliases"> & Removal {
  const bearers = new Map<string, FoundAlias>()
  const namesOf = new Map<SessionId, Set<string>>()
  const release = (name: string): void => {
    const session = bearers.get(name)?.session
    const names = session === undefined ? undefined : namesOf.get(session)
    names?.delete(name)
    if (session !== undefined && names?.size === 0) namesOf.delete(session)
  }
  return {
    putAliases: call((session, aliases) => {
      for (const alias of aliases) {
        release(alias.name)
        bearers.set(alias.name, { ...alias, session })
        namesOf.set(session, (namesOf.get(session) ?? new Set()).add(alias.name))
      }
    }),
    findAliases: call((names) => names.flatMap((name) => bearers.get(name) ?? [])),
    removeAll: (session) => {
      for (const name of namesOf.get(session) ?? []) bearers.delete(name)
      return namesOf.delete(session)
    },
  }
}

type StoredJob = { readonly job: Job; readonly attempt: number; readonly dueMs: number; readonly leasedUntilMs: number }

/** The jobs of a memory store, in insertion order. */
function createMemoryJobs(call: Call): JobStore & Removal {
  const jobs = new Map<string, StoredJob>()
  const nameOf = (session: SessionId, key: string): string => JSON.stringify([session, key])
  return {
    put: call((job, now) => {
      const name = nameOf(job.session, job.key)
      if (jobs.has(name)) return false
      jobs.set(name, { job, attempt: 0, dueMs: now, leasedUntilMs: 0 })
      return true
    }),
    lease: call((now, leaseMs) => {
      const found = [...jobs].find(([, { dueMs, leasedUntilMs }]) => dueMs <= now && leasedUntilMs <= now)
      if (found === undefined) return undefined
      const [name, kept] = found
      const lease = { attempt: kept.attempt + 1, leasedUntilMs: now + leaseMs }
      jobs.set(name, { ...kept, ...lease })
      return { ...kept.job, ...lease }
    }),
    finish: call((session, key) => {
      jobs.delete(nameOf(session, key))
    }),
    postpone: call((session, key, dueMs) => {
      const kept = jobs.get(nameOf(session, key))
      if (kept !== undefined) jobs.set(nameOf(session, key), { ...kept, dueMs, leasedUntilMs: 0 })
    }),
    list: call((session) =>
      [...jobs.values()].flatMap(({ job }) => (session === undefined || job.session === session ? job : [])),
    ),
    removeAll: (session) => {
      const mine = [...jobs].filter(([, { job }]) => job.session === session)
      for (const [name] of mine) jobs.delete(name)
      return mine.length > 0
    },
  }
}

/** The memory rows of a memory store, in insertion order. */
function createMemoryRows(
  call: Call,
): MemoryStore & Removal & { readonly namesOf: (session: SessionId) => Holdings["memory"] } {
  const rows = new Map<string, MemoryRow>()
  const nameOf = (session: SessionId, id: string): string => JSON.stringify([session, id])
  const all = call((): readonly MemoryRow[] => [...rows.values()])
  const ofOwner = (owner: MemoryOwner): readonly MemoryRow[] => [...rows.values()].filter((row) => isOwned(row, owner))
  const ofSession = (session: SessionId): readonly MemoryRow[] =>
    [...rows.values()].filter((row) => row.session === session)
  return {
    write: call((written) => {
      for (const row of written) {
        const name = nameOf(row.session, row.id)
        if (!rows.has(name)) rows.set(name, row)
      }
    }),
    supersede: call((session, ids, by) => {
      for (const id of ids) {
        const row = rows.get(nameOf(session, id))
        if (row === undefined || row.supersededBy !== undefined || id === by) continue
        rows.set(nameOf(session, id), { ...row, supersededBy: by })
      }
    }),
    search: async (query) => search(await all(), query),
    get: call((owner, ids) => {
      const asked = new Set(ids)
      return ofOwner(owner).filter(({ id }) => asked.has(id))
    }),
    days: call((owner) => {
      const days = Map.groupBy(ofOwner(owner), ({ day }) => day)
      const counted = [...days].map(([day, { length }]) => ({ day, rows: length }))
      return counted.sort((one, other) => (one.day < other.day ? 1 : -1))
    }),
    counts: call((owner, session, day) => {
      const written = ofOwner(owner).filter((row) => row.day === day)
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
  const wanted = rows.filter((row) => isWanted(row, query)).reverse()
  return searchAmong(
    wanted.sort((one, other) => other.atMs - one.atMs),
    query,
  )
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
