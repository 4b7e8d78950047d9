import { type Strategy, tokensOf } from "./strategy.ts"

/** Drop from the middle outwards: the beginning has the task and the end has the work. */
export const middleDrop: Strategy = ({ groups, roomTokens }) => {
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
