import { mergeRank, noMerge, type Vocabulary } from "./vocabulary.ts"

/** Up to here looking at every pair for each merge is quicker than keeping them in order. */
export const shortPieceBytes = 32

/** Counts the tokens of a piece of at most `shortPieceBytes`: the pair of the smallest rank merges until none can. */
export function createShortMerge(vocabulary: Vocabulary): (bytes: Uint8Array, from: number, end: number) => number {
  const tokens = new Int32Array(shortPieceBytes)
  /** The rank of each token's union with the next one. */
  const ranks = new Int32Array(shortPieceBytes)

  const rankAt = (index: number, last: number): number =>
    index < last ? mergeRank(vocabulary, tokens[index] ?? 0, tokens[index + 1] ?? 0) : noMerge

  return (bytes, from, end) => {
    let last = end - from - 1
    for (let index = 0; index <= last; index++) tokens[index] = vocabulary.byteTokens[bytes[from + index] ?? 0] ?? 0
    for (let index = 0; index <= last; index++) ranks[index] = rankAt(index, last)
    for (;;) {
      let best = noMerge
      let place = 0
      for (let index = 0; index < last; index++) {
        const rank = ranks[index] ?? noMerge
        if (rank < best) {
          best = rank
          place = index
        }
      }
      if (best === noMerge) return last + 1
      tokens[place] = best
      for (let index = place + 1; index < last; index++) {
        tokens[index] = tokens[index + 1] ?? 0
        ranks[index] = ranks[index + 1] ?? 0
      }
      last--
      ranks[place] = rankAt(place, last)
      if (place > 0) ranks[place - 1] = rankAt(place - 1, last)
    }
  }
}
