import { HoldfastError } from "../message/errors.ts"
import type { Database } from "./postgres-database.ts"
import { migrations } from "./postgres-migrations.ts"
import { type Ask, inTransaction } from "./postgres-persist.ts"

/** Building an index over a large table takes minutes; whoever waits for the one who does it waits as long. */
const migrateMs = 30 * 60_000

/**
 * Bring the tables up to date, all steps or none. Of several that start at once one does it and the others wait. Whoever finds them up
 * to date needs no right to change them.
 */
export async function migrate(database: Database, schema: string): Promise<void> {
  const found = await database.call((ask) => versionOf(ask, schema))
  if (isKnown(found)) return
  await database.callLong(
    migrateMs,
    inTransaction(async (ask) => {
      await ask({ text: "set local lock_timeout = 0" })
      await ask({ text: "select pg_advisory_xact_lock(hashtextextended($1, 0))", values: [`holdfast ${schema}`] })
      const version = await versionOf(ask, schema)
      if (isKnown(version)) return
      if (version === 0) {
        await ask({ text: `create schema if not exists ${schema}` })
        await ask({
          text: `create table ${schema}.migration (version integer primary key, made_at timestamptz not null)`,
        })
      }
      for (const [at, step] of migrations.entries()) {
        if (at < version) continue
        for (const text of step(schema)) await ask({ text })
        await ask({ text: `insert into ${schema}.migration values ($1, now())`, values: [at + 1] })
      }
    }),
  )
}

function isKnown(version: number): boolean {
  const known = migrations.length
  if (version > known) throw new HoldfastError({ code: "store-newer", store: "postgres", version, known })
  return version === known
}

/** 0 if there are no tables yet. */
async function versionOf(ask: Ask, schema: string): Promise<number> {
  const { rows: names } = await ask({
    text: "select to_regclass($1) is not null as there",
    values: [`${schema}.migration`],
  })
  if (names[0]?.there !== true) return 0
  const { rows } = await ask({ text: `select max(version) as version from ${schema}.migration` })
  const version = rows[0]?.version
  return typeof version === "number" ? version : 0
}
