import type { RecallAnswer } from "./answer-recall.ts"

export type Recall = (input: unknown) => Promise<RecallAnswer>

/** Limit on the characters that one exchange may recall: about 25,000 tokens, which is space that a compaction has just freed. */
const maxCharacters = 100_000
/** Limit on recalls in one exchange: five pages of text, and some that find nothing. */
const maxCalls = 20

/** Limit the recalls of one exchange: above the limit the model is told that no more can be fetched. */
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
