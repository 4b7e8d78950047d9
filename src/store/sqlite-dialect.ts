import { crc32 } from "node:zlib"
import { type PackedText, toStorable, unpackText } from "./packed-text.ts"
import { boundLimit, type SqlDialect } from "./sql-calls.ts"
import type { SqliteDatabase, SqliteTables } from "./sqlite-database.ts"
import { type Head, noHead, type OutlineEntry, type SessionId, type StoredEntry } from "./store.ts"
import { ANY_SESSION, corruptStore, createRowReader, type StoredRow } from "./stored-row.ts"

export const sqliteRows = createRowReader("sqlite")

export function createSqliteDialect(database: SqliteDatabase): SqlDialect<string> {
  return {
    rows: sqliteRows,
    tables: {
      sessions: "sessions",
      entries: "entries",
      payloads: "payloads",
      summaries: "summaries",
      jobs: "jobs",
      memory: "memory",
      aliases: "aliases",
    },
    sessionId: "session",
    jobOrder: "place",
    memoryOrder: "place",
    read: (session, text, values) => database.read(session, ({ all }) => all(text, ...values)),
    write: (session, text, values) => database.write(session, ({ run }) => run(text, ...values)),
    insert: (session, { text, values }) => database.write(session, ({ run }) => run(text, ...values) > 0),
    isAmong: (column) => `${column} in (select value from json_each(?))`,
    listOf: (values) => JSON.stringify(values),
    entriesIn: (session, columns, { from, to, limit }) =>
      database.read(session, (tables) => {
        const sql = `select ${columns} from entries where session = ? and seq >= ? and seq <= ? order by seq ${boundLimit}`
        const rows = tables.all(sql, toStorable(session), from, to, limit)
        const last = Math.min(to, sqliteHead(tables, session).seq, from - 1 + limit)
        if (rows.length === Math.max(0, last - from + 1)) return rows
        throw corruptStore("sqlite", session, "entries are missing")
      }),
    entryOf,
    payloadColumns: "body",
    payloadOf: (row) => sqliteRows.packed(row, "body"),
    putJob: `insert into jobs (session, key, kind, payload, due_ms, place, attempt, leased_until_ms)
      values (?, ?, ?, ?, ?, (select coalesce(max(place), 0) + 1 from jobs), 0, 0) on conflict do nothing`,
    freeJob: "due_ms = ?, leased_until_ms = 0",
    lease: (now, leaseMs) =>
      database.write(ANY_SESSION, ({ get }) => {
        const sql = `update jobs set attempt = attempt + 1, leased_until_ms = ?
          where place = (select place from jobs where due_ms <= ? and leased_until_ms <= ? order by place limit 1)
          returning *`
        return get(sql, now + leaseMs, now, now)
      }),
  }
}

/** The end of a session's log. */
export function sqliteHead({ get }: SqliteTables, session: SessionId): Head {
  const row = get("select head_seq, head_hash from sessions where session = ?", toStorable(session))
  return row === undefined ? noHead : sqliteRows.head(row)
}

/** A checksum over a whole entry, so that damage is detected when it is read. */
export function checksum({ seq, hash, type, atMs, parent, key }: OutlineEntry, body: PackedText): number {
  return crc32(body, crc32(toStorable(JSON.stringify([seq, hash, type, atMs, parent, key]))))
}

async function entryOf(session: SessionId, row: StoredRow): Promise<StoredEntry> {
  const outline = sqliteRows.outline(row)
  const packed = sqliteRows.packed(row, "body")
  const reason = `entry ${outline.seq} is not what it was`
  if (checksum(outline, packed) !== sqliteRows.number(row, "checksum")) throw corruptStore("sqlite", session, reason)
  try {
    return { ...outline, body: await unpackText(packed) }
  } catch (error) {
    throw corruptStore("sqlite", session, reason, error)
  }
}
