import { present } from "../message/present.ts"
import type { SqliteDatabase } from "./sqlite-database.ts"
import { ANY_SESSION } from "./sqlite-problem.ts"
import { maybe, type SqliteRow, textOf } from "./sqlite-row.ts"
import { toStorable } from "./storable-text.ts"
import type { FoundAlias, Store } from "./store.ts"

/** The names of sessions: the last bearer of a name has it. What is said again is not written again. */
export function createSqliteAliases(database: SqliteDatabase): Pick<Store, "putAliases" | "findAliases"> {
  return {
    putAliases: (session, aliases) =>
      database.write(session, ({ run }) => {
        const sql = `INSERT INTO aliases (name, session, entry) VALUES (?, ?, ?)
          ON CONFLICT DO UPDATE SET session = excluded.session, entry = excluded.entry
          WHERE session <> excluded.session OR entry IS NOT excluded.entry`
        for (const { name, entry } of aliases)
          run(sql, toStorable(name), toStorable(session), entry === undefined ? null : toStorable(entry))
      }),
    findAliases: async (names) => {
      const asked = JSON.stringify(names.map(toStorable))
      const sql = "SELECT name, session, entry FROM aliases WHERE name IN (SELECT value FROM json_each(?))"
      const rows = await database.read(ANY_SESSION, ({ all }) => all(sql, asked))
      const found = new Map(rows.map((row) => [textOf(row, "name"), aliasOf(row)]))
      return names.flatMap((name) => found.get(name) ?? [])
    },
  }
}

function aliasOf(row: SqliteRow): FoundAlias {
  return {
    name: textOf(row, "name"),
    session: textOf(row, "session"),
    ...present({ entry: maybe(row, "entry", textOf) }),
  }
}
