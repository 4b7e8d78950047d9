import { isPayload, type PackedText, toStorable, unpackText } from "./packed-text.ts"
import {
  type JobStore,
  largestSeq,
  type MemoryRow,
  type MemoryStore,
  noHead,
  type Range,
  type SessionId,
  type Store,
  type StoredEntry,
  wholeRange,
} from "./store.ts"
import { ANY_SESSION, corruptStore, type RowReader, type StoredRow } from "./stored-row.ts"

/**
 * What differs between SQLite and PostgreSQL, for the calls whose statements are the same in both. A `?` in a statement stands for one of
 * its values, in order; `List` is how a list of values is passed to the database.
 */
export type SqlDialect<List> = {
  readonly rows: RowReader
  readonly tables: Readonly<
    Record<"sessions" | "entries" | "payloads" | "summaries" | "jobs" | "memory" | "aliases", string>
  >
  /** Columns: the id in the table of sessions, and those that give the order of writing. */
  readonly sessionId: string
  readonly jobOrder: string
  readonly memoryOrder: string
  /** The rows of a statement. `session` is named if data is damaged. */
  readonly read: (session: SessionId, text: string, values: Values<List>) => Promise<readonly StoredRow[]>
  /** Runs a statement; returns the number of rows that it changed. */
  readonly write: (session: SessionId, text: string, values: Values<List>) => Promise<number>
  /** Inserts a row. False if there was one already, except one that `same` finds and a lost attempt of this call may have written. */
  readonly insert: (session: SessionId, put: SqlText<List>, same: SqlText<List>) => Promise<boolean>
  /** Builds a condition: the column has one of the values of a list. */
  readonly isAmong: (column: string, type: "text" | "integer") => string
  readonly listOf: (values: readonly (string | number)[]) => List
  readonly entriesIn: (session: SessionId, columns: string, range: Required<Range>) => Promise<readonly StoredRow[]>
  readonly entryOf: (session: SessionId, row: StoredRow) => StoredEntry | Promise<StoredEntry>
  /** The columns of payloads besides `hash`, and the function that reads them. */
  readonly payloadColumns: string
  readonly payloadOf: (row: StoredRow) => PackedText
  /** Jobs: the statement that inserts one, for session, key, kind, payload and time; the assignment of the time from which it is free. */
  readonly putJob: string
  readonly freeJob: string
  /** Leases the next job; its row includes `attempt` and `leased_until_ms`. */
  readonly lease: (now: number, leaseMs: number) => Promise<StoredRow | undefined>
}

type Values<List> = readonly (string | number | List)[]
type SqlText<List> = { readonly text: string; readonly values: Values<List> }

const outlineColumns = "seq, hash, type, at_ms, parent, key"

/** Creates the calls that read a session's log. */
export function createLogReader<List>(
  sql: SqlDialect<List>,
): Pick<Store, "head" | "read" | "readEntries" | "outline" | "payloads"> {
  const { rows, tables } = sql
  const head = `select head_seq, head_hash from ${tables.sessions} where ${sql.sessionId} = ?`
  const byNumber = `select * from ${tables.entries} where session = ? and ${sql.isAmong("seq", "integer")} order by seq`
  const byHash = `select hash, ${sql.payloadColumns} from ${tables.payloads} where session = ? and ${sql.isAmong("hash", "text")}`
  const entries = async (session: SessionId, read: Promise<readonly StoredRow[]>): Promise<readonly StoredEntry[]> =>
    Promise.all((await read).map((row) => sql.entryOf(session, row)))
  return {
    head: async (session) => {
      const [row] = await sql.read(session, head, [toStorable(session)])
      return row === undefined ? noHead : rows.head(row)
    },
    read: (session, range) => entries(session, sql.entriesIn(session, "*", wholeRange(range))),
    outline: async (session, range) =>
      (await sql.entriesIn(session, outlineColumns, wholeRange(range))).map(rows.outline),
    readEntries: (session, seqs) => {
      const asked = [...new Set(seqs)].filter((seq) => Number.isInteger(seq) && seq > 0 && seq <= largestSeq)
      return entries(session, sql.read(session, byNumber, [toStorable(session), sql.listOf(asked)]))
    },
    payloads: async (session, hashes) => {
      const asked = sql.listOf([...new Set(hashes.map(toStorable))])
      const found = await sql.read(session, byHash, [toStorable(session), asked])
      const packed = new Map(found.map((row) => [rows.text(row, "hash"), row]))
      const texts = hashes.map(async (hash) => {
        const row = packed.get(hash)
        if (row === undefined) throw corruptStore(rows.store, session, `payload ${hash} is missing`)
        const reason = `payload ${hash} is not what it was`
        const text = await unpackText(sql.payloadOf(row)).catch((error: unknown) => {
          throw corruptStore(rows.store, session, reason, error)
        })
        if (!isPayload(text, hash)) throw corruptStore(rows.store, session, reason)
        return [hash, text] as const
      })
      return new Map(await Promise.all(texts))
    },
  }
}

