import { HoldfastError } from "../message/errors.ts"
import { toStorable } from "./packed-text.ts"
import {
  type Database,
  inTransaction,
  openDatabase,
  type PostgresOptions,
  postgresRows,
  type RunStatement,
  readPostgresOptions,
  type SqlStatement,
} from "./postgres-database.ts"
import { createSharedEvents } from "./postgres-events.ts"
import { createAppend, createCopy, createRemove } from "./postgres-log.ts"
import { migrations } from "./postgres-migrations.ts"
import { createMemorySearch, encodeMemory, writeRows } from "./postgres-search.ts"
import { reserveLog, type StoreOfLogs } from "./reserved-log.ts"
import { sealedWith } from "./sealed-store.ts"
import {
  boundLimit,
  createLogReader,
  createMemoryReader,
  createSessionReader,
  createSqlJobs,
  type SqlDialect,
} from "./sql-calls.ts"
import type { MemoryStore, Store } from "./store.ts"
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
  const dialect = createPostgresDialect(database, schema)
  const logs: StoreOfLogs = {
    kind: "postgres",
    isShared: true,
    append: createAppend(database, schema, now),
    ...createLogReader(dialect),
    ...createSessionReader(dialect),
    copy: createCopy(database, schema, now),
    remove: createRemove(database, schema),
    putAliases: createAliasWriter(database, schema),
    events: createSharedEvents(database, schema, now),
    jobs: createSqlJobs(dialect),
    memory: { ...createMemoryReader(dialect), ...createPostgresMemory(database, schema) },
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

/** Numbers the parameters of statements and names them: a named one is planned once per connection. */
function createStatements(): (text: string) => SqlStatement {
  const known = new Map<string, SqlStatement>()
  return (text) => {
    let number = 0
    const made = known.get(text) ?? {
      name: `shared-${known.size}`,
      text: text.replaceAll("?", () => {
        number += 1
        return `$${number}`
      }),
    }
    known.set(text, made)
    return made
  }
}

function createPostgresDialect(database: Database, schema: string): SqlDialect<readonly (string | number)[]> {
  const statement = createStatements()
  const table = (name: string): string => `${schema}.${name}`
  const read = async (text: string, values: readonly unknown[]): Promise<readonly StoredRow[]> =>
    (await database.call((ask) => ask({ ...statement(text), values }))).rows
  return {
    rows: postgresRows,
    tables: {
      sessions: table("session"),
      entries: table("entry"),
      payloads: table("payload"),
      summaries: table("summary"),
      jobs: table("job"),
      memory: table("memory"),
      aliases: table("alias"),
    },
    sessionId: "id",
    jobOrder: "put_at, key",
    memoryOrder: "put_at, put_no",
    read: (_session, text, values) => read(text, values),
    write: async (_session, text, values) => (await database.call((ask) => ask({ ...statement(text), values }))).count,
    insert: (_session, put, same) =>
      database.call(async (ask, again) => {
        if ((await ask({ ...statement(put.text), values: put.values })).count > 0) return true
        // An existing row may be from the lost connection.
        return again && (await ask({ ...statement(same.text), values: same.values })).rows.length > 0
      }),
    isAmong: (column, type) => `${column} = any(?::${type}[])`,
    listOf: (values) => values,
    entriesIn: (session, columns, { from, to, limit }) =>
      read(
        `select ${columns} from ${table("entry")} where session = ? and seq >= ? and seq <= ? order by seq ${boundLimit}`,
        [toStorable(session), from, to, limit],
      ),
    entryOf: (_session, row) => ({ ...postgresRows.outline(row), body: postgresRows.text(row, "body") }),
    payloadColumns: "packed, data",
    payloadOf: (row) => {
      const data = postgresRows.packed(row, "data")
      return row.packed === true || typeof data === "string" ? data : Buffer.from(data).toString("utf8")
    },
    putJob: `insert into ${table("job")} (session, key, kind, payload, free_ms, attempt) values (?, ?, ?, ?, ?, 0)
      on conflict do nothing`,
    freeJob: "free_ms = ?",
    // A job is free from `free_ms` on; leasing and postponing move it into the future. If interrupted, it may have leased a job to no one:
    // that job is free again when its lease ends.
    lease: async (now, leaseMs) => {
      const text = `with next as materialized (
          select session, key from ${table("job")} where free_ms <= ? order by put_at, key limit 1 for update skip locked
        )
        update ${table("job")} as j set attempt = j.attempt + 1, free_ms = ?
        from next where j.session = next.session and j.key = next.key
        returning j.session, j.key, j.kind, j.payload, j.attempt, j.free_ms as leased_until_ms`
      return (await read(text, [now, now + leaseMs]))[0]
    },
  }
}

/** A name belongs to the session it was last set for. Unchanged aliases are not written again. */
function createAliasWriter(database: Database, schema: string): Store["putAliases"] {
  // Lock names in one order, so that two writers cannot deadlock.
  const put = `insert into ${schema}.alias as a (name, session, entry)
    select name, $1, entry from unnest($2::text[], $3::text[]) as said (name, entry) order by name collate "C"
    on conflict (name) do update set session = excluded.session, entry = excluded.entry
    where (a.session, a.entry) is distinct from (excluded.session, excluded.entry)`
  return async (session, aliases) => {
    const names = aliases.map(({ name }) => toStorable(name))
    const entries = aliases.map(({ entry }) => (entry === undefined ? null : toStorable(entry)))
    await database.call((ask) => ask({ name: "alias-put", text: put, values: [toStorable(session), names, entries] }))
  }
}

/** An agent's memory in a table with a full-text index. */
function createPostgresMemory(database: Database, schema: string): Pick<MemoryStore, "write" | "search"> {
  return {
    write: async (rows) => {
      if (rows.length === 0) return
      const values = [JSON.stringify(rows.map(encodeMemory))]
      await database.call((ask) => ask({ name: "memory-write", text: writeRows(schema), values }))
    },
    search: createMemorySearch(database, schema),
  }
}

/** Building an index over a large table takes minutes; other processes wait as long. */
const migrateMs = 30 * 60_000

/**
 * Migrates the tables, all steps or none. If several processes start at once, one migrates and the others wait. If the tables are up to
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
