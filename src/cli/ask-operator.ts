import { statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { describe, HoldfastError } from "../message/errors.ts"
import { isPostgres } from "../store/open-store.ts"
import { operatorLog } from "../store/reserved-log.ts"
import type { Store } from "../store/store.ts"
import type { Arguments, Options } from "./arguments.ts"
import { type Answer, storeOptions, tellAnswer } from "./ask-store.ts"
import { damagedPlace, dataPlace, openPlace } from "./data-place.ts"
import { type Failure, isFailure, misuse, unusable } from "./failure.ts"
import type { World } from "./world.ts"

export const policyOption: Options = {
  policy: { value: "DIR", help: "the policy directory; the folder policy beside the store's file unless given" },
}

/** What every command that asks the operator's channel takes. */
export const operatorOptions: Options = { ...policyOption, ...storeOptions }

/** Where the channel is: the store, if there is one yet, and the policy directory, if there is one. */
export type AskedOperator = { readonly store?: Store; readonly directory?: string; readonly place: string }

/** The policy directory: `--policy`, else HOLDFAST_POLICY, else `policy` beside the store's file; for a database, `.holdfast/policy`. */
export function policyPlace(args: Arguments, env: World["env"], place: string): string | Failure {
  const named = args.valueOf("policy") ?? (env.HOLDFAST_POLICY === "" ? undefined : env.HOLDFAST_POLICY)
  if (named === "" || named?.includes("\0") === true)
    return misuse("--policy names no folder.", "Give the folder in which the rules lie.")
  if (named !== undefined) return resolve(named)
  const usual = dataPlace(undefined, {})
  return join(dirname(isPostgres(place) && typeof usual === "string" ? usual : place), "policy")
}

const isNamed = (args: Arguments, env: World["env"]): boolean =>
  args.valueOf("policy") !== undefined || (env.HOLDFAST_POLICY ?? "") !== ""

/** Open what there is of store and directory, ask, close the store, and tell the answer. A directory that was named has to be there. */
export async function askOperator(
  args: Arguments,
  world: World,
  ask: (asked: AskedOperator) => Promise<Answer | Failure>,
  { make = false } = {},
): Promise<0 | Failure> {
  const place = dataPlace(args.valueOf("data"), world.env)
  if (isFailure(place)) return place
  const directory = policyPlace(args, world.env, place)
  if (isFailure(directory)) return directory
  const isThere = isNamed(args, world.env) || statSync(directory, { throwIfNoEntry: false }) !== undefined
  const opened = await openPlace(place, { make })
  if (isFailure(opened) && opened.code !== "store-missing") return opened
  const store = isFailure(opened) ? {} : { store: opened }
  try {
    const answer = await ask({ place, ...store, ...(isThere ? { directory } : {}) })
    return isFailure(answer) ? answer : await tellAnswer(answer, args.isOn("json"), world)
  } catch (error) {
    return damagedLog(error) ?? damagedPlace(error, place)
  } finally {
    await store.store?.close()
  }
}

/** What only the operator's channel can get into, with what to do about it; the audit log cannot be deleted like a session. */
function damagedLog(error: unknown): Failure | undefined {
  if (!(error instanceof HoldfastError)) return undefined
  const { problem } = error
  if (problem.code === "key-invalid" && /^[0-9a-f]{32}$/.test(problem.key)) {
    const next = "Put its .pub file where it belongs; until then nobody can say what stands."
    return { ...unusable(problem.code, describe(problem).sentence, next), problem }
  }
  if (problem.code !== "store-corrupt" || problem.session !== operatorLog) return undefined
  const sentence = `The audit log of the operator's channel is damaged: ${problem.reason}.`
  const next =
    "Restore the store from a backup. Programs that run keep what stood when they last read it; restart none before."
  return { ...unusable(problem.code, sentence, next), problem }
}
