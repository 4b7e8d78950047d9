import "../../test/support/property.ts"
import { randomBytes } from "node:crypto"
import pg from "pg"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import { describeStore } from "../../test/contracts/store/describe-store.ts"
import { describePostgres } from "../../test/support/postgres-suite.ts"
import { openPostgresStore } from "./postgres-store.ts"
import type { Store } from "./store.ts"

/** Many stores are open at once; a server takes a hundred connections. */
const pool = { idleMs: 300 }

await describePostgres("PostgreSQL", (server) => {
  const opened: Store[] = []
  let schemas = 0
  let url = ""
  let client: pg.Client
  beforeAll(async () => {
    url = await server.createDatabase()
    client = new pg.Client({ connectionString: url })
    await client.connect()
  })
  afterAll(() => client.end())

  /** What a session leaves behind is in these. */
  const tables = ["replica_event", "session", "entry", "payload", "summary", "job", "memory", "alias"]

  describeIn("a store in PostgreSQL", {})
  describeIn("an encrypted store in PostgreSQL", { key: randomBytes(32) })

  function describeIn(name: string, encryption: { readonly key?: Uint8Array }): void {
    const free: string[] = []
    describeStore(name, async (now) => {
      // Making a schema takes five times as long as emptying one: a test gives its own to the next.
      const schema = free.pop() ?? `store_${++schemas}`
      const open = async (): Promise<Store> => {
        const store = await openPostgresStore({ url, schema, now, pool, ...encryption })
        opened.push(store)
        return store
      }
      onTestFinished(async () => {
        for (const store of opened.splice(0)) await store.close()
        await client.query(tables.map((table) => `delete from ${schema}.${table};`).join(""))
        free.push(schema)
      })
      const store = await open()
      const reopen = async (): Promise<Store> => {
        await store.close()
        return open()
      }
      return { store, reopen }
    })
  }
})
