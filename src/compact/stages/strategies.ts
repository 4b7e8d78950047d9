import type { Group } from "../../message/group.ts"

/** Keep the newest and nothing else: what was said last is most likely what is being worked on. */
const recency: Strategy = ({ groups, roomTokens }) => takeWhileFits(groups, roomTokens, "newest")

/** Keep a beginning and an end, each within its share of the room; what the beginning leaves over goes to the end. */
const headTail: Strategy = ({ groups, roomTokens, options }) => {
  const head = takeWhileFits(groups, roomTokens * options.headShare, "oldest")
  const tail = takeWhileFits(groups, roomTokens - groupTokens(groups, head), "newest")
  return new Set([...head, ...tail])
}

/** Keep what people and model said and the newest tool rounds; the older rounds go first, and only then the oldest words. */
const toolRounds: Strategy = (choice) => {
  const { groups, roomTokens, options } = choice
  const rounds = [...groups.keys()].filter((at) => groups[at]?.group.type === "tool-round")
  const old = new Set(rounds.slice(0, Math.max(0, rounds.length - options.keepRounds)))
  const kept = new Set([...groups.keys()].filter((at) => !old.has(at)))
  if (groupTokens(groups, kept) <= roomTokens) return kept
  const without = groups.map((sized, at) => (old.has(at) ? { ...sized, tokens: 0 } : sized))
  const newest = takeWhileFits(without, roomTokens, "newest")
  return new Set([...newest].filter((at) => !old.has(at)))
}

/** The task may take this much of the room: beyond that it crowds out the work on it. */
const goalShare = 0.25

/** Drop the oldest until the rest fits, but not the message that opened the work, unless it is out of proportion. */
const oldestDrop: Strategy = (choice) => {
  const first = choice.groups.findIndex(({ group }) => group.type === "user")
  const goal = choice.groups[first]
  const keepsGoal = goal !== undefined && !goal.mandatory && goal.tokens <= choice.roomTokens * goalShare
  if (!keepsGoal) return recency(choice)
  const groups = choice.groups.map((sized, at) => (at === first ? { ...sized, tokens: 0 } : sized))
  return new Set([first, ...takeWhileFits(groups, choice.roomTokens - goal.tokens, "newest")])
}

/** Drop from the middle outwards: the beginning has the task and the end has the work. */
const middleDrop: Strategy = ({ groups, roomTokens }) => {
  const kept = new Set(groups.keys())
  let left = groupTokens(groups, kept)
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

export function conversationShape({ groups, roomTokens }: Pick<Choice, "groups" | "roomTokens">): Shape {
  const total = Math.max(1, groupTokens(groups, new Set(groups.keys())))
  const recent = new Set([...groups.keys()].slice(Math.floor(groups.length * 0.8)))
  const heavy = groups.filter(({ group }) => group.type === "tool-round" || group.type === "system")
  return {
    compression: Math.max(0, 1 - roomTokens / total),
    groups: groups.length,
    recentShare: groupTokens(groups, recent) / total,
    longGroup: groups.some(({ tokens, mandatory }) => !mandatory && tokens > total / 5),
    toolShare: groups.length === 0 ? 0 : heavy.length / groups.length,
  }
}

/** The decision table, first row that fits. The figures mark off the plain cases; what lies between is tried both ways. */
export function chooseByShape(shape: Shape): "middle-drop" | "oldest-drop" | "try-both" {
  if (shape.compression <= 0.3 && shape.groups <= 40) return "middle-drop"
  if (shape.compression >= 0.7 && shape.groups >= 100) return "oldest-drop"
  const isMostlyTools = shape.toolShare >= 0.6 && !shape.longGroup
  return shape.recentShare >= 0.5 || isMostlyTools ? "middle-drop" : "try-both"
}

/** Decide by shape; where that leaves it open, try both and take the better score of tokens gone and groups kept. */
const hybrid: Strategy = (choice) => {
  const pick = chooseByShape(conversationShape(choice))
  if (pick === "middle-drop") return middleDrop(choice)
  if (pick === "oldest-drop") return oldestDrop(choice)
  const [one, other] = [middleDrop(choice), oldestDrop(choice)]
  return scoreOf(choice, other) > scoreOf(choice, one) ? other : one
}

export function scoreOf({ groups, options: { weights } }: Choice, kept: ReadonlySet<number>): number {
  const total = Math.max(1, groupTokens(groups, new Set(groups.keys())))
  const reduction = 1 - groupTokens(groups, kept) / total
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
  /** Do the oldest go first? Then the newest of those that go may show a part of its results. */
  readonly showsPart?: true
}

/** Every strategy by name. They differ in what stays verbatim; what goes leaves a digest behind in all of them. */
export const strategies: Readonly<Record<StrategyName, StrategyEntry>> = {
  staged: { select: recency, micro: "even", showsPart: true },
  hierarchical: { select: recency, micro: "aged", showsPart: true },
  recency: { select: recency, micro: "none" },
  "oldest-drop": { select: oldestDrop, micro: "none" },
  "middle-drop": { select: middleDrop, micro: "none" },
  "head-tail": { select: headTail, micro: "none" },
  "tool-rounds": { select: toolRounds, micro: "none" },
  hybrid: { select: hybrid, micro: "even" },
}

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

/** The groups from newest to oldest, or the other way, while they fit; the first that does not ends it, so that what stays is one stretch. */
function takeWhileFits(
  groups: readonly SizedGroup[],
  roomTokens: number,
  from: "newest" | "oldest",
): ReadonlySet<number> {
  const kept = new Set<number>()
  let left = roomTokens
  const ordered = [...groups.entries()]
  for (const [at, { tokens, mandatory }] of from === "newest" ? ordered.reverse() : ordered) {
    if (!mandatory && tokens > left) break
    if (!mandatory) left -= tokens
    kept.add(at)
  }
  return kept
}

/** What the groups of a choice take, the mandatory ones left out. */
export function groupTokens(groups: readonly SizedGroup[], kept: ReadonlySet<number>): number {
  let sum = 0
  for (const at of kept) {
    const sized = groups[at]
    if (sized !== undefined && !sized.mandatory) sum += sized.tokens
  }
  return sum
}
