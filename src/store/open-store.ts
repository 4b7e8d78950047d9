import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { createMemoryStore } from "./memory-store.ts"
import { openPostgresStore } from "./postgres-store.ts"
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

export type StoreOptions = {
  /** How long a call waits while another program has the SQLite file locked. */
  readonly busyMs?: number
  /** Encrypt every text with this key of 32 bytes; it has to be the same whenever the store is opened. */
  readonly key?: Uint8Array
  /** The key that an encrypted store opens with from now on; `key` is the one until now. */
  readonly nextKey?: Uint8Array
}

const storeNames = optionNames<StoreOptions>()("busyMs key nextKey")

export const isPostgres = (name: string): boolean => /^postgres(?:ql)?:\/\//i.test(name)