/** Creates the calls that read sessions and what belongs to them, and those about summaries. */
export function createSessionReader<List>(
  sql: SqlDialect<List>,
): Pick<Store, "session" | "sessions" | "holdings" | "putSummary" | "getSummary" | "findAliases"> {
  const { rows, tables, sessionId } = sql
  const columns = `${sessionId} as session, tenant, agent, head_seq, head_hash, created_ms, updated_ms`
  const one = `select ${columns} from ${tables.sessions} where ${sessionId} = ?`
  const summary = `select json from ${tables.summaries} where session = ? and key = ?`
  const found = `select name, session, entry from ${tables.aliases} where ${sql.isAmong("name", "text")}`
  return {
    session: async (session) => {
      const [row] = await sql.read(session, one, [toStorable(session)])
      return row === undefined ? undefined : rows.session(row)
    },
    sessions: async ({ tenant, agent, updatedBeforeMs, limit = Number.POSITIVE_INFINITY } = {}) => {
      const conditions = [
        ...(tenant === undefined ? [] : [{ text: "tenant = ?", value: toStorable(tenant) }]),
        ...(agent === undefined ? [] : [{ text: "agent = ?", value: toStorable(agent) }]),
        ...(updatedBeforeMs === undefined ? [] : [{ text: "updated_ms < ?", value: updatedBeforeMs }]),
      ]
      const where = conditions.length === 0 ? "" : `where ${conditions.map(({ text }) => text).join(" and ")}`
      const text = `select ${columns} from ${tables.sessions} ${where} order by updated_ms desc, ${sessionId} ${boundLimit}`
      const values = [...conditions.map(({ value }) => value), wholeRange({ limit }).limit]
      return (await sql.read(ANY_SESSION, text, values)).map(rows.session)
    },
    holdings: async (session) => {
      const list = (names: string, table: string, order: string): Promise<readonly StoredRow[]> =>
        sql.read(session, `select ${names} from ${table} where session = ? order by ${order}`, [toStorable(session)])
      return {
        payloads: (await list("hash", tables.payloads, "hash")).map((row) => rows.text(row, "hash")),
        summaries: (await list("key", tables.summaries, "key")).map((row) => rows.text(row, "key")),
        memory: (await list("tenant, agent, id", tables.memory, sql.memoryOrder)).map(rows.owned),
      }
    },
    putSummary: (session, key, json) => {
      const values = [session, key, json].map(toStorable)
      const put = `insert into ${tables.summaries} (session, key, json) values (?, ?, ?) on conflict do nothing`
      return sql.insert(session, { text: put, values }, { text: `${summary} and json = ?`, values })
    },
    getSummary: async (session, key) => {
      const [row] = await sql.read(session, summary, [toStorable(session), toStorable(key)])
      return row === undefined ? undefined : rows.text(row, "json")
    },
    findAliases: async (names) => {
      const read = await sql.read(ANY_SESSION, found, [sql.listOf(names.map(toStorable))])
      const aliases = new Map(read.map(rows.alias).map((alias) => [alias.name, alias]))
      return names.flatMap((name) => aliases.get(name) ?? [])
    },
  }
}

/** Limits the rows of a statement. A bare parameter would be part of the query plan: SQLite would plan again whenever it is bound. */
export const boundLimit = "limit 0 + ?"

