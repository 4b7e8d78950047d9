import type { Group } from "../../message/group.ts"

/** Keeps only the newest groups: what was said last is most likely what is being worked on. */
const recency: Strategy = ({ groups, roomTokens }) => takeWhileFits(groups, roomTokens, "newest")

/** Keeps a beginning and an end, each within its share; what the beginning leaves over goes to the end. */
const headTail: Strategy = ({ groups, roomTokens, options }) => {
  const head = takeWhileFits(groups, roomTokens * options.headShare, "oldest")
  const tail = takeWhileFits(groups, roomTokens - groupTokens(groups, head), "newest")
  return new Set([...head, ...tail])
}

/** Keeps messages and the newest tool rounds; older rounds are dropped first, and only then the oldest messages. */
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

/** Maximum share for the task message: a larger one would crowd out the work. */
const goalShare = 0.25

/** Drops the oldest groups until the rest fits, but not the user's first message unless it is too large. */
const oldestDrop: Strategy = (choice) => {
  const first = choice.groups.findIndex(({ group }) => group.type === "user")
  const goal = choice.groups[first]
  const keepsGoal = goal !== undefined && !goal.mandatory && goal.tokens <= choice.roomTokens * goalShare
  if (!keepsGoal) return recency(choice)
  const groups = choice.groups.map((sized, at) => (at === first ? { ...sized, tokens: 0 } : sized))
  return new Set([first, ...takeWhileFits(groups, choice.roomTokens - goal.tokens, "newest")])
}

/** Drops groups from the middle outwards: the beginning has the task and the end has the work. */
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

/** Features of a conversation that decide which groups to drop. */
export type Shape = {
  /** Share that has to be dropped. */
  readonly compression: number
  readonly groups: number
  /** Share of the newest fifth of the groups in the tokens. */
  readonly recentShare: number
  /** True if one group is larger than a fifth of the whole. */
  readonly longGroup: boolean
  /** Share of groups that are tool rounds or system messages. */
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

/** The decision table; the first matching row counts. The thresholds cover the clear cases; in between both are tried. */
export function chooseByShape(shape: Shape): "middle-drop" | "oldest-drop" | "try-both" {
  if (shape.compression <= 0.3 && shape.groups <= 40) return "middle-drop"
  if (shape.compression >= 0.7 && shape.groups >= 100) return "oldest-drop"
  const isMostlyTools = shape.toolShare >= 0.6 && !shape.longGroup
  return shape.recentShare >= 0.5 || isMostlyTools ? "middle-drop" : "try-both"
}

/** Decides by shape; if that is undecided, tries both and takes the one with the better score for tokens dropped and groups kept. */
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

/** How a strategy works: whether older tool results are shortened first, and how groups are then chosen. */
export type StrategyEntry = {
  readonly select: Strategy
  /** `none`: groups are dropped whole. `even`: all older results are shortened to their budgets. `aged`: the older half to the minimum. */
  readonly micro: "none" | "even" | "aged"
  /** Set if the oldest groups are dropped first, so that the newest dropped one may be shown in part. */
  readonly showsPart?: true
}

/** All strategies by name. They differ in what stays verbatim; all of them replace what is dropped by a digest. */
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

/** A group with its size, and whether it always stays: the latest user message, pending calls, system messages. */
export type SizedGroup = { readonly group: Group; readonly tokens: number; readonly mandatory: boolean }

export type StrategyOptions = {
  /** Number of newest tool rounds that are kept before anything else. */
  readonly keepRounds: number
  /** Share of the beginning, if beginning and end are kept. */
  readonly headShare: number
  /** Weights of the score by which an undecided hybrid chooses. */
  readonly weights: { readonly reduction: number; readonly retention: number }
}

export const defaultStrategyOptions: StrategyOptions = {
  keepRounds: 3,
  headShare: 0.3,
  weights: { reduction: 0.6, retention: 0.4 },
}

/** Input of a strategy. `roomTokens` is for the groups that are not mandatory. */
export type Choice = {
  readonly groups: readonly SizedGroup[]
  readonly roomTokens: number
  readonly options: StrategyOptions
}

/** Chooses which groups stay, by index. It never splits one, and mandatory groups stay in any case. */
export type Strategy = (choice: Choice) => ReadonlySet<number>

/** Takes groups from the newest or oldest end while they fit; stops at the first that does not, so that what stays is contiguous. */
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

/** Tokens of the kept groups without the mandatory ones. */
export function groupTokens(groups: readonly SizedGroup[], kept: ReadonlySet<number>): number {
  let sum = 0
  for (const at of kept) {
    const sized = groups[at]
    if (sized !== undefined && !sized.mandatory) sum += sized.tokens
  }
  return sum
}
