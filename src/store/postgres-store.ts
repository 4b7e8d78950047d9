import { HoldfastError } from "../message/errors.ts"
import { isPayload, toStorable, unpackText } from "./packed-text.ts"
import {
  type Database,
  inTransaction,
  openDatabase,
  type PostgresOptions,
  postgresRows,
  type RunStatement,
  readPostgresOptions,
} from "./postgres-database.ts"
import { createSharedEvents } from "./postgres-events.ts"
import { createAppend, createSessions } from "./postgres-log.ts"
import { migrations } from "./postgres-migrations.ts"
import { createMemorySearch, encodeMemory, memoryColumns, writeRows } from "./postgres-search.ts"
import { reserveLog, type StoreOfLogs } from "./reserved-log.ts"
import { sealedWith } from "./sealed-store.ts"
import {
  type JobStore,
  type MemoryStore,
  noHead,
  type Range,
  type SessionId,
  type Store,
  type StoredEntry,
  wholeRange,
} from "./store.ts"
import type { StoredRow } from "./stored-row.ts"

/** Vacuuming large tables takes minutes. */
const vacuumMs = 30 * 60_000

/** A store in PostgreSQL, for any number of processes. The tables are created and migrated when it is opened. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const settings = readPostgresOptions(options)
  const { now = Date.now } = options
  const database = await openDatabase(settings)
  const { schema } = settings
  try {
    await migrate(database, schema)
  } catch (error) {
    await database.close()
    throw error
  }
  const logs: StoreOfLogs = {
    kind: "postgres",
    isShared: true,
    append: createAppend(database, schema, now),
    ...createLogReader(database, schema),
    ...createSessions(database, schema, now),
    ...createSummaries(database, schema),
    ...createAliases(database, schema),
    events: createSharedEvents(database, schema, now),
    jobs: createJobStore(database, schema),
    memory: createPostgresMemory(database, schema),
    // PostgreSQL checks its own files; an unreadable page is an error of the call that needs it.
    check: () => database.call(async () => []),
    // PostgreSQL overwrites deleted rows when their pages are used again.
    scrub: () => database.call(async () => {}),
    usedBytes: async () => {
      const columns = { entry: "body", payload: "data" }
      const sizes = Object.entries(columns).map(
        ([table, column]) => `(select coalesce(sum(pg_column_size(${column})), 0) from ${schema}.${table})`,
      )
      const { rows } = await database.callLong(vacuumMs, (ask) =>
        ask({ text: `select (${sizes.join(" + ")})::text as size` }),
      )
      return Number(rows[0]?.size ?? 0)
    },
    vacuum: async () => {
      const tables = ["session", "entry", "payload", "summary", "job", "memory", "alias", "replica_event"]
      const named = tables.map((table) => `${schema}.${table}`)
      await database.callLong(vacuumMs, (ask) => ask({ text: `vacuum (analyze) ${named.join(", ")}` }))
    },
    close: database.close,
  }
  return reserveLog(await sealedWith(logs, options))
}

/** Background summaries: the first one of a key stays. */
function createSummaries(database: Database, schema: string): Pick<Store, "putSummary" | "getSummary"> {
  const put = `insert into ${schema}.summary (session, key, json) values ($1, $2, $3) on conflict do nothing`
  const get = `select json from ${schema}.summary where session = $1 and key = $2`
  return {
    putSummary: (session, key, json) => {
      const name = [toStorable(session), toStorable(key)]
      return database.call(async (ask, again) => {
        if ((await ask({ name: "summary-put", text: put, values: [...name, toStorable(json)] })).count > 0) return true
        // An existing row may be from the lost connection.
        const { rows } = again ? await ask({ name: "summary-get", text: get, values: name }) : { rows: [] }
        return rows[0] !== undefined && postgresRows.text(rows[0], "json") === json
      })
    },
    getSummary: async (session, key) => {
      const values = [toStorable(session), toStorable(key)]
      const { rows } = await database.call((ask) => ask({ name: "summary-get", text: get, values }))
      return rows[0] === undefined ? undefined : postgresRows.text(rows[0], "json")
    },
  }
}

/** Session aliases: a name belongs to the session it was last set for. Unchanged aliases are not written again. */
function createAliases(database: Database, schema: string): Pick<Store, "putAliases" | "findAliases"> {
  // Lock names in one order, so that two writers cannot deadlock.
  const put = `insert into ${schema}.alias as a (name, session, entry)
    select name, $1, entry from unnest($2::text[], $3::text[]) as said (name, entry) order by name collate "C"
    on conflict (name) do update set session = excluded.session, entry = excluded.entry
    where (a.session, a.entry) is distinct from (excluded.session, excluded.entry)`
  const find = `select name, session, entry from ${schema}.alias where name = any($1::text[])`
  return {
    putAliases: async (session, aliases) => {
      const names = aliases.map(({ name }) => toStorable(name))
      const entries = aliases.map(({ entry }) => (entry === undefined ? null : toStorable(entry)))
      await database.call((ask) => ask({ name: "alias-put", text: put, values: [toStorable(session), names, entries] }))
    },
    findAliases: async (names) => {
      const values = [names.map(toStorable)]
      const { rows } = await database.call((ask) => ask({ name: "alias-find", text: find, values }))
      const found = new Map(rows.map((row) => [postgresRows.text(row, "name"), postgresRows.alias(row)]))
      return names.flatMap((name) => found.get(name) ?? [])
    },
  }
}

