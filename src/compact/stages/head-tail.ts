import { newestThatFit, oldestThatFit, type Strategy, tokensOf } from "./strategy.ts"

/** Keep a beginning and an end, each within its share of the room; what the beginning leaves over goes to the end. */
export const headTail: Strategy = (choice) => {
  const head = oldestThatFit(choice, choice.roomTokens * choice.options.headShare)
  const tail = newestThatFit(choice, choice.roomTokens - tokensOf(choice.groups, head))
  return new Set([...head, ...tail])
}
