import { present } from "../message/present.ts"
import type { Database } from "./postgres-database.ts"
import type { Row } from "./postgres-persist.ts"
import { textIn, textOrNoneIn } from "./postgres-row.ts"
import { toStorable } from "./storable-text.ts"
import type { FoundAlias, Store } from "./store.ts"

/** The names of sessions: the last bearer of a name has it. What is said again is not written again. */
export function createAliases(database: Database, schema: string): Pick<Store, "putAliases" | "findAliases"> {
  // Everyone takes the names in one order, so that two who take the same ones wait for each other and not in a circle.
  const put = `insert into ${schema}.alias as a (name, session, entry)
    select name, $1, entry from unnest($2::text[], $3::text[]) as said (name, entry) order by name collate "C"
    on conflict (name) do update set session = excluded.session, entry = excluded.entry
    where (a.session, a.entry) is distinct from (excluded.session, excluded.entry)`
  const find = `select name, session, entry from ${schema}.alias where name = any($1::text[])`
  return {
    putAliases: async (session, aliases) => {
      const names = aliases.map(({ name }) => toStorable(name))
      const entries = aliases.map(({ entry }) => (entry === undefined ? null : toStorable(entry)))
      await database.call((ask) => ask({ name: "alias-put", text: put, values: [toStorable(session), names, entries] }))
    },
    findAliases: async (names) => {
      const values = [names.map(toStorable)]
      const { rows } = await database.call((ask) => ask({ name: "alias-find", text: find, values }))
      const found = new Map(rows.map((row) => [textIn(row, "name"), aliasIn(row)]))
      return names.flatMap((name) => found.get(name) ?? [])
    },
  }
}

function aliasIn(row: Row): FoundAlias {
  return {
    name: textIn(row, "name"),
    session: textIn(row, "session"),
    ...present({ entry: textOrNoneIn(row, "entry") }),
  }
}
