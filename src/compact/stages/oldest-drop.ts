import { newestThatFit, type Strategy } from "./strategy.ts"

/** The task may take this much of the room: beyond that it crowds out the work on it. */
const goalShare = 0.25

/** Drop the oldest until the rest fits, but not the message that opened the work, unless it is out of proportion. */
export const oldestDrop: Strategy = (choice) => {
  const first = choice.groups.findIndex(({ group }) => group.type === "user")
  const goal = choice.groups[first]
  const keepsGoal = goal !== undefined && !goal.mandatory && goal.tokens <= choice.roomTokens * goalShare
  if (!keepsGoal) return newestThatFit(choice, choice.roomTokens)
  const groups = choice.groups.map((sized, at) => (at === first ? { ...sized, tokens: 0 } : sized))
  return new Set([first, ...newestThatFit({ groups }, choice.roomTokens - goal.tokens)])
}
