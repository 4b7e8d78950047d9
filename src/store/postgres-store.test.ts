import "../../test/support/property.ts"
import { randomBytes } from "node:crypto"
import { afterAll } from "vitest"
import { describeStore } from "../../test/contracts/store/describe-store.ts"
import { describePostgres } from "../../test/support/postgres-suite.ts"
import { openPostgresStore } from "./postgres-store.ts"
import type { Store } from "./store.ts"

/** Many stores are open at once; a server takes a hundred connections. */
const pool = { idleMs: 300 }

await describePostgres("PostgreSQL", (server) => {
  const opened: Store[] = []
  let database: Promise<string> | undefined
  let schemas = 0
  afterAll(async () => {
    for (const store of opened) await store.close()
  })
  describeIn("a store in PostgreSQL", {})
  describeIn("an encrypted store in PostgreSQL", { key: randomBytes(32) })

  function describeIn(name: string, encryption: { readonly key?: Uint8Array }): void {
    describeStore(name, async (now) => {
      database ??= server.createDatabase()
      const url = await database
      schemas += 1
      const schema = `store_${schemas}`
      const open = async (): Promise<Store> => {
        const store = await openPostgresStore({ url, schema, now, pool, ...encryption })
        opened.push(store)
        return store
      }
      const store = await open()
      const reopen = async (): Promise<Store> => {
        await store.close()
        return open()
      }
      return { store, reopen }
    })
  }
})
