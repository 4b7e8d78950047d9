import type { Job, JobStore } from "./job.ts"
import type { SqliteDatabase } from "./sqlite-database.ts"
import { ANY_SESSION } from "./sqlite-problem.ts"
import { numberOf, type SqliteRow, textOf } from "./sqlite-row.ts"
import { toStorable } from "./storable-text.ts"

export function createSqliteJobs(database: SqliteDatabase): JobStore {
  return {
    put: ({ session, key, kind, payload }, now) =>
      database.write(session, ({ run }) => {
        const sql = `INSERT INTO jobs VALUES (?, ?, (SELECT coalesce(max(place), 0) + 1 FROM jobs), ?, ?, 0, ?, 0)
          ON CONFLICT DO NOTHING`
        return run(sql, ...[session, key, kind, payload].map(toStorable), now) > 0
      }),
    lease: (now, leaseMs) =>
      database.write(ANY_SESSION, ({ get }) => {
        const sql = `UPDATE jobs SET attempt = attempt + 1, leased_until_ms = ?
          WHERE place = (SELECT place FROM jobs WHERE due_ms <= ? AND leased_until_ms <= ? ORDER BY place LIMIT 1)
          RETURNING *`
        const row = get(sql, now + leaseMs, now, now)
        if (row === undefined) return undefined
        return { ...jobOf(row), attempt: numberOf(row, "attempt"), leasedUntilMs: numberOf(row, "leased_until_ms") }
      }),
    finish: (session, key) =>
      database.write(session, ({ run }) => {
        run("DELETE FROM jobs WHERE session = ? AND key = ?", toStorable(session), toStorable(key))
      }),
    postpone: (session, key, dueMs) =>
      database.write(session, ({ run }) => {
        const sql = "UPDATE jobs SET due_ms = ?, leased_until_ms = 0 WHERE session = ? AND key = ?"
        run(sql, dueMs, toStorable(session), toStorable(key))
      }),
    list: (session) =>
      database.read(session ?? ANY_SESSION, ({ all }) => {
        const rows =
          session === undefined
            ? all("SELECT * FROM jobs ORDER BY place")
            : all("SELECT * FROM jobs WHERE session = ? ORDER BY place", toStorable(session))
        return rows.map(jobOf)
      }),
  }
}

function jobOf(row: SqliteRow): Job {
  return {
    key: textOf(row, "key"),
    session: textOf(row, "session"),
    kind: textOf(row, "kind"),
    payload: textOf(row, "payload"),
  }
}
