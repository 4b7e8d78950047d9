import type { Job, JobStore } from "./job.ts"
import type { Database } from "./postgres-database.ts"
import type { Row } from "./postgres-persist.ts"
import { numberIn, textIn } from "./postgres-row.ts"
import { toStorable } from "./storable-text.ts"

/** Jobs in a table: a job is free from `free_ms` on, which a lease and a postponement move into the future. */
export function createJobStore(database: Database, schema: string): JobStore {
  const table = `${schema}.job`
  return {
    put: ({ key, session, kind, payload }, now) => {
      const values = [session, key, kind, payload].map(toStorable)
      const put = `insert into ${table} (session, key, kind, payload, attempt, free_ms)
        values ($1, $2, $3, $4, 0, $5) on conflict do nothing`
      const same = `select 1 from ${table} where session = $1 and key = $2 and kind = $3 and payload = $4`
      return database.call(async (ask, again) => {
        if ((await ask({ name: "job-put", text: put, values: [...values, now] })).count > 0) return true
        // The one that is there may be the one that the lost connection put there.
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
      // Cut off in the middle it may have leased a job to nobody: that one is free again when its lease is over.
      return database.call(async (ask) => {
        const [row] = (await ask({ name: "job-lease", text, values: [now, now + leaseMs] })).rows
        if (row === undefined) return undefined
        return { ...jobIn(row), attempt: numberIn(row, "attempt"), leasedUntilMs: numberIn(row, "free_ms") }
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
      return database.call(async (ask) => (await ask({ text, values })).rows.map(jobIn))
    },
  }
}

function jobIn(row: Row): Job {
  return {
    key: textIn(row, "key"),
    session: textIn(row, "session"),
    kind: textIn(row, "kind"),
    payload: textIn(row, "payload"),
  }
}
