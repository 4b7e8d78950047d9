import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, expect, test } from "vitest"
import { batch, clerk } from "../../test/contracts/store/example-rows.ts"
import { sqliteMigrations } from "./sqlite-database.ts"
import { openSqliteStore } from "./sqlite-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-migrate-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A file of a version with only the first migrations, with some data. */
function writeOldFile(version: number, name = `version-${version}`): string {
  const path = join(folder, `${name}.db`)
  const old = new DatabaseSync(path)
  for (const sql of sqliteMigrations.slice(0, version)) old.exec(sql)
  old.exec(`PRAGMA user_version = ${version}`)
  old.exec(`INSERT INTO sessions (session, agent, head_seq, head_hash, created_ms, updated_ms)
    VALUES ('s', 'clerk', 0, '', 1, 1)`)
  old.exec("INSERT INTO summaries VALUES ('s', 'k', '{}')")
  old.close()
  return path
}

function schemaOf(path: string) {
  const file = new DatabaseSync(path)
  const tables = file.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").all()
  const version = file.prepare("PRAGMA user_version").get()
  file.close()
  return { tables, version }
}

const versions = Array.from({ length: sqliteMigrations.length }, (_, at) => at + 1)

test.each(versions)(
  "a file of version %i keeps its data and becomes like a new one, whoever opens it",
  async (version) => {
    const path = writeOldFile(version)
    const [store, other] = await Promise.all([openSqliteStore({ path }), openSqliteStore({ path })])
    expect(await store.session("s")).toMatchObject({ id: "s", agent: "clerk" })
    expect(await store.getSummary("s", "k")).toBe("{}")
    expect(await store.append("s", batch(0, 1))).toEqual({ type: "appended" })
    await store.putAliases("s", [{ name: "n", entry: "e1" }])
    expect(await other.findAliases(["n"])).toEqual([{ name: "n", entry: "e1", session: "s" }])
    expect(await other.remove("s")).toBe(true)
    await Promise.all([store.close(), other.close()])
    const fresh = join(folder, `fresh-${version}.db`)
    await (await openSqliteStore({ path: fresh })).close()
    expect(schemaOf(path)).toEqual(schemaOf(fresh))
  },
)

/** The tag of an agent in the search index of versions without tenants: `a` and the beginning of its hash. */
const oldTag = (agent: string): string => `a${createHash("sha256").update(agent).digest("hex").slice(0, 16)}`

test("memory of versions without tenants belongs to the tenant of its session, or to none", async () => {
  const path = writeOldFile(2, "without-tenants")
  const old = new DatabaseSync(path)
  // Two gateway sessions, which have aliases, and two of programs, one with a dot in its id.
  const sessions = ["north.~1", "south.chat~tools", "plain", "dotted.name"]
  for (const [at, session] of sessions.entries()) {
    old.exec(`INSERT INTO sessions VALUES ('${session}', 'clerk', 0, '', 1, 1)`)
    old.exec(`INSERT INTO memory VALUES ('${session}', 'm${at}', ${at + 1}, 'clerk', '2026-11-15', ${at}, 'fact', 'user', 1, '[]',
      NULL, NULL, 'code of ${session}')`)
    old.exec(`INSERT INTO memory_words (rowid, tags, terms) VALUES (${at + 1}, '${oldTag("clerk")}', 'code of')`)
  }
  old.exec("INSERT INTO aliases VALUES ('n1', 'north.~1', NULL), ('n2', 'south.chat~tools', NULL)")
  old.close()
  const store = await openSqliteStore({ path })
  const found = async (tenant: string, text?: string): Promise<readonly string[]> => {
    const hits = await store.memory.search({ ...clerk, tenant, ...(text === undefined ? {} : { text }) })
    return hits.map(({ row }) => row.session).sort()
  }
  for (const text of [undefined, "code"]) {
    expect(await found("north", text)).toEqual(["north.~1"])
    expect(await found("south", text)).toEqual(["south.chat~tools"])
    expect(await found("", text)).toEqual(["dotted.name", "plain"])
    expect(await found("dotted", text)).toEqual([])
  }
  expect(await store.session("north.~1")).toMatchObject({ tenant: "north", agent: "clerk" })
  expect(await store.session("dotted.name")).toMatchObject({ tenant: "" })
  await store.close()
})
