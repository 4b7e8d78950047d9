import { createMemoryStore } from "./memory-store.ts"
import { openPostgresStore } from "./postgres-store.ts"
import { openSqliteStore } from "./sqlite-store.ts"
import type { Store } from "./store.ts"

/** A store by its name: `memory`, a `postgres://` address, or the path of an SQLite file. */
export async function openStore(name: string): Promise<Store> {
  if (name === "memory") return createMemoryStore()
  return isPostgres(name) ? openPostgresStore({ url: name }) : openSqliteStore({ path: name })
}

export const isPostgres = (name: string): boolean => /^postgres(?:ql)?:\/\//i.test(name)
