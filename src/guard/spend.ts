import type { Verdict } from "./guard.ts"
import type { GuardUse } from "./guard-use.ts"
import type { JudgedCall } from "./judge-call.ts"

/** The largest sum that a purchase names, in hundredths; any other call spends nothing. */
export function costOf({ facts }: Pick<Verdict, "facts">): number {
  if (!facts.actions.has("purchase")) return 0
  return facts.amounts.reduce((most, { minor }) => Math.max(most, minor), 0)
}

/** Hundredths that calls spend: those that were let through. */
export const spentWith = (judged: readonly JudgedCall[]): number =>
  judged.reduce((sum, { verdict, result }) => sum + (result === undefined ? costOf(verdict) : 0), 0)

/** The same use with so much more spent: calls of one answer cannot each have the whole of a limit. */
export function withSpent(use: GuardUse, minor: number): GuardUse {
  if (minor === 0) return use
  const { circumstances = {} } = use
  return { ...use, circumstances: { ...circumstances, spentMinor: (circumstances.spentMinor ?? 0) + minor } }
}
