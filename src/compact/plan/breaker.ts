/** Remembers a compaction that got nowhere. Trips on no progress, never on a count. */
export type Breaker = { readonly stuckAtTokens?: number }

/** Less than this is no progress: the next call would be where this one was. */
const leastProgress = 0.05
/** Once stuck, try again when the context has grown by this: there is something new to compact. */
export const regrowth = 0.1

/** Take note of how a compaction went. */
export function noteCompaction(beforeTokens: number, afterTokens: number): Breaker {
  const progress = beforeTokens === 0 ? 0 : (beforeTokens - afterTokens) / beforeTokens
  return progress < leastProgress ? { stuckAtTokens: afterTokens } : {}
}

/** Would another compaction now only repeat the one that got nowhere? */
export function isTripped({ stuckAtTokens }: Breaker, contextTokens: number): boolean {
  return stuckAtTokens !== undefined && contextTokens < stuckAtTokens * (1 + regrowth)
}
