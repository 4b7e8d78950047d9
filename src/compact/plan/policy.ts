/** When to act, as shares of the window without the answer's reserve. */
export type CompactionPolicy = {
  /** Save what matters to memory, before anything is compacted. */
  readonly flushAt: number
  /** Start a summary in the background, so that it is ready when needed. */
  readonly speculateAt: number
  readonly compactAt: number
  /** Target of a compaction. Far below `compactAt`, so that compactions, each of which resets the cache, stay rare. */
  readonly lowWater: number
  /** Compact at this many tokens whatever the window: long contexts cost more and are recalled worse. */
  readonly compactAtTokens?: number
  /** A larger tool output is shortened once the model has read it, if that pays. Without it there is no limit. */
  readonly toolOutputTokens?: number
  /** If there are more tool rounds than this, results are shortened. */
  readonly toolRounds?: number
  /** Maximum share of the window for rules found in messages; pinned ones and the operator's are always included. */
  readonly pinShare: number
  /** Number of further calls expected in a session; an agent's task takes tens of calls. */
  readonly expectedCalls: number
}

export const defaultPolicy: CompactionPolicy = {
  flushAt: 0.6,
  speculateAt: 0.65,
  compactAt: 0.8,
  lowWater: 0.4,
  pinShare: 0.1,
  expectedCalls: 10,
}
