import { headTail } from "./head-tail.ts"
import { hybrid } from "./hybrid.ts"
import { middleDrop } from "./middle-drop.ts"
import { oldestDrop } from "./oldest-drop.ts"
import { recency } from "./recency.ts"
import type { Strategy } from "./strategy.ts"
import { toolRounds } from "./tool-rounds.ts"

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
