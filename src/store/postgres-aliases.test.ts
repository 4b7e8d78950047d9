import pg from "pg"
import { expect, test } from "vitest"
import { describePostgres } from "../../test/support/postgres-suite.ts"
import { openPostgresStore } from "./postgres-store.ts"

const names = Array.from({ length: 400 }, (_, at) => `name ${at}`)

/** Orders in which two writers without a common lock order would deadlock. */
const orders = [names, names.toReversed(), [...names.slice(200), ...names.slice(0, 200)]]

await describePostgres("aliases in PostgreSQL", (server) => {
  test("several stores write the same names in different orders while others remove them, without deadlock", async () => {
    const url = await server.createDatabase()
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url, pool: { max: 3 } })))
    const rounds = Array.from({ length: 15 }, (_, at) => at)
    await Promise.all(
      stores.map(async (store, who) => {
        for (const round of rounds) {
          const aliases = (orders[who] ?? names).map((name) => ({ name, entry: `e${round}` }))
          await Promise.all([
            store.putAliases(`s${who}`, aliases),
            round % 3 === 0 ? store.remove(`s${round % 2}`) : true,
          ])
        }
      }),
    )
    await stores[0]?.putAliases("last", [{ name: "name 0" }])
    const found = (await stores[1]?.findAliases(names)) ?? []
    expect(new Set(found.slice(1).map(({ session, entry }) => `${session} ${entry}`)).size).toBeLessThanOrEqual(1)
    for (const store of stores) await store.close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    // Statistics of a connection are visible once it has ended.
    const { rows } = await client.query("select deadlocks from pg_stat_database where datname = current_database()")
    await client.end()
    expect(rows).toEqual([{ deadlocks: "0" }])
  })

  test("names are found and removed by their indexes", async () => {
    const url = await server.createDatabase()
    await (await openPostgresStore({ url })).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query("set enable_seqscan = off")
    const planOf = async (text: string): Promise<string> => JSON.stringify((await client.query(`explain ${text}`)).rows)
    expect(await planOf("select * from holdfast.alias where name = any(array['a', 'b'])")).toContain("alias_pkey")
    expect(await planOf("delete from holdfast.alias where session = 's'")).toContain("alias_by_session")
    await client.end()
  })
})
