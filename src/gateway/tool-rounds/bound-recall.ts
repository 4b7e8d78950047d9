import type { RecallAnswer } from "./answer-recall.ts"

export type Recall = (input: unknown) => Promise<RecallAnswer>

/** Characters that one exchange may call back: about 25,000 tokens, which is room that a compaction has just made. */
const maxCharacters = 100_000
/** Calls that one exchange may make of it: a page each, and as many that fetch nothing. */
const maxCalls = 20

/** The recall of one exchange: once it has given back a good deal, it says that there is no more for now. */
export function boundRecall(recall: Recall): Recall {
  let calls = 0
  let characters = 0
  return async (input) => {
    if (++calls > maxCalls || characters >= maxCharacters) {
      return { text: "No more can be fetched in this turn. Go on with what you have.", failed: true }
    }
    const answer = await recall(input)
    characters += answer.text.length
    return answer
  }
}
