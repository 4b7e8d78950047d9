/** Circuit breaker for compactions: remembers one that freed next to nothing. Trips on lack of progress, not on a count. */
export type Breaker = { readonly stuckAtTokens?: number }

/** With less progress than this the next compaction would fail as well. */
const leastProgress = 0.05
/** Growth of the context after which another compaction is tried: by then there is something new to compact. */
export const regrowth = 0.1

/** Records the result of a compaction. */
export function noteCompaction(beforeTokens: number, afterTokens: number): Breaker {
  const progress = beforeTokens === 0 ? 0 : (beforeTokens - afterTokens) / beforeTokens
  return progress < leastProgress ? { stuckAtTokens: afterTokens } : {}
}

/** True if another compaction now would only repeat the one without progress. */
export function isTripped({ stuckAtTokens }: Breaker, contextTokens: number): boolean {
  return stuckAtTokens !== undefined && contextTokens < stuckAtTokens * (1 + regrowth)
}
