import { assert } from "../message/assert.ts"

/** Means that two tokens do not merge. Larger than every rank, so that the lowest rank wins without a special case. */
export const noMerge = 0x7fffffff

/** Which tokens merge into which. A token's number is its rank: lower ranks merge first. */
export type Vocabulary = {
  readonly size: number
  readonly byteTokens: Int32Array
  /** The pair that merges into token n; -1 for a single byte. */
  readonly lefts: Int32Array
  readonly rights: Int32Array
  /**
   * An open-addressed hash table from pairs to ranks, with two words per slot so that a lookup costs one cache line: `left` and the low
   * bits of `right`, then the rest of `right` and the rank. A second word of 0 means empty.
   */
  readonly slots: Int32Array
}

/** More than twice the tokens of o200k, so that a miss takes one or two probes. */
const slotBits = 19
const slotMask = (1 << slotBits) - 1
/** A rank has 18 bits: beside `left`, 14 bits of `right` fit in the first word, and 4 go into the second. */
const rankBits = 18
const splitBits = 32 - rankBits
const restBits = rankBits - splitBits
const restMask = (1 << restBits) - 1
/** Odd numbers with irregular bits (from the golden ratio and xxHash), which spread pairs evenly. */
const leftFactor = 0x9e3779b1
const rightFactor = 0x85ebca77

const slotOf = (left: number, right: number): number => {
  const hash = Math.imul(left, leftFactor) ^ Math.imul(right, rightFactor)
  return (hash ^ (hash >>> 15)) & slotMask
}

/** Returns the rank of the merge of `left` and `right`, or `noMerge`. */
export function mergeRank({ slots }: Vocabulary, left: number, right: number): number {
  const key = left | (right << rankBits)
  const rest = right >>> splitBits
  let slot = slotOf(left, right)
  for (;;) {
    const second = slots[2 * slot + 1] ?? 0
    if (second === 0) return noMerge
    if (slots[2 * slot] === key && (second & restMask) === rest) return second >>> restBits
    slot = (slot + 1) & slotMask
  }
}

function insertPair(slots: Int32Array, left: number, right: number, rank: number): void {
  let slot = slotOf(left, right)
  while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & slotMask
  slots[2 * slot] = left | (right << rankBits)
  slots[2 * slot + 1] = (rank << restBits) | (right >>> splitBits)
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const singles = 256
/** Two numbers of three base64 digits. */
const pairDigits = 6

function digitValues(): Uint8Array {
  const values = new Uint8Array(128)
  for (let value = 0; value < base64.length; value++) values[base64.charCodeAt(value)] = value
  return values
}

function readByteTokens(hex: string): Int32Array {
  assert(hex.length === 2 * singles, "the vocabulary does not begin with the single bytes")
  const byteTokens = new Int32Array(singles)
  for (let rank = 0; rank < singles; rank++) byteTokens[Number.parseInt(hex.slice(2 * rank, 2 * rank + 2), 16)] = rank
  return byteTokens
}

/** Reads the output of `scripts/vocabulary.ts`. */
export function readVocabulary(singleBytes: string, mergePairs: string): Vocabulary {
  const size = singles + mergePairs.length / pairDigits
  assert(Number.isInteger(size) && size < slotMask / 2, `not a vocabulary: ${mergePairs.length} digits`)
  const lefts = new Int32Array(size).fill(-1)
  const rights = new Int32Array(size).fill(-1)
  const slots = new Int32Array(2 * (slotMask + 1))
  const values = digitValues()
  const number = (at: number): number =>
    ((values[mergePairs.charCodeAt(at)] ?? 0) << 12) |
    ((values[mergePairs.charCodeAt(at + 1)] ?? 0) << 6) |
    (values[mergePairs.charCodeAt(at + 2)] ?? 0)
  for (let rank = singles; rank < size; rank++) {
    const at = (rank - singles) * pairDigits
    const left = number(at)
    const right = number(at + 3)
    lefts[rank] = left
    rights[rank] = right
    insertPair(slots, left, right, rank)
  }
  return { size, byteTokens: readByteTokens(singleBytes), lefts, rights, slots }
}
