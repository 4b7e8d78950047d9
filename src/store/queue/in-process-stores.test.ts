import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describeQueue } from "../../../test/contracts/queue/describe-queue.ts"
import type { QueueWorld } from "../../../test/contracts/queue/queue-world.ts"
import { describePostgres } from "../../../test/support/postgres-suite.ts"
import { openPostgresStore } from "../postgres-store.ts"
import { openSqliteStore } from "../sqlite-store.ts"
import type { Store } from "../store.ts"
import { createInProcessQueue } from "./create-queue.ts"

/** Each queue has its own store on the same file, like separate processes. */
const worldOf = (openStore: () => Promise<Store>, sweep: () => Promise<void>): QueueWorld => {
  const stores: Store[] = []
  return {
    open: async (options) => {
      const store = await openStore()
      stores.push(store)
      return createInProcessQueue(store.jobs, { pollMs: 20, ...options })
    },
    stop: async () => {
      for (const store of stores) await store.close()
      await sweep()
    },
  }
}

describeQueue("in process, over a SQLite file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-queue-"))
  return worldOf(
    () => openSqliteStore({ path: join(directory, "jobs.sqlite") }),
    () => rm(directory, { recursive: true, force: true }),
  )
})

await describePostgres("in process", (server) => {
  describeQueue("over a PostgreSQL store", async () => {
    const url = await server.createDatabase()
    return worldOf(
      () => openPostgresStore({ url }),
      async () => {},
    )
  })
})
