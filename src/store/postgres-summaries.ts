import type { Database } from "./postgres-database.ts"
import { textIn } from "./postgres-row.ts"
import { toStorable } from "./storable-text.ts"
import type { Store } from "./store.ts"

/** Background summaries: the first of a key stays. */
export function createSummaries(database: Database, schema: string): Pick<Store, "putSummary" | "getSummary"> {
  const put = `insert into ${schema}.summary (session, key, json) values ($1, $2, $3) on conflict do nothing`
  const get = `select json from ${schema}.summary where session = $1 and key = $2`
  return {
    putSummary: (session, key, json) => {
      const name = [toStorable(session), toStorable(key)]
      return database.call(async (ask, again) => {
        if ((await ask({ name: "summary-put", text: put, values: [...name, toStorable(json)] })).count > 0) return true
        // The one that is there may be the one that the lost connection put there.
        const { rows } = again ? await ask({ name: "summary-get", text: get, values: name }) : { rows: [] }
        return rows[0] !== undefined && textIn(rows[0], "json") === json
      })
    },
    getSummary: async (session, key) => {
      const values = [toStorable(session), toStorable(key)]
      const { rows } = await database.call((ask) => ask({ name: "summary-get", text: get, values }))
      return rows[0] === undefined ? undefined : textIn(rows[0], "json")
    },
  }
}
