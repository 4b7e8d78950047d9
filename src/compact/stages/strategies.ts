import { type Choice, newestThatFit, oldestThatFit, type Strategy, tokensOf } from "./strategy.ts"

/** Keep the newest and nothing else: what was said last is most likely what is being worked on. */
const recency: Strategy = (choice) => newestThatFit(choice, choice.roomTokens)

/** Keep a beginning and an end, each within its share of the room; what the beginning leaves over goes to the end. */
const headTail: Strategy = (choice) => {
  const head = oldestThatFit(choice, choice.roomTokens * choice.options.headShare)
  const tail = newestThatFit(choice, choice.roomTokens - tokensOf(choice.groups, head))
  return new Set([...head, ...tail])
}

/** Keep what people and model said and the newest tool rounds; the older rounds go first, and only then the oldest words. */
const toolRounds: Strategy = (choice) => {
  const { groups, roomTokens, options } = choice
  const rounds = [...groups.keys()].filter((at) => groups[at]?.group.type === "tool-round")
  const old = new Set(rounds.slice(0, Math.max(0, rounds.length - options.keepRounds)))
  const kept = new Set([...groups.keys()].filter((at) => !old.has(at)))
  if (tokensOf(groups, kept) <= roomTokens) return kept
  const without = groups.map((sized, at) => (old.has(at) ? { ...sized, tokens: 0 } : sized))
  const newest = newestThatFit({ groups: without }, roomTokens)
  return new Set([...newest].filter((at) => !old.has(at)))
}

/** The task may take this much of the room: beyond that it crowds out the work on it. */
const goalShare = 0.25

/** Drop the oldest until the rest fits, but not the message that opened the work, unless it is out of proportion. */
const oldestDrop: Strategy = (choice) => {
  const first = choice.groups.findIndex(({ group }) => group.type === "user")
  const goal = choice.groups[first]
  const keepsGoal = goal !== undefined && !goal.mandatory && goal.tokens <= choice.roomTokens * goalShare
  if (!keepsGoal) return newestThatFit(choice, choice.roomTokens)
  const groups = choice.groups.map((sized, at) => (at === first ? { ...sized, tokens: 0 } : sized))
  return new Set([first, ...newestThatFit({ groups }, choice.roomTokens - goal.tokens)])
}

/** Drop from the middle outwards: the beginning has the task and the end has the work. */
const middleDrop: Strategy = ({ groups, roomTokens }) => {
  const kept = new Set(groups.keys())
  let left = tokensOf(groups, kept)
  const middle = (groups.length - 1) / 2
  for (let distance = 0; left > roomTokens && distance <= middle + 1; distance++) {
    for (const at of new Set([Math.floor(middle) - distance, Math.ceil(middle) + distance])) {
      const sized = groups[at]
      if (sized === undefined || sized.mandatory || left <= roomTokens) continue
      kept.delete(at)
      left -= sized.tokens
    }
  }
  return kept
}

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

type HybridChoice = { readonly pick: "middle-drop" | "oldest-drop" | "try-both"; readonly why: string }

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
const hybrid: Strategy = (choice) => {
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

export type StrategyName =
  | "staged"
  | "hierarchical"
  | "recency"
  | "oldest-drop"
  | "middle-drop"
  | "head-tail"
  | "tool-rounds"
  | "hybrid"

/** How a strategy goes about it: whether older tool results are shortened first, and how groups are chosen then. */
export type StrategyEntry = {
  readonly select: Strategy
  /** `none`: groups go whole. `even`: all older results to their budgets. `aged`: the older, the tighter. */
  readonly micro: "none" | "even" | "aged"
}

/** Every strategy by name. They differ in what stays to the letter; what goes leaves a digest behind in all of them. */
export const strategies: Readonly<Record<StrategyName, StrategyEntry>> = {
  staged: { select: recency, micro: "even" },
  hierarchical: { select: recency, micro: "aged" },
  recency: { select: recency, micro: "none" },
  "oldest-drop": { select: oldestDrop, micro: "none" },
  "middle-drop": { select: middleDrop, micro: "none" },
  "head-tail": { select: headTail, micro: "none" },
  "tool-rounds": { select: toolRounds, micro: "none" },
  hybrid: { select: hybrid, micro: "even" },
}
