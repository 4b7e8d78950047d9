import { middleDrop } from "./middle-drop.ts"
import { oldestDrop } from "./oldest-drop.ts"
import { type Choice, type Strategy, tokensOf } from "./strategy.ts"

/** What the shape of a conversation says about how to shorten it. */
export type Shape = {
  /** How much of it has to go. */
  readonly compression: number
  readonly groups: number
  /** What the newest fifth of the groups takes of the whole. */
  readonly recentShare: number
  /** Is one group larger than a fifth of the whole? */
  readonly longGroup: boolean
  /** How many groups are tool rounds or the system's words. */
  readonly toolShare: number
}

export type HybridChoice = { readonly pick: "middle-drop" | "oldest-drop" | "try-both"; readonly why: string }

export function shapeOf({ groups, roomTokens }: Pick<Choice, "groups" | "roomTokens">): Shape {
  const total = Math.max(1, tokensOf(groups, new Set(groups.keys())))
  const recent = new Set([...groups.keys()].slice(Math.floor(groups.length * 0.8)))
  const heavy = groups.filter(({ group }) => group.type === "tool-round" || group.type === "system")
  return {
    compression: Math.max(0, 1 - roomTokens / total),
    groups: groups.length,
    recentShare: tokensOf(groups, recent) / total,
    longGroup: groups.some(({ tokens, mandatory }) => !mandatory && tokens > total / 5),
    toolShare: groups.length === 0 ? 0 : heavy.length / groups.length,
  }
}

/** The decision table, first row that fits. The figures mark off the plain cases; what lies between is tried both ways. */
export function chooseByShape(shape: Shape): HybridChoice {
  if (shape.compression <= 0.3 && shape.groups <= 40) return { pick: "middle-drop", why: "little to drop, and short" }
  if (shape.compression >= 0.7 && shape.groups >= 100) return { pick: "oldest-drop", why: "much to drop, and long" }
  if (shape.recentShare >= 0.5) return { pick: "middle-drop", why: "the newest take most of it" }
  if (shape.toolShare >= 0.6 && !shape.longGroup) return { pick: "middle-drop", why: "mostly tool rounds" }
  return { pick: "try-both", why: "no plain case" }
}

/** Decide by shape; where that leaves it open, try both and take the better score of tokens gone and groups kept. */
export const hybrid: Strategy = (choice) => {
  const { pick } = chooseByShape(shapeOf(choice))
  if (pick === "middle-drop") return middleDrop(choice)
  if (pick === "oldest-drop") return oldestDrop(choice)
  const [one, other] = [middleDrop(choice), oldestDrop(choice)]
  return scoreOf(choice, other) > scoreOf(choice, one) ? other : one
}

export function scoreOf({ groups, options: { weights } }: Choice, kept: ReadonlySet<number>): number {
  const total = Math.max(1, tokensOf(groups, new Set(groups.keys())))
  const reduction = 1 - tokensOf(groups, kept) / total
  return weights.reduction * reduction + weights.retention * (kept.size / Math.max(1, groups.length))
}
