import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { createMemoryStore } from "./memory-store.ts"
import { openPostgresStore } from "./postgres-store.ts"
import type { StoreKeys } from "./sealed-store.ts"
import { openSqliteStore } from "./sqlite-store.ts"
import type { Store } from "./store.ts"

/** A store by its name: `memory`, a `postgres://` address, or the path of an SQLite file. */
export async function openStore(name: string, options: StoreOptions = {}): Promise<Store> {
  checkOptionNames(options, storeNames, "openStore")
  const { busyMs, key, nextKey } = options
  if (name === "memory") return createMemoryStore()
  return isPostgres(name)
    ? openPostgresStore({ url: name, ...present({ key, nextKey }) })
    : openSqliteStore({ path: name, ...present({ busyMs, key, nextKey }) })
}

export type StoreOptions = StoreKeys & {
  /** How long a call waits while another program has the SQLite file locked. */
  readonly busyMs?: number
}

const storeNames = optionNames<StoreOptions>()("busyMs key nextKey")

export const isPostgres = (name: string): boolean => /^postgres(?:ql)?:\/\//i.test(name)
