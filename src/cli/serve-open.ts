import { open } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import type { Guard } from "../guard/guard.ts"
import { maxKeyBytes } from "../guard/operator/limits.ts"
import { type Operator, openOperator } from "../guard/operator/operator.ts"
import { createSelfProtection } from "../guard/self/self-protection.ts"
import { present } from "../message/present.ts"
import { createHoldfast, type Holdfast } from "../session/holdfast.ts"
import { type Claim, claimFile } from "../store/claim-file.ts"
import { isPostgres } from "../store/open-store.ts"
import type { Store } from "../store/store.ts"
import type { OpenedConfig } from "./config/open-secrets.ts"
import { dataPlace, openPlace } from "./data-place.ts"
import { type Failure, isFailure, unusable } from "./failure.ts"
import { type OwnPlaces, ownProcess } from "./own-process.ts"
import { keepAdminToken } from "./serve-admin-token.ts"
import { type AdminAccess, sessionOptions } from "./serve-options.ts"
import type { Settings } from "./serve-settings.ts"

/** What a gateway stands on, opened. */
export type Ground = {
  readonly place: string
  readonly store: Store
  readonly holdfast: Holdfast
  readonly operator: Operator
  /** The built-in policy: no call of an agent touches the gateway itself. */
  readonly guard: Guard
  readonly directory: string
  readonly admin: AdminAccess
  /** Sessions first, then the operator's channel, then the store that both write to. */
  readonly close: () => Promise<void>
}

export type GroundOptions = Pick<OwnPlaces, "env" | "port"> & {
  readonly now: () => number
  /** Serve without the rules and policies of a policy folder that is gone. */
  readonly withoutPolicyFolder?: boolean
}

/** A request must not wait longer than this for another program that has the store's file locked: it goes on with what is in memory. */
const servingBusyMs = 500

/** Open the store, the operator's channel and the sessions. What was opened is closed again if the rest cannot be. */
export async function openGround(
  settings: Settings,
  { now, env, port, withoutPolicyFolder = false }: GroundOptions,
): Promise<Ground | Failure> {
  const { config } = settings
  const data = config.data === undefined ? undefined : "place" in config.data ? config.data.place : config.data.secret
  const place = dataPlace(data, {})
  if (isFailure(place)) return place
  const store = await openPlace(place, { make: true, busyMs: servingBusyMs })
  if (isFailure(store)) return store
  let claim: Claim | undefined
  let operator: Operator | undefined
  try {
    claim = isPostgres(place) ? undefined : await claimFile(place)
    const admin = await adminOf(config, place)
    if (isFailure(admin)) return await after(store.close().then(claim?.release), admin)
    const channel = await operatorAt(config, place)
    if (isFailure(channel)) return await after(store.close().then(claim?.release), channel)
    const opened = await openOperator({
      store,
      now,
      ...channel,
      withoutDirectory: withoutPolicyFolder,
      ...present({ audience: config.operator.audience }),
    })
    operator = opened
    const places = { settings, place, policyFolder: channel.directory, admin, env, port }
    const guard = createSelfProtection(ownProcess(places))
    const holdfast = createHoldfast({ ...sessionOptions(config), store, now, operator, guard: { guard } })
    await holdfast.open()
    const close = async (): Promise<void> => {
      try {
        await holdfast.close()
      } finally {
        await opened.close()
        await store.close()
        claim?.release()
      }
    }
    return { place, store, holdfast, guard, admin, close, operator: opened, directory: channel.directory }
  } catch (error) {
    await operator?.close()
    await store.close()
    claim?.release()
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

type ChannelPlace = {
  readonly directory: string
  readonly directoryIs: "expected" | "optional"
  readonly keys: readonly string[]
}

/** A directory that was named has to be there; the usual one may also come later. */
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
  const { directory } = operator
  if (directory !== undefined) return { directory: resolve(directory), directoryIs: "expected", keys }
  return { directory: usualDirectory(place), directoryIs: "optional", keys }
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
