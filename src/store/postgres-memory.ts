import type { MemoryStore } from "./memory-row.ts"
import type { Database } from "./postgres-database.ts"
import { decodeMemory, encodeMemory, memoryColumns, writeRows } from "./postgres-memory-row.ts"
import { numberIn, textIn } from "./postgres-row.ts"
import { createMemorySearch } from "./postgres-search.ts"
import { toStorable } from "./storable-text.ts"

/** An agent's memory in a table with a full-text index. */
export function createPostgresMemory(database: Database, schema: string): MemoryStore {
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
      return rows.map(decodeMemory)
    },
    counts: async ({ tenant, agent }, session, day) => {
      const text = `select count(*)::integer as rows, (count(*) filter (where not trusted))::integer as data,
        (count(*) filter (where session = $1))::integer as own,
        (count(*) filter (where session = $1 and not trusted))::integer as own_data
        from ${table} where tenant = $2 and agent = $3 and day = $4`
      const values = [session, tenant, agent, day].map(toStorable)
      const { rows } = await database.call((ask) => ask({ name: "memory-counts", text, values }))
      const [row = {}] = rows
      return {
        agent: { rows: numberIn(row, "rows"), data: numberIn(row, "data") },
        session: { rows: numberIn(row, "own"), data: numberIn(row, "own_data") },
      }
    },
    days: async ({ tenant, agent }) => {
      const text = `select day, count(*)::integer as rows from ${table}
        where tenant = $1 and agent = $2 group by day order by day desc`
      const values = [toStorable(tenant), toStorable(agent)]
      const { rows } = await database.call((ask) => ask({ name: "memory-days", text, values }))
      return rows.map((row) => ({ day: textIn(row, "day"), rows: numberIn(row, "rows") }))
    },
  }
}
