import { open, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { OpenedConfig } from "../config/open-secrets.ts"
import { present } from "../message/present.ts"
import { maxKeyBytes } from "../operator/limits.ts"
import { type Operator, openOperator } from "../operator/operator.ts"
import { createHoldfast, type Holdfast } from "../session/holdfast.ts"
import { isPostgres } from "../store/open-store.ts"
import type { Store } from "../store/store.ts"
import { dataPlace, openPlace } from "./data-place.ts"
import { type Failure, isFailure, unusable } from "./failure.ts"
import { keepAdminToken } from "./serve-admin-token.ts"
import { type AdminAccess, sessionOptions } from "./serve-options.ts"

/** What a gateway stands on, opened. */
export type Ground = {
  readonly place: string
  readonly store: Store
  readonly holdfast: Holdfast
  readonly operator?: Operator
  readonly directory?: string
  readonly admin: AdminAccess
  /** Sessions first, then the operator's channel, then the store that both write to. */
  readonly close: () => Promise<void>
}

/** Open the store, the operator's channel and the sessions. What was opened is closed again if the rest cannot be. */
export async function openGround(config: OpenedConfig, now: () => number): Promise<Ground | Failure> {
  const data = config.data === undefined ? undefined : "place" in config.data ? config.data.place : config.data.secret
  const place = dataPlace(data, {})
  if (isFailure(place)) return place
  const store = await openPlace(place, { make: true })
  if (isFailure(store)) return store
  let operator: Operator | undefined
  try {
    const admin = await adminOf(config, place)
    if (isFailure(admin)) return await after(store.close(), admin)
    const channel = await operatorAt(config, place)
    if (isFailure(channel)) return await after(store.close(), channel)
    if (channel.isWanted)
      operator = await openOperator({
        store,
        keys: channel.keys,
        now,
        ...present({ directory: channel.directory, audience: config.operator.audience }),
      })
    const holdfast = createHoldfast({ ...sessionOptions(config), store, now, ...present({ operator }) })
    await holdfast.open()
    const close = async (): Promise<void> => {
      try {
        await holdfast.close()
      } finally {
        await operator?.close()
        await store.close()
      }
    }
    return { place, store, holdfast, admin, close, ...present({ operator, directory: channel.directory }) }
  } catch (error) {
    await operator?.close()
    await store.close()
    throw error
  }
}

async function after<Value>(closing: Promise<void>, value: Value): Promise<Value> {
  await closing
  return value
}

/** A configured token, else one that is kept beside the store's file; a database has no such place. */
async function adminOf({ admin }: OpenedConfig, place: string): Promise<AdminAccess | Failure> {
  if (admin.token !== undefined) return { token: admin.token }
  return isPostgres(place) ? {} : await keepAdminToken(place)
}

type ChannelPlace = { readonly isWanted: boolean; readonly directory?: string; readonly keys: readonly string[] }

/** A directory that was named has to be there; the usual one counts if it is. */
async function operatorAt({ operator }: OpenedConfig, place: string): Promise<ChannelPlace | Failure> {
  const keys: string[] = []
  for (const path of operator.keys) {
    const key = await readKey(path)
    if (key === undefined)
      return unusable(
        "input-unreadable",
        `The public key ${path} cannot be read.`,
        "Check operator.keys in the configuration.",
      )
    keys.push(key)
  }
  const usual = usualDirectory(place)
  const isThere = await stat(usual).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const directory = operator.directory ?? (isThere ? usual : undefined)
  return { isWanted: directory !== undefined || keys.length > 0, keys, ...present({ directory }) }
}

/** The folder `policy` beside the store's file; for a database, below the usual folder. */
export function usualDirectory(place: string): string {
  const usual = dataPlace(undefined, {})
  return join(dirname(isPostgres(place) && typeof usual === "string" ? usual : place), "policy")
}

async function readKey(path: string): Promise<string | undefined> {
  const file = await open(path, "r").catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    return size > maxKeyBytes ? undefined : await file.readFile("utf8")
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}
