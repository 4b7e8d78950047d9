/** When to act, as shares of the room: what the window has once the answer's reserve is taken off. */
export type CompactionPolicy = {
  /** Save what matters to memory, before anything is compacted. */
  readonly flushAt: number
  /** Begin a summary in the background, so that it is there when it is needed. */
  readonly speculateAt: number
  readonly compactAt: number
  /** Compact down to this. Far below `compactAt`, so that compactions, each of which resets the cache, stay rare. */
  readonly lowWater: number
  /** Compact at this many tokens whatever the window: long contexts cost more and are recalled worse. */
  readonly compactAtTokens?: number
  /** A single tool output over this is shortened once the model has read it, if that pays; none unless given. */
  readonly toolOutputTokens?: number
  /** More tool rounds than this are trimmed. */
  readonly toolRounds?: number
  /** Of the window so much is for rules that were found in what was said; pinned ones and the operator's always stand. */
  readonly pinShare: number
  /** How many more calls a session is expected to make; an agent's task takes tens of calls. */
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
