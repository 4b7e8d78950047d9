import type { Database } from "./postgres-database.ts"
import { inTransaction, type Row, type Work } from "./postgres-persist.ts"
import { numberIn, textIn } from "./postgres-row.ts"
import { toStorable } from "./storable-text.ts"
import type { SessionRow, Store } from "./store.ts"

const columns = "id, tenant, agent, head_seq, head_hash, created_ms, updated_ms"

/** Every table that holds something of a session but its aliases, by the column that names it. The session's own row comes first: it is the lock. */
const tables = [
  ["session", "id"],
  ["entry", "session"],
  ["payload", "session"],
  ["summary", "session"],
  ["job", "session"],
  ["memory", "session"],
] as const

/** The largest number that `limit` and `seq` take. */
const largest = 2_147_483_647

/** To copy or delete a session of gigabytes takes minutes. */
const longMs = 10 * 60_000

/** Sessions as wholes. */
export function createSessions(
  database: Database,
  schema: string,
  now: () => number,
): Pick<Store, "session" | "sessions" | "holdings" | "copy" | "remove"> {
  return {
    session: async (session) => {
      const text = `select ${columns} from ${schema}.session where id = $1`
      const { rows } = await database.call((ask) => ask({ name: "session", text, values: [toStorable(session)] }))
      return rows[0] === undefined ? undefined : sessionIn(rows[0])
    },
    sessions: async ({ tenant, agent, updatedBeforeMs, limit = largest } = {}) => {
      const values: unknown[] = [Math.trunc(Math.max(0, Math.min(limit, largest)))]
      const conditions = ["true"]
      if (tenant !== undefined) conditions.push(`tenant = $${values.push(toStorable(tenant))}`)
      if (agent !== undefined) conditions.push(`agent = $${values.push(toStorable(agent))}`)
      if (updatedBeforeMs !== undefined) conditions.push(`updated_ms < $${values.push(updatedBeforeMs)}`)
      const text = `select ${columns} from ${schema}.session where ${conditions.join(" and ")}
        order by updated_ms desc, id limit $1`
      return (await database.call((ask) => ask({ text, values }))).rows.map(sessionIn)
    },
    holdings: (session) => {
      const values = [toStorable(session)]
      return database.call(async (ask) => {
        const list = async (columns: string, table: string, order: string): Promise<readonly Row[]> =>
          (
            await ask({
              text: `select ${columns} from ${schema}.${table} where session = $1 order by ${order}`,
              values,
            })
          ).rows
        const payloads = (await list("hash", "payload", "hash")).map((row) => textIn(row, "hash"))
        const summaries = (await list("key", "summary", "key")).map((row) => textIn(row, "key"))
        const memory = await list("tenant, agent, id", "memory", "put_at, put_no")
        return {
          payloads,
          summaries,
          memory: memory.map((row) => ({
            tenant: textIn(row, "tenant"),
            agent: textIn(row, "agent"),
            id: textIn(row, "id"),
          })),
        }
      })
    },
    copy: (from, to, upTo) => {
      const last = Math.trunc(Math.max(0, Math.min(upTo, largest)))
      return database.callLong(longMs, createCopy(schema, [toStorable(from), toStorable(to), last], now()))
    },
    remove: async (session) => {
      let removed = false
      const work = inTransaction(async (ask) => {
        for (const text of deletionsIn(schema)) {
          // What an earlier try found may be gone by now.
          removed = (await ask({ text, values: [toStorable(session)] })).count > 0 || removed
        }
      })
      await database.callLong(longMs, work)
      return removed
    },
  }
}

/** Aliases are taken in the order in which they are put, so that nobody waits for another in a circle. */
function deletionsIn(schema: string): readonly string[] {
  const aliases = `delete from ${schema}.alias using (
      select name as mine from ${schema}.alias where session = $1 order by name for update
    ) as taken where name = mine and session = $1`
  return [...tables.map(([table, column]) => `delete from ${schema}.${table} where ${column} = $1`), aliases]
}

/** One statement, so that it sees the other session as it is at one moment. */
function createCopy(schema: string, values: readonly [string, string, number], nowMs: number): Work<boolean> {
  const copy = `with head as (
    insert into ${schema}.session (${columns})
    select $2, s.tenant, s.agent, e.seq, e.hash, $4, $4 from ${schema}.session s, lateral (
      select seq, hash from ${schema}.entry where session = $1 and seq <= $3 order by seq desc limit 1
    ) as e where s.id = $1
    on conflict do nothing returning head_seq
  ), lines as (
    insert into ${schema}.entry (session, seq, hash, type, at_ms, parent, key, body)
    select $2, e.seq, e.hash, e.type, e.at_ms, e.parent, e.key, e.body from head, ${schema}.entry e
    where e.session = $1 and e.seq <= head.head_seq
  ), texts as (
    insert into ${schema}.payload (session, hash, packed, data)
    select $2, p.hash, p.packed, p.data from head, ${schema}.payload p where p.session = $1
  ) select 1 from head`
  const equal = `select 1 from ${schema}.entry a, ${schema}.entry b where a.session = $1 and b.session = $2 and a.seq = b.seq
    and a.hash = b.hash and a.seq = (select max(seq) from ${schema}.entry where session = $1 and seq <= $3)`
  return async (ask, again) => {
    if ((await ask({ text: copy, values: [...values, nowMs] })).rows.length > 0) return true
    const { rows } = await ask({ text: `select 1 from ${schema}.session where id = $1`, values: [values[1]] })
    // What is there may be what the lost connection wrote. If nothing is there, there was nothing to copy.
    return rows.length === 0 || (again && (await ask({ text: equal, values })).rows.length > 0)
  }
}

function sessionIn(row: Row): SessionRow {
  return {
    id: textIn(row, "id"),
    tenant: textIn(row, "tenant"),
    agent: textIn(row, "agent"),
    head: { seq: numberIn(row, "head_seq"), hash: textIn(row, "head_hash") },
    createdMs: numberIn(row, "created_ms"),
    updatedMs: numberIn(row, "updated_ms"),
  }
}
