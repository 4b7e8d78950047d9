import { createHash } from "node:crypto"
import { present } from "../../message/present.ts"
import type { Guard } from "../guard.ts"
import type { PolicyInput } from "../policy/policy-input.ts"
import { inForce, type LogState } from "./commands-in-force.ts"
import type { KeyRing } from "./key-ring.ts"
import { maxRules } from "./limits.ts"
import { tryPolicies } from "./policy-file.ts"
import type { DirectoryContent } from "./read-directory.ts"
import { faultIn } from "./rule-file.ts"
import type { OperatorRule, Standing } from "./standing.ts"

/** All that files and commands say, whether or not some of it has expired. */
export type Sayings = {
  readonly rules: readonly OperatorRule[]
  readonly policies: readonly PolicyInput[]
  readonly guard?: Guard
}

/** Put files and commands together; what does not go together is a Problem. A guard of the same policies is taken over. */
export function gatherSayings(
  { rules: ofFiles, policies: inFiles }: DirectoryContent,
  log: LogState,
  keys: KeyRing,
  before?: Sayings,
): Sayings {
  const commands = inForce(log, keys)
  const rules = [...ofFiles, ...commands.rules].map((rule) => Object.freeze(rule))
  if (rules.length > maxRules) throw faultIn("rules", undefined, `at most ${maxRules} rules`, `${rules.length}`)
  const policies = [...inFiles, ...[...commands.policies.values()].map(({ input }) => input)]
  const same = before !== undefined && JSON.stringify(before.policies) === JSON.stringify(policies)
  const guard = same ? before.guard : tryPolicies("policies", policies)
  return { rules, policies: Object.freeze(policies), ...present({ guard }) }
}

/** What stands at a moment, and when that ends by itself. */
export type Dated = { readonly standing: Standing; readonly fromMs: number; readonly untilMs: number }

/** Leave out what has expired. */
export function standingAt({ rules, policies, guard }: Sayings, nowMs: number): Dated {
  const standing = rules.filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > nowMs)
  const untilMs = standing.reduce((least, { expiresAtMs }) => Math.min(least, expiresAtMs ?? Infinity), Infinity)
  const version = createHash("sha256")
    .update(JSON.stringify([standing, policies]))
    .digest("hex")
  const made = { version, rules: Object.freeze(standing), policies, ...present({ guard }) }
  return { standing: Object.freeze(made), fromMs: nowMs, untilMs }
}
