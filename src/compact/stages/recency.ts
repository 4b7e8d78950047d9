import { newestThatFit, type Strategy } from "./strategy.ts"

/** Keep the newest and nothing else: what was said last is most likely what is being worked on. */
export const recency: Strategy = (choice) => newestThatFit(choice, choice.roomTokens)
