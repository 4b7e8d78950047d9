import { trust } from "../message/channel.ts"
import type { Pin } from "./pin.ts"
import type { Explicitness, RuleKind } from "./rule.ts"

export type CarryOptions = {
  /** What the rules that were found may take together. */
  readonly budgetTokens: number
  readonly count: (text: string) => number
}

export type Carried = {
  readonly carried: readonly Pin[]
  /** Rules for which there was no room. */
  readonly leftOut: readonly Pin[]
}

/** Rules that one tool source may carry on: a page of them. A source with more is a flood, or no policy. */
const maxPerSource = 16
/** Of the budget so much is for rules out of tools, however many sources there are. */
const toolShare = 0.25
/** The bullet, the line's end, and its share of the label. */
const framingTokens = 4

/** No rule takes less. */
const leastTokens = framingTokens + 1

const plain: Readonly<Record<Explicitness, number>> = { stated: 2, modal: 1, genre: 0 }
const weight: Readonly<Record<RuleKind, number>> = {
  prohibition: 4,
  "permission-limit": 3,
  obligation: 2,
  permission: 1,
  preference: 0,
}

const standingOf = ({ channel, explicitness = "genre", kind }: Pin): number =>
  trust(channel) * 100 + plain[explicitness] * 10 + weight[kind]

/**
 * Which rules are carried beside the conversation. Those of the operator, and those that someone asked for, always; those that were
 * found as far as the budget goes: the most trusted channel first, then the plainest, then the newest.
 */
export function carryPins(inForce: readonly Pin[], { budgetTokens, count }: CarryOptions): Carried {
  const chosen = new Set<Pin>(inForce.filter(({ by }) => by !== "found"))
  const found = inForce.map((pin, at) => ({ pin, at })).filter(({ pin }) => pin.by === "found")
  const ranked = found.sort((one, other) => standingOf(other.pin) - standingOf(one.pin) || other.at - one.at)
  const bySource = new Map<string, number>()
  let [free, freeForTools] = [budgetTokens, budgetTokens * toolShare]
  for (const { pin } of ranked) {
    if (free < leastTokens) break
    const tokens = count(pin.text) + count(pin.context ?? "") + framingTokens
    if (tokens > free) continue
    if (pin.channel === "tool") {
      const source = pin.source ?? ""
      const before = bySource.get(source) ?? 0
      if (before >= maxPerSource || tokens > freeForTools) continue
      bySource.set(source, before + 1)
      freeForTools -= tokens
    }
    free -= tokens
    chosen.add(pin)
  }
  return {
    carried: inForce.filter((pin) => chosen.has(pin)),
    leftOut: inForce.filter((pin) => !chosen.has(pin)),
  }
}