export function createSqlJobs<List>(sql: SqlDialect<List>): JobStore {
  const { rows, tables } = sql
  const ofKey = "where session = ? and key = ?"
  const same = `select 1 from ${tables.jobs} ${ofKey} and kind = ? and payload = ?`
  return {
    put: ({ session, key, kind, payload }, now) => {
      const values = [session, key, kind, payload].map(toStorable)
      return sql.insert(session, { text: sql.putJob, values: [...values, now] }, { text: same, values })
    },
    lease: async (now, leaseMs) => {
      const row = await sql.lease(now, leaseMs)
      if (row === undefined) return undefined
      return {
        ...rows.job(row),
        attempt: rows.number(row, "attempt"),
        leasedUntilMs: rows.number(row, "leased_until_ms"),
      }
    },
    finish: async (session, key) => {
      await sql.write(session, `delete from ${tables.jobs} ${ofKey}`, [toStorable(session), toStorable(key)])
    },
    postpone: async (session, key, dueMs) => {
      const text = `update ${tables.jobs} set ${sql.freeJob} ${ofKey}`
      await sql.write(session, text, [dueMs, toStorable(session), toStorable(key)])
    },
    list: async (session) => {
      const where = session === undefined ? "" : "where session = ?"
      const text = `select session, key, kind, payload from ${tables.jobs} ${where} order by ${sql.jobOrder}`
      return (await sql.read(session ?? ANY_SESSION, text, session === undefined ? [] : [toStorable(session)])).map(
        rows.job,
      )
    },
  }
}

/** The columns of a memory row that are read, and the values written to them, in this order. */
export const memoryColumns =
  "session, id, tenant, agent, day, at_ms, kind, text, channel, trusted, sources, subject, superseded_by"

export const memoryValues = (row: MemoryRow) => ({
  session: toStorable(row.session),
  id: toStorable(row.id),
  tenant: toStorable(row.tenant),
  agent: toStorable(row.agent),
  day: toStorable(row.day),
  at_ms: row.atMs,
  kind: toStorable(row.kind),
  text: toStorable(row.text),
  channel: toStorable(row.channel),
  trusted: row.trusted,
  sources: row.sources.map(toStorable),
  subject: row.subject === undefined ? null : toStorable(row.subject),
  superseded_by: row.supersededBy === undefined ? null : toStorable(row.supersededBy),
})

/** Creates the memory calls that need no index of words. */
export function createMemoryReader<List>(
  sql: SqlDialect<List>,
): Pick<MemoryStore, "supersede" | "get" | "counts" | "days"> {
  const { rows, tables } = sql
  const ofOwner = `from ${tables.memory} where tenant = ? and agent = ?`
  const supersede = `update ${tables.memory} set superseded_by = ?
    where session = ? and ${sql.isAmong("id", "text")} and id <> ? and superseded_by is null`
  const get = `select ${memoryColumns} ${ofOwner} and ${sql.isAmong("id", "text")} order by ${sql.memoryOrder}`
  const count = (condition: string, name: string): string =>
    `cast(count(*) filter (where ${condition}) as integer) as ${name}`
  const counts = `select ${count("true", "rows")}, ${count("not trusted", "data")},
    ${count("session = ?", "own")}, ${count("session = ? and not trusted", "own_data")} ${ofOwner} and day = ?`
  const days = `select day, ${count("true", "rows")} ${ofOwner} group by day order by day desc`
  return {
    supersede: async (session, ids, by) => {
      const values = [toStorable(by), toStorable(session), sql.listOf(ids.map(toStorable)), toStorable(by)]
      await sql.write(session, supersede, values)
    },
    get: async ({ tenant, agent }, ids) => {
      const values = [toStorable(tenant), toStorable(agent), sql.listOf(ids.map(toStorable))]
      return (await sql.read(ANY_SESSION, get, values)).map(rows.memory)
    },
    counts: async ({ tenant, agent }, session, day) => {
      const [row] = await sql.read(session, counts, [session, session, tenant, agent, day].map(toStorable))
      return rows.counts(row ?? {})
    },
    days: async ({ tenant, agent }) => rows.days(await sql.read(ANY_SESSION, days, [tenant, agent].map(toStorable))),
  }
}