/** An agent's memory in a table with a full-text index. */
function createPostgresMemory(database: Database, schema: string): MemoryStore {
  const table = `${schema}.memory`
  return {
    write: async (rows) => {
      if (rows.length === 0) return
      const values = [JSON.stringify(rows.map(encodeMemory))]
      await database.call((ask) => ask({ name: "memory-write", text: writeRows(schema), values }))
    },
    supersede: async (session, ids, by) => {
      const text = `update ${table} set superseded_by = $3
        where session = $1 and id = any($2::text[]) and id <> $3 and superseded_by is null`
      const values = [toStorable(session), ids.map(toStorable), toStorable(by)]
      await database.call((ask) => ask({ name: "memory-supersede", text, values }))
    },
    search: createMemorySearch(database, schema),
    get: async ({ tenant, agent }, ids) => {
      const text = `select ${memoryColumns} from ${table}
        where tenant = $1 and agent = $2 and id = any($3::text[]) order by put_at, put_no`
      const values = [toStorable(tenant), toStorable(agent), ids.map(toStorable)]
      const { rows } = await database.call((ask) => ask({ name: "memory-get", text, values }))
      return rows.map(postgresRows.memory)
    },
    counts: async ({ tenant, agent }, session, day) => {
      const text = `select count(*)::integer as rows, (count(*) filter (where not trusted))::integer as data,
        (count(*) filter (where session = $1))::integer as own,
        (count(*) filter (where session = $1 and not trusted))::integer as own_data
        from ${table} where tenant = $2 and agent = $3 and day = $4`
      const values = [session, tenant, agent, day].map(toStorable)
      const { rows } = await database.call((ask) => ask({ name: "memory-counts", text, values }))
      return postgresRows.counts(rows[0] ?? {})
    },
    days: async ({ tenant, agent }) => {
      const text = `select day, count(*)::integer as rows from ${table}
        where tenant = $1 and agent = $2 group by day order by day desc`
      const values = [toStorable(tenant), toStorable(agent)]
      const { rows } = await database.call((ask) => ask({ name: "memory-days", text, values }))
      return postgresRows.days(rows)
    },
  }
}

/** Building an index over a large table takes minutes; other processes wait as long. */
const migrateMs = 30 * 60_000

/**
 * Migrate the tables, all steps or none. If several processes start at once, one migrates and the others wait. If the tables are up to
 * date, no permission to change them is needed.
 */
async function migrate(database: Database, schema: string): Promise<void> {
  const found = await database.call((ask) => versionOf(ask, schema))
  if (isKnown(found)) return
  await database.callLong(
    migrateMs,
    inTransaction(async (ask) => {
      await ask({ text: "set local lock_timeout = 0" })
      await ask({ text: "select pg_advisory_xact_lock(hashtextextended($1, 0))", values: [`holdfast ${schema}`] })
      const version = await versionOf(ask, schema)
      if (isKnown(version)) return
      if (version === 0) {
        await ask({ text: `create schema if not exists ${schema}` })
        await ask({
          text: `create table ${schema}.migration (version integer primary key, made_at timestamptz not null)`,
        })
      }
      for (const [at, step] of migrations.entries()) {
        if (at < version) continue
        for (const text of step(schema)) await ask({ text })
        await ask({ text: `insert into ${schema}.migration values ($1, now())`, values: [at + 1] })
      }
    }),
  )
}

function isKnown(version: number): boolean {
  const known = migrations.length
  if (version > known) throw new HoldfastError({ code: "store-newer", store: "postgres", version, known })
  return version === known
}

/** The schema version; 0 if there are no tables yet. */
async function versionOf(ask: RunStatement, schema: string): Promise<number> {
  const { rows: names } = await ask({
    text: "select to_regclass($1) is not null as there",
    values: [`${schema}.migration`],
  })
  if (names[0]?.there !== true) return 0
  const { rows } = await ask({ text: `select max(version) as version from ${schema}.migration` })
  const version = rows[0]?.version
  return typeof version === "number" ? version : 0
}

