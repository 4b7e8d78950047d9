import { wholeRange } from "./batch.ts"
import type { SqliteDatabase, SqliteTables } from "./sqlite-database.ts"
import { ANY_SESSION } from "./sqlite-problem.ts"
import { numberOf, type SqliteRow, textOf } from "./sqlite-row.ts"
import { toStorable } from "./storable-text.ts"
import type { Holdings, SessionFilter, SessionId, SessionRow, Store } from "./store.ts"

/** The calls of a store that concern sessions as a whole. */
export type SessionCalls = Pick<
  Store,
  "session" | "sessions" | "holdings" | "copy" | "remove" | "putSummary" | "getSummary"
>

export function createSqliteSessions(database: SqliteDatabase, now: () => number): SessionCalls {
  return {
    session: (session) =>
      database.read(session, ({ get }) => {
        const row = get("SELECT * FROM sessions WHERE session = ?", toStorable(session))
        return row === undefined ? undefined : sessionOf(row)
      }),
    sessions: (filter) => database.read(ANY_SESSION, (tables) => list(tables, filter)),
    holdings: (session) => database.read(session, (tables) => holdings(tables, toStorable(session))),
    copy: (from, to, upTo) => database.write(from, (tables) => copy(tables, [from, to].map(toStorable), upTo, now())),
    remove: (session) => database.write(session, (tables) => remove(tables, toStorable(session))),
    putSummary: (session, key, json) =>
      database.write(session, ({ run }) => {
        const sql = "INSERT INTO summaries VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        return run(sql, toStorable(session), toStorable(key), toStorable(json)) > 0
      }),
    getSummary: (session, key) =>
      database.read(session, ({ get }) => {
        const sql = "SELECT json FROM summaries WHERE session = ? AND key = ?"
        const row = get(sql, toStorable(session), toStorable(key))
        return row === undefined ? undefined : textOf(row, "json")
      }),
  }
}

function sessionOf(row: SqliteRow): SessionRow {
  return {
    id: textOf(row, "session"),
    tenant: textOf(row, "tenant"),
    agent: textOf(row, "agent"),
    head: { seq: numberOf(row, "head_seq"), hash: textOf(row, "head_hash") },
    createdMs: numberOf(row, "created_ms"),
    updatedMs: numberOf(row, "updated_ms"),
  }
}

function list({ all }: SqliteTables, filter: SessionFilter = {}): readonly SessionRow[] {
  const { tenant, agent, updatedBeforeMs } = filter
  const limit = wholeRange(filter.limit === undefined ? {} : { limit: filter.limit }).limit
  const conditions = [
    ...(tenant === undefined ? [] : ["tenant = ?"]),
    ...(agent === undefined ? [] : ["agent = ?"]),
    ...(updatedBeforeMs === undefined ? [] : ["updated_ms < ?"]),
  ]
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
  const rows = all(
    `SELECT * FROM sessions ${where} ORDER BY updated_ms DESC, session LIMIT ?`,
    ...(tenant === undefined ? [] : [toStorable(tenant)]),
    ...(agent === undefined ? [] : [toStorable(agent)]),
    ...(updatedBeforeMs === undefined ? [] : [updatedBeforeMs]),
    limit,
  )
  return rows.map(sessionOf)
}

function holdings({ all }: SqliteTables, session: SessionId): Holdings {
  const payloads = all("SELECT hash FROM payloads WHERE session = ? ORDER BY hash", session)
  const summaries = all("SELECT key FROM summaries WHERE session = ? ORDER BY key", session)
  const memory = all("SELECT tenant, agent, id FROM memory WHERE session = ? ORDER BY place", session)
  return {
    payloads: payloads.map((row) => textOf(row, "hash")),
    summaries: summaries.map((row) => textOf(row, "key")),
    memory: memory.map((row) => ({
      tenant: textOf(row, "tenant"),
      agent: textOf(row, "agent"),
      id: textOf(row, "id"),
    })),
  }
}

function copy(
  { get, run }: SqliteTables,
  [from = "", to = ""]: readonly string[],
  upTo: number,
  atMs: number,
): boolean {
  if (get("SELECT 1 FROM sessions WHERE session = ?", to) !== undefined) return false
  const last = wholeRange({ to: upTo }).to
  const copied = run(
    `INSERT INTO sessions (session, tenant, agent, head_seq, head_hash, created_ms, updated_ms)
      SELECT ?, tenant, agent, seq, hash, ?, ? FROM entries JOIN sessions USING (session)
      WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,
    ...[to, atMs, atMs, from, last],
  )
  if (copied === 0) return true
  run(
    `INSERT INTO entries SELECT ?, seq, hash, type, at_ms, parent, key, checksum, packed, body FROM entries
      WHERE session = ? AND seq <= ? ORDER BY seq`,
    ...[to, from, last],
  )
  run("INSERT INTO payloads SELECT ?, hash, packed, body FROM payloads WHERE session = ?", to, from)
  return true
}

function remove({ run }: SqliteTables, session: string): boolean {
  const removed = [
    run("DELETE FROM sessions WHERE session = ?", session),
    run("DELETE FROM summaries WHERE session = ?", session),
    run("DELETE FROM jobs WHERE session = ?", session),
    run("DELETE FROM memory_words WHERE rowid IN (SELECT place FROM memory WHERE session = ?)", session),
    run("DELETE FROM memory WHERE session = ?", session),
    run("DELETE FROM aliases WHERE session = ?", session),
  ]
  return removed.some((count) => count > 0)
}
