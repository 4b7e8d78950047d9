import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, expect, test } from "vitest"
import { batch } from "./example-rows.ts"
import { sqliteMigrations } from "./sqlite-migrations.ts"
import { openSqliteStore } from "./sqlite-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-migrate-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A file as the version left it that knew only the first steps, with something in it. */
function writeOldFile(version: number): string {
  const path = join(folder, `version-${version}.db`)
  const old = new DatabaseSync(path)
  for (const sql of sqliteMigrations.slice(0, version)) old.exec(sql)
  old.exec(`PRAGMA user_version = ${version}`)
  old.exec("INSERT INTO sessions VALUES ('s', 'clerk', 0, '', 1, 1); INSERT INTO summaries VALUES ('s', 'k', '{}')")
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
  "a file of version %i keeps what it has and becomes like a new one, whoever opens it",
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