/** Jobs in a table: a job is free from `free_ms` on; leasing and postponing move it into the future. */
function createJobStore(database: Database, schema: string): JobStore {
  const table = `${schema}.job`
  return {
    put: ({ key, session, kind, payload }, now) => {
      const values = [session, key, kind, payload].map(toStorable)
      const put = `insert into ${table} (session, key, kind, payload, attempt, free_ms)
        values ($1, $2, $3, $4, 0, $5) on conflict do nothing`
      const same = `select 1 from ${table} where session = $1 and key = $2 and kind = $3 and payload = $4`
      return database.call(async (ask, again) => {
        if ((await ask({ name: "job-put", text: put, values: [...values, now] })).count > 0) return true
        // An existing row may be from the lost connection.
        return again && (await ask({ text: same, values })).rows.length > 0
      })
    },
    lease: (now, leaseMs) => {
      const text = `with next as materialized (
          select session, key from ${table} where free_ms <= $1 order by put_at, key limit 1 for update skip locked
        )
        update ${table} as j set attempt = j.attempt + 1, free_ms = $2
        from next where j.session = next.session and j.key = next.key
        returning j.session, j.key, j.kind, j.payload, j.attempt, j.free_ms`
      // If interrupted, it may have leased a job to no one: that job is free again when its lease ends.
      return database.call(async (ask) => {
        const [row] = (await ask({ name: "job-lease", text, values: [now, now + leaseMs] })).rows
        if (row === undefined) return undefined
        return {
          ...postgresRows.job(row),
          attempt: postgresRows.number(row, "attempt"),
          leasedUntilMs: postgresRows.number(row, "free_ms"),
        }
      })
    },
    finish: (session, key) => {
      const text = `delete from ${table} where session = $1 and key = $2`
      return database.call(async (ask) => {
        await ask({ name: "job-finish", text, values: [toStorable(session), toStorable(key)] })
      })
    },
    postpone: (session, key, dueMs) => {
      const text = `update ${table} set free_ms = $3 where session = $1 and key = $2`
      return database.call(async (ask) => {
        await ask({ name: "job-postpone", text, values: [toStorable(session), toStorable(key), dueMs] })
      })
    },
    list: (session) => {
      const text = `select session, key, kind, payload from ${table}
        where $1::text is null or session = $1 order by put_at, key`
      const values = [session === undefined ? null : toStorable(session)]
      return database.call(async (ask) => (await ask({ text, values })).rows.map(postgresRows.job))
    },
  }
}

/** Entry numbers are PostgreSQL integers: none is larger. */
const largestSeq = 2_147_483_647

const shape = "seq, hash, type, at_ms, parent, key"

/** The calls that read a log. */
function createLogReader(
  database: Database,
  schema: string,
): Pick<Store, "head" | "read" | "readEntries" | "outline" | "payloads"> {
  const inRange = (columns: string): string =>
    `select ${columns} from ${schema}.entry where session = $1 and seq >= $2 and seq <= $3 order by seq limit $4`
  const ask = (name: string, text: string, values: readonly unknown[]): Promise<readonly StoredRow[]> =>
    database.call(async (ask) => (await ask({ name, text, values })).rows)

  return {
    head: async (session) => {
      const text = `select head_seq, head_hash from ${schema}.session where id = $1`
      const [row] = await ask("head", text, [toStorable(session)])
      return row === undefined ? noHead : postgresRows.head(row)
    },
    read: async (session, range) => {
      const rows = await ask("read", inRange(`${shape}, body`), [toStorable(session), ...limitsOf(range)])
      return rows.map(entryIn)
    },
    outline: async (session, range) => {
      const rows = await ask("outline", inRange(shape), [toStorable(session), ...limitsOf(range)])
      return rows.map(postgresRows.outline)
    },
    readEntries: async (session, seqs) => {
      const wanted = [...new Set(seqs)].filter((seq) => Number.isInteger(seq) && seq > 0 && seq <= largestSeq)
      const text = `select ${shape}, body from ${schema}.entry where session = $1 and seq = any($2::integer[]) order by seq`
      return (await ask("read-entries", text, [toStorable(session), wanted])).map(entryIn)
    },
    payloads: async (session, hashes) => {
      const text = `select hash, packed, data from ${schema}.payload where session = $1 and hash = any($2::text[])`
      const rows = await ask("payloads", text, [toStorable(session), [...new Set(hashes.map(toStorable))]])
      return textsOf(session, hashes, rows)
    },
  }
}

/** The range as integers that PostgreSQL accepts. */
function limitsOf(range: Range | undefined): readonly number[] {
  const { from, to, limit } = wholeRange(range)
  const within = (value: number): number => Math.trunc(Math.max(0, Math.min(value, largestSeq)))
  return [within(from), within(to), within(limit)]
}

function entryIn(row: StoredRow): StoredEntry {
  return { ...postgresRows.outline(row), body: postgresRows.text(row, "body") }
}

async function textsOf(
  session: SessionId,
  hashes: readonly string[],
  rows: readonly StoredRow[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map(rows.map((row) => [postgresRows.text(row, "hash"), row]))
  const texts = new Map<string, string>()
  for (const hash of hashes) {
    const row = found.get(hash)
    if (row === undefined) throw corrupt(session, `payload ${hash} is missing`)
    const text = await payloadIn(row)
    if (text === undefined || !isPayload(text, hash)) throw corrupt(session, `payload ${hash} is not what it was`)
    texts.set(hash, text)
  }
  return texts
}

/** Undefined if its bytes are damaged. */
async function payloadIn({ packed, data }: StoredRow): Promise<string | undefined> {
  if (!(data instanceof Uint8Array)) return undefined
  if (packed === true) return unpackText(data).catch(() => undefined)
  return unpackText(Buffer.from(data).toString("utf8"))
}

function corrupt(session: SessionId, reason: string): HoldfastError {
  return new HoldfastError({ code: "store-corrupt", store: "postgres", session, reason })
}
