import { stat, statfs } from "node:fs/promises"
import { dirname } from "node:path"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { describe, HoldfastError } from "../message/errors.ts"
import { isPostgres } from "../store/open-store.ts"
import { problemOfPath } from "../store/sqlite-problem.ts"
import { findPathFault } from "../store/store-file.ts"
import { openPlace, placeWords } from "./data-place.ts"
import { type Check, fail, ok, warn } from "./doctor-check.ts"
import { failureOf, isFailure } from "./failure.ts"
import { count } from "./paper.ts"

/** What was found of a store, and when a session in it last changed. */
export type StoreChecks = { readonly checks: readonly Check[]; readonly newestMs?: number }

/** Open the store if there is one, list a session, and see that it may be written; nothing is left behind. */
export async function checkStore(place: string): Promise<StoreChecks> {
  const disk = isPostgres(place) ? [] : [await checkDisk(place)]
  try {
    const fault = isPostgres(place) ? undefined : findPathFault(place)
    if (fault !== undefined) {
      const { sentence, next } = failureOf(new HoldfastError(problemOfPath(fault)))
      return { checks: [fail("store", sentence, next), ...disk] }
    }
    const store = await openPlace(place)
    if (isFailure(store)) {
      if (store.code !== "store-missing") return { checks: [fail("store", store.sentence, store.next), ...disk] }
      return { checks: [ok("store", `${placeWords(place)} is not there yet, and is made at the first start`), ...disk] }
    }
    try {
      const [newest] = await store.sessions({ limit: 1 })
      const [damage, ...more] = await store.check()
      if (damage !== undefined) {
        const others = more.length === 0 ? "" : `, and ${count(more.length, "more fault")}`
        const next = "Restore it from a backup; holdfast sessions verify says which sessions are damaged."
        return { checks: [fail("store", `${placeWords(place)} is damaged: ${damage}${others}`, next), ...disk] }
      }
      const says = newest === undefined ? "it has no session yet" : "it can be read and written"
      return {
        checks: [ok("store", `${placeWords(place)}: ${says}`), ...disk],
        ...(newest === undefined ? {} : { newestMs: newest.updatedMs }),
      }
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const { sentence, next } = failureOf(error)
    return { checks: [fail("store", sentence, next), ...disk] }
  }
}

async function nearestThere(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    (error: unknown) => !(error instanceof Error && "code" in error && /^(?:ENOENT|ENOTDIR)$/.test(String(error.code))),
  )
  return isThere || dirname(path) === path ? path : await nearestThere(dirname(path))
}

/** A day of busy agents writes about a gigabyte; SQLite cannot even roll back without some room. */
const scarceBytes = 1024 ** 3
const leastBytes = 50 * 1024 ** 2

async function checkDisk(place: string): Promise<Check> {
  const next = "Free some space, prune old sessions with holdfast sessions prune, or move the store with --data."
  try {
    const { bavail, bsize } = await statfs(await nearestThere(place))
    return diskCheck(bavail * bsize, next)
  } catch {
    return warn("disk", "nobody says how much room is left", "See to it yourself.")
  }
}

/** How much room is enough. */
export function diskCheck(freeBytes: number, next: string): Check {
  const says =
    freeBytes >= 1024 ** 3
      ? `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`
      : `${Math.floor(freeBytes / 1024 ** 2)} MB free`
  if (freeBytes < leastBytes) return fail("disk", says, next)
  return freeBytes < scarceBytes ? warn("disk", says, next) : ok("disk", says)
}

/** The operator's directory as a start would read it. A named one has to be there. */
export async function checkOperator(named: string | undefined, usual: string, now: () => number): Promise<Check> {
  const isThere = await stat(usual).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const directory = named ?? (isThere ? usual : undefined)
  if (directory === undefined) return ok("operator", "no policy directory: no rules from outside the conversation")
  try {
    const { standing, keys } = await inspectOperator({ directory, now })
    const policies = count(standing.guard?.policies.length ?? 0, "policy", "policies")
    return ok("operator", `${count(standing.rules.length, "rule")}, ${policies}, ${count(keys.size, "key")}`)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const { sentence, next } = describe(error.problem)
    return fail("operator", sentence, next)
  }
}
