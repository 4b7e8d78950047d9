import { createAliases } from "./postgres-aliases.ts"
import { createAppend } from "./postgres-append.ts"
import { openDatabase } from "./postgres-database.ts"
import { createJobStore } from "./postgres-jobs.ts"
import { createLogReader } from "./postgres-log.ts"
import { createPostgresMemory } from "./postgres-memory.ts"
import { migrate } from "./postgres-migrate.ts"
import { type PostgresOptions, readPostgresOptions } from "./postgres-options.ts"
import { createSessions } from "./postgres-sessions.ts"
import { createSummaries } from "./postgres-summaries.ts"
import { reserveLog } from "./reserved-log.ts"
import type { Store } from "./store.ts"

/** Large tables take minutes. */
const vacuumMs = 30 * 60_000

/** Sessions in PostgreSQL, for as many processes as share it. The tables are made and brought up to date when it is opened. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const settings = readPostgresOptions(options)
  const { now = Date.now } = options
  const database = await openDatabase(settings)
  const { schema } = settings
  try {
    await migrate(database, schema)
  } catch (error) {
    await database.close()
    throw error
  }
  return reserveLog({
    kind: "postgres",
    isShared: true,
    append: createAppend(database, schema, now),
    ...createLogReader(database, schema),
    ...createSessions(database, schema, now),
    ...createSummaries(database, schema),
    ...createAliases(database, schema),
    jobs: createJobStore(database, schema),
    memory: createPostgresMemory(database, schema),
    // PostgreSQL looks after its own files; a page that it cannot read is an error of the call that needs it.
    check: () => database.call(async () => []),
    vacuum: async () => {
      const tables = ["session", "entry", "payload", "summary", "job", "memory", "alias"]
      const named = tables.map((table) => `${schema}.${table}`)
      await database.callLong(vacuumMs, (ask) => ask({ text: `vacuum (analyze) ${named.join(", ")}` }))
    },
    close: database.close,
  })
}
