import { noMerge } from "./vocabulary.ts"

/**
 * Pairs that wait for their merge, in buckets by rank. Ranks are taken in rising order only, which holds because a merge never
 * makes an earlier one possible; so one sweep over the ranks replaces a heap, and n pairs cost O(n).
 */
export type PairQueue = {
  /** Make room for a piece of so many bytes. The queue must be empty. */
  readonly reset: (bytes: number) => void
  readonly push: (rank: number, place: number) => void
  /** The next rank that has pairs, or `noMerge`. */
  readonly nextRank: () => number
  /** Empties the bucket of a rank: how many places it had, which `placeAt` tells until the next call. */
  readonly take: (rank: number, sorted: boolean) => number
  readonly placeAt: (index: number) => number
}

/** Each place enters once at the start, and each merge lets two in. */
const entriesPerByte = 3
/** The room that is kept between pieces; a larger piece is rare, and its memory goes back. */
export const keptBytes = 1 << 13

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)

export function createPairQueue(vocabularySize: number): PairQueue {
  const heads = new Int32Array(vocabularySize).fill(-1)
  /** A bit for each rank that has pairs, and one for each 32 of those, so that the sweep skips what is empty. */
  const waiting = new Int32Array((vocabularySize >> 5) + 1)
  const waitingWords = new Int32Array((vocabularySize >> 10) + 1)
  let places = new Int32Array(keptBytes * entriesPerByte)
  let nexts = new Int32Array(keptBytes * entriesPerByte)
  let taken = new Int32Array(keptBytes * entriesPerByte)
  let entries = 0
  let sweep = 0
  return {
    reset: (bytes) => {
      const capacity = Math.max(bytes, keptBytes) * entriesPerByte
      if (capacity !== places.length) {
        places = new Int32Array(capacity)
        nexts = new Int32Array(capacity)
        taken = new Int32Array(capacity)
      }
      entries = 0
      sweep = 0
    },
    push: (rank, place) => {
      const entry = entries++
      const word = rank >> 5
      places[entry] = place
      nexts[entry] = heads[rank] ?? -1
      heads[rank] = entry
      waiting[word] = (waiting[word] ?? 0) | (1 << (rank & 31))
      waitingWords[word >> 5] = (waitingWords[word >> 5] ?? 0) | (1 << (word & 31))
    },
    nextRank: () => {
      let at = sweep
      while (at < waitingWords.length && waitingWords[at] === 0) at++
      sweep = at
      if (at === waitingWords.length) return noMerge
      const word = (at << 5) + lowestBit(waitingWords[at] ?? 0)
      return (word << 5) + lowestBit(waiting[word] ?? 0)
    },
    take: (rank, sorted) => {
      const found = taken
      let count = 0
      for (let entry = heads[rank] ?? -1; entry >= 0; entry = nexts[entry] ?? -1) found[count++] = places[entry] ?? 0
      heads[rank] = -1
      const word = rank >> 5
      const left = (waiting[word] ?? 0) & ~(1 << (rank & 31))
      waiting[word] = left
      if (left === 0) waitingWords[word >> 5] = (waitingWords[word >> 5] ?? 0) & ~(1 << (word & 31))
      if (sorted && count > 1) found.subarray(0, count).sort()
      return count
    },
    placeAt: (index) => taken[index] ?? 0,
  }
}
