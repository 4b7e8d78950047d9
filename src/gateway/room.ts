/** Of the window; above it the session has work to do before it compacts, and decides itself. */
const mostShare = 0.55
/** A token is rarely less than two bytes; texts in which it is are counted before they matter. */
const leastBytesPerToken = 2

/** Is there ample room for what was counted and some bytes more, whatever these are? */
export const hasRoom = (countedTokens: number, moreBytes: number, windowTokens: number): boolean =>
  countedTokens + Math.max(0, moreBytes) / leastBytesPerToken <= windowTokens * mostShare
