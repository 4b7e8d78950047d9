import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { startPostgres } from "../test/support/postgres.ts"

/** The stores that sessions are measured on, each by the name that `createHoldfast` takes. */
export type Stores = {
  readonly folder: string
  /** Creates a fresh database on a PostgreSQL with fsync; undefined if none can be started, and `withoutPostgres` says why. */
  readonly postgres: (() => Promise<string>) | undefined
  readonly withoutPostgres?: string
  readonly close: () => Promise<void>
}

export async function openStores(): Promise<Stores> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-session-"))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    const server = await startPostgres()
    if (server.restart !== undefined) await waitForDisk(server.url)
    return {
      folder,
      postgres: server.createDatabase,
      close: async () => {
        remove()
        await server.stop()
      },
    }
  } catch (error) {
    const withoutPostgres = error instanceof Error ? error.message.slice(0, 200) : "it did not start"
    return { folder, postgres: undefined, withoutPostgres, close: async () => remove() }
  }
}

/** Turns fsync on: the server of the tests runs without it, but here durable has to mean durable. */
async function waitForDisk(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("alter system set fsync = on")
    await client.query("alter system set synchronous_commit = on")
    await client.query("select pg_reload_conf()")
  } finally {
    await client.end()
  }
}
