import type { Group } from "../../message/group.ts"

/** A group with what it takes, and whether it stays in any case: the latest user message, what is pending, the system's own words. */
export type SizedGroup = { readonly group: Group; readonly tokens: number; readonly mandatory: boolean }

export type StrategyOptions = {
  /** How many of the newest tool rounds are kept before anything else is. */
  readonly keepRounds: number
  /** The beginning's share of the room, where beginning and end are kept. */
  readonly headShare: number
  /** What an undecided hybrid weighs its candidates by. */
  readonly weights: { readonly reduction: number; readonly retention: number }
}

export const defaultStrategyOptions: StrategyOptions = {
  keepRounds: 3,
  headShare: 0.3,
  weights: { reduction: 0.6, retention: 0.4 },
}

/** What a strategy chooses from. `roomTokens` is for the groups that are not mandatory. */
export type Choice = {
  readonly groups: readonly SizedGroup[]
  readonly roomTokens: number
  readonly options: StrategyOptions
}

/** Chooses which groups stay, by index. It never splits one, and the mandatory ones stay whatever it says. */
export type Strategy = (choice: Choice) => ReadonlySet<number>

/** The groups from newest to oldest while they fit; the first that does not ends it, so that what stays is one stretch. */
export function newestThatFit(
  { groups }: Pick<Choice, "groups">,
  roomTokens: number,
  from = groups.length - 1,
): ReadonlySet<number> {
  return takeWhileFits(groups, roomTokens, from, -1)
}

/** The same from the oldest on. */
export function oldestThatFit({ groups }: Pick<Choice, "groups">, roomTokens: number): ReadonlySet<number> {
  return takeWhileFits(groups, roomTokens, 0, 1)
}

function takeWhileFits(
  groups: readonly SizedGroup[],
  roomTokens: number,
  from: number,
  step: 1 | -1,
): ReadonlySet<number> {
  const kept = new Set<number>()
  let left = roomTokens
  for (let at = from; at >= 0 && at < groups.length; at += step) {
    const sized = groups[at]
    if (sized === undefined) break
    if (!sized.mandatory) {
      if (sized.tokens > left) break
      left -= sized.tokens
    }
    kept.add(at)
  }
  return kept
}

/** What the groups of a choice take, the mandatory ones left out. */
export function tokensOf(groups: readonly SizedGroup[], kept: ReadonlySet<number>): number {
  let sum = 0
  for (const at of kept) {
    const sized = groups[at]
    if (sized !== undefined && !sized.mandatory) sum += sized.tokens
  }
  return sum
}
