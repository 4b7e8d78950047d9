import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, expect, test } from "vitest"
import { openSqliteStore } from "./sqlite-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-aliases-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("two processes write the same names in different orders: none fails, and one has them all", async () => {
  const path = join(folder, "shared.db")
  const stores = await Promise.all([openSqliteStore({ path }), openSqliteStore({ path })])
  const names = Array.from({ length: 200 }, (_, at) => `name ${at}`)
  const rounds = Array.from({ length: 10 }, (_, at) => at)
  await Promise.all(
    stores.flatMap((store, who) =>
      rounds.map((round) => {
        const aliases = (who === 0 ? names : names.toReversed()).map((name) => ({ name, entry: `e${round}` }))
        return store.putAliases(`s${who}`, aliases)
      }),
    ),
  )
  const found = (await stores[0]?.findAliases(names)) ?? []
  expect(found).toHaveLength(names.length)
  expect(new Set(found.map(({ session, entry }) => `${session} ${entry}`)).size).toBe(1)
  for (const store of stores) await store.close()
})

test("finding names and removing those of a session do not scan all names", async () => {
  const path = join(folder, "plans.db")
  await (await openSqliteStore({ path })).close()
  const file = new DatabaseSync(path)
  const planOf = (sql: string): string =>
    JSON.stringify(
      file
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail),
    )
  const find = planOf("SELECT name, session, entry FROM aliases WHERE name IN (SELECT value FROM json_each('[]'))")
  const remove = planOf("DELETE FROM aliases WHERE session = 's'")
  for (const plan of [find, remove]) expect(plan).not.toContain("SCAN aliases")
  expect(find).toContain("SEARCH aliases USING PRIMARY KEY")
  expect(remove).toContain("aliases_by_session")
  file.close()
})
