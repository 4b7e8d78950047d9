import { createHash } from "node:crypto"
import pg from "pg"
import { expect, test } from "vitest"
import { clerk } from "../../test/contracts/store/example-rows.ts"
import { describePostgres } from "../../test/support/postgres-suite.ts"
import { migrations } from "./postgres-migrations.ts"
import { openPostgresStore } from "./postgres-store.ts"

const versions = Array.from({ length: migrations.length }, (_, at) => at + 1)

async function query(url: string, texts: readonly string[]): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: readonly unknown[] = []
    for (const text of texts) rows = (await client.query(text)).rows
    return rows
  } finally {
    await client.end()
  }
}

/** Tables of a version with only the first migrations, with some data. */
const oldTables = (version: number): readonly string[] => [
  "create schema holdfast",
  "create table holdfast.migration (version integer primary key, made_at timestamptz not null)",
  ...migrations.slice(0, version).flatMap((step) => step("holdfast")),
  `insert into holdfast.migration select made, now() from generate_series(1, ${version}) as made`,
  `insert into holdfast.session (id, agent, head_seq, head_hash, created_ms, updated_ms)
    values ('s', 'clerk', 0, '', 1, 1)`,
  "insert into holdfast.summary values ('s', 'k', '{}')",
]

const columns = `select table_name, column_name, data_type, is_nullable, collation_name from information_schema.columns
  where table_schema = 'holdfast' order by table_name, ordinal_position`
const indexes = "select indexname, indexdef from pg_indexes where schemaname = 'holdfast' order by indexname"

await describePostgres("tables in PostgreSQL", (server) => {
  test.each(versions)("of version %i keep their data and become like new ones, whoever opens them", async (version) => {
    const url = await server.createDatabase()
    await query(url, oldTables(version))
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url })))
    const [store] = stores
    expect(await store?.session("s")).toMatchObject({ id: "s", agent: "clerk" })
    expect(await store?.getSummary("s", "k")).toBe("{}")
    await store?.putAliases("s", [{ name: "n", entry: "e1" }])
    expect(await stores[1]?.findAliases(["n"])).toEqual([{ name: "n", entry: "e1", session: "s" }])
    for (const one of stores) await one.close()
    expect(await query(url, ["select version from holdfast.migration order by version"])).toEqual(
      versions.map((known) => ({ version: known })),
    )
    const fresh = await server.createDatabase()
    await (await openPostgresStore({ url: fresh })).close()
    for (const shape of [columns, indexes]) expect(await query(url, [shape])).toEqual(await query(fresh, [shape]))
  })

  test("memory of versions without tenants belongs to the tenant of its session, or to none", async () => {
    const url = await server.createDatabase()
    const oldTag = `agent:${createHash("sha256").update("clerk").digest("hex").slice(0, 32)}`
    const rows = ["north.~1", "plain", "dotted.name"].flatMap((session, at) => [
      `insert into holdfast.session values ('${session}', 'clerk', 0, '', 1, 1)`,
      `insert into holdfast.memory values ('${session}', 'm${at}', 'clerk', '2026-11-15', ${at}, now(), ${at}, 'fact',
        'code of ${session}', 'user', true, '{}', null, null, ' code of ', array_to_tsvector(array['${oldTag}', 'code', 'of']))`,
    ])
    await query(url, [...oldTables(2), ...rows, "insert into holdfast.alias values ('n', 'north.~1', null)"])
    const store = await openPostgresStore({ url })
    const found = async (tenant: string, text?: string): Promise<readonly string[]> => {
      const hits = await store.memory.search({ ...clerk, tenant, ...(text === undefined ? {} : { text }) })
      return hits.map(({ row }) => row.session).sort()
    }
    for (const text of [undefined, "code"]) {
      expect(await found("north", text)).toEqual(["north.~1"])
      expect(await found("", text)).toEqual(["dotted.name", "plain"])
      expect(await found("dotted", text)).toEqual([])
    }
    await store.close()
  })
})
