import { type Stats, statSync } from "node:fs"
import { extname, join, relative, resolve } from "node:path"
import { HoldfastError } from "../message/errors.ts"
import { isPostgres, openStore, type StoreOptions } from "../store/open-store.ts"
import { ANY_SESSION, problemOfPath } from "../store/sqlite-problem.ts"
import type { Store } from "../store/store.ts"
import { findPathFault } from "../store/store-file.ts"
import type { Options } from "./arguments.ts"
import { type Failure, misuse, unusable } from "./failure.ts"
import { sentenceOf } from "./printable.ts"
import type { World } from "./world.ts"

const usualFolder = ".holdfast"
const usualFile = "holdfast.db"

export const dataOption: Options = {
  data: { value: "PLACE", help: `the store: a folder, a file or a postgres:// address; ${usualFolder} unless given` },
}

/** Where the store is: `--data`, else HOLDFAST_DATA, else the usual place below the working folder. An address is never quoted. */
export function dataPlace(given: string | undefined, env: World["env"]): string | Failure {
  const named = given ?? (env.HOLDFAST_DATA === "" ? undefined : env.HOLDFAST_DATA) ?? join(usualFolder, usualFile)
  const next = "Give a folder, a file, or an address that begins with postgres://"
  if (named === "" || named.includes("\0")) return misuse("--data names no place.", next)
  if (isPostgres(named)) return named
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(named)) return misuse("--data is an address of no store that is known.", next)
  return isFolder(named) ? join(resolve(named), usualFile) : resolve(named)
}

/** One that is not there yet is a folder unless its name has an extension. */
function isFolder(named: string): boolean {
  const found = statOf(named)
  if (typeof found === "object") return found.isDirectory()
  return /[\\/]$/.test(named) || extname(named) === ""
}

function statOf(path: string): Stats | "hidden" | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // It may be there and not for us to see; opening it will say so.
    return "hidden"
  }
}

/** A place in words, fit to be printed. */
export const placeWords = (place: string): string =>
  isPostgres(place)
    ? "the PostgreSQL store"
    : `the store ${sentenceOf(shortest(relative(process.cwd(), place), place))}`

const shortest = (one: string, other: string): string => (one.length < other.length ? one : other)

const isMissing = (place: string): boolean => !isPostgres(place) && statOf(place) === undefined

const missingStore = (place: string): Failure =>
  unusable(
    "store-missing",
    `There is no store yet: ${shortest(relative(process.cwd(), place), place)} does not exist.`,
    "Say where it is with --data or HOLDFAST_DATA; it is made when a session is first written.",
  )

/** Open the store at a place, which is made only if that is asked for. */
export async function openPlace(
  place: string,
  { make = false, ...options }: StoreOptions & { readonly make?: boolean } = {},
): Promise<Store | Failure> {
  try {
    if (!make && isMissing(place)) {
      const fault = findPathFault(place)
      if (fault?.cause === "not-a-folder") throw new HoldfastError(problemOfPath(fault))
      return missingStore(place)
    }
    return await openStore(place, options)
  } catch (error) {
    return damagedPlace(error, place)
  }
}

/** A damage that is not in one session alone, in words; anything else is thrown again. */
export function damagedPlace(error: unknown, place: string): Failure {
  const problem = error instanceof HoldfastError ? error.problem : undefined
  if (problem?.code !== "store-corrupt" || problem.session !== ANY_SESSION) throw error
  const sentence = `${placeWords(place).replace(/^t/, "T")} is damaged, or is no store: ${problem.reason}.`
  return { ...unusable(problem.code, sentence, "Restore it from a backup, or name another one with --data."), problem }
}
