import { mergeRank, noMerge, type Vocabulary } from "./vocabulary.ts"

/** The tokens of a piece as a doubly linked list over its byte positions. */
type Chain = {
  readonly length: number
  readonly tokens: Int32Array
  readonly nexts: Int32Array
  readonly previous: Int32Array
}

type LongMerge = {
  /** Counts the tokens of a piece, in time proportional to its length. */
  readonly count: (bytes: Uint8Array, from: number, end: number) => number
  /** Returns the end of the first `budget` tokens of a piece, or of fewer if that is inside a character. */
  readonly prefixEnd: (bytes: Uint8Array, from: number, end: number, budget: number) => number
  /** Number of pairs examined so far: a measure of work without a clock. */
  readonly steps: () => number
}

/** Marks a position whose token was merged into the one before it. */
const gone = -1

/** Creates lists in shared arrays, so that each new one invalidates the last. */
function createChainer({ byteTokens }: Vocabulary): (bytes: Uint8Array, from: number, length: number) => Chain {
  const chainOf = (length: number): Chain => ({
    length,
    tokens: new Int32Array(length),
    nexts: new Int32Array(length),
    previous: new Int32Array(length),
  })
  const kept = chainOf(keptBytes)
  return (bytes, from, length) => {
    const chain = length <= keptBytes ? { ...kept, length } : chainOf(length)
    const { tokens, nexts, previous } = chain
    for (let place = 0; place < length; place++) {
      tokens[place] = byteTokens[bytes[from + place] ?? 0] ?? 0
      nexts[place] = place + 1
      previous[place] = place - 1
    }
    return chain
  }
}

/** Merges the pair at `place` into `rank` if it is still there, and queues the new pairs on both sides. */
function mergeAt(vocabulary: Vocabulary, chain: Chain, queue: PairQueue, rank: number, place: number): boolean {
  const { length, tokens, nexts, previous } = chain
  const right = nexts[place] ?? 0
  if (tokens[place] !== vocabulary.lefts[rank]) return false
  if (right >= length || tokens[right] !== vocabulary.rights[rank]) return false
  const after = nexts[right] ?? 0
  tokens[place] = rank
  tokens[right] = gone
  nexts[place] = after
  if (after < length) {
    previous[after] = place
    const next = mergeRank(vocabulary, rank, tokens[after] ?? 0)
    if (next !== noMerge) queue.push(next, place)
  }
  const before = previous[place] ?? -1
  if (before >= 0) {
    const next = mergeRank(vocabulary, tokens[before] ?? 0, rank)
    if (next !== noMerge) queue.push(next, before)
  }
  return true
}

export function createLongMerge(vocabulary: Vocabulary): LongMerge {
  const queue = createPairQueue(vocabulary.size)
  const chainOf = createChainer(vocabulary)
  let steps = 0

  const fill = ({ length, tokens }: Chain): void => {
    queue.reset(length)
    for (let place = 0; place + 1 < length; place++) {
      const rank = mergeRank(vocabulary, tokens[place] ?? 0, tokens[place + 1] ?? 0)
      if (rank !== noMerge) queue.push(rank, place)
    }
    steps += length
  }

  /**
   * Merges all pairs of a rank and returns how many. Only pairs of equal tokens can overlap, as in "aaa"; of those the leftmost is merged
   * first.
   */
  const mergeAll = (chain: Chain, rank: number): number => {
    const count = queue.take(rank, vocabulary.lefts[rank] === vocabulary.rights[rank])
    let merged = 0
    for (let index = 0; index < count; index++) {
      if (mergeAt(vocabulary, chain, queue, rank, queue.placeAt(index))) merged++
    }
    steps += count
    return merged
  }

  const merge = (bytes: Uint8Array, from: number, end: number): { readonly chain: Chain; readonly count: number } => {
    const chain = chainOf(bytes, from, end - from)
    fill(chain)
    let count = end - from
    for (let rank = queue.nextRank(); rank !== noMerge; rank = queue.nextRank()) count -= mergeAll(chain, rank)
    queue.reset(0)
    return { chain, count }
  }

  return {
    count: (bytes, from, end) => merge(bytes, from, end).count,
    prefixEnd: (bytes, from, end, budget) => {
      const { nexts } = merge(bytes, from, end).chain
      let found = 0
      let place = 0
      for (let count = 0; count < budget && place < end - from; count++) {
        place = nexts[place] ?? end - from
        if (from + place === end || ((bytes[from + place] ?? 0) & 0xc0) !== 0x80) found = place
      }
      return from + found
    },
    steps: () => steps,
  }
}

/**
 * Pairs waiting to be merged, in buckets by rank. Ranks are taken in ascending order only, because a merge never makes an earlier one
 * possible: one sweep over the ranks replaces a heap, and n pairs cost O(n).
 */
type PairQueue = {
  /** Makes room for a piece of this many bytes. The queue must be empty. */
  readonly reset: (bytes: number) => void
  readonly push: (rank: number, place: number) => void
  /** Returns the next rank with pairs, or `noMerge`. */
  readonly nextRank: () => number
  /** Empties the bucket of a rank and returns the number of positions in it, which `placeAt` returns until the next call. */
  readonly take: (rank: number, sorted: boolean) => number
  readonly placeAt: (index: number) => number
}

/** Each position is queued once at the start, and each merge queues up to two. */
const entriesPerByte = 3
/** Size of the buffers kept between pieces; a larger piece is rare, and its memory is freed. */
const keptBytes = 1 << 13

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)

function createPairQueue(vocabularySize: number): PairQueue {
  const heads = new Int32Array(vocabularySize).fill(-1)
  /** A bit for each rank with pairs, and one for each word of those, so that the sweep skips empty ranks. */
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
