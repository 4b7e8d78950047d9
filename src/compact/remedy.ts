import type { Strategy } from "./stages/strategies.ts"

/** What is tried, cheapest first: shorten tool results; leave groups to a digest; as a last resort digest and last words only. */
export type Remedy = "pins" | "micro" | "summary" | "fallback"

/** The last resort's choice: the newest group if it fits, beside what is mandatory. */
export const lastGroup: Strategy = ({ groups, roomTokens }) => {
  const last = groups.length - 1
  const sized = groups[last]
  return new Set(sized !== undefined && sized.tokens <= roomTokens ? [last] : [])
}
