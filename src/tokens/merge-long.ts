import { createPairQueue, keptBytes, type PairQueue } from "./pair-queue.ts"
import { mergeRank, noMerge, type Vocabulary } from "./vocabulary.ts"

/** A piece on its way to tokens: a list over the places of its bytes, linked both ways. */
type Chain = {
  readonly length: number
  readonly tokens: Int32Array
  readonly nexts: Int32Array
  readonly previous: Int32Array
}

export type LongMerge = {
  /** How many tokens a piece has, in time proportional to its length. */
  readonly count: (bytes: Uint8Array, from: number, end: number) => number
  /** Where the first `budget` tokens of a piece end, or fewer of them if that would be inside a character. */
  readonly prefixEnd: (bytes: Uint8Array, from: number, end: number, budget: number) => number
  /** How many pairs were looked at so far: the work done, without a clock. */
  readonly steps: () => number
}

/** The token at a place whose bytes went into the token before it. */
const gone = -1

/** Makes chains, one at a time: the last one is void. */
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

/** Merges the pair at `place` into `rank` if it still stands there, and queues what became possible on both sides. */
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

  /** How many pairs merged into `rank`. Only a token doubled can overlap itself, as in "aaa"; there the leftmost goes first. */
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
