import { type Tokens, tokens } from "../message/ids.ts"
import { type CountBytes, createCountCache } from "./count-cache.ts"
import { createShortMerge, shortPieceBytes } from "./merge.ts"
import { createLongMerge } from "./merge-long.ts"
import { pieceEnd } from "./split.ts"
import { longestFit } from "./truncate.ts"
import { createUtf8Writer, type Utf8, unitsBetween } from "./utf8.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** Counts the tokens of texts: exactly, but for texts of more than 4 MB and for pieces of more than 55 kB without a break. Holds what it learned of earlier ones, within fixed memory. */
export type Counter = {
  readonly count: (text: string) => Tokens
  /** The longest beginning of a text that has at most `budget` tokens, cut between characters. */
  readonly truncate: (text: string, budget: Tokens) => string
  /** How many steps the merging of long pieces took so far: the work done, without a clock. */
  readonly steps: () => number
}

/** A longer piece is rare and seldom comes again; and a bounded length bounds what a made-up collision could gain. */
const cachedPieceBytes = 128
/** 2 MB. A session of a million tokens has some 20,000 to 60,000 different pieces. */
const pieceSlotBits = 17
/** 1 MB, enough for the parts of some hundred long sessions. */
const textSlotBits = 16
/** A shorter text is counted as quickly as it is looked up. */
const cachedTextUnits = 64
/** The longest token of o200k: 128 spaces. */
const longestTokenBytes = 128

/** Merging takes some 200 ns for each byte of a piece without a break. So much of one text is merged whole: 50 ms. */
const mergedWholeBytes = 262_144
/** Of what follows, one stretch in so many is merged, and the others count as the densest stretch so far. */
const mergedOneIn = 16
/** A longer text fits into no window unless it is mostly blanks: it is counted by samples. 4 MB of English have 900,000 tokens. */
export const countedWholeUnits = 4_000_000
const samples = 64
const sampleUnits = 8192
/** Added to a count by samples, so that it errs on the safe side where the text is not the same everywhere. */
const sampleMargin = 1.05

export function createCounter(vocabulary: Vocabulary): Counter {
  const write = createUtf8Writer()
  const short = createShortMerge(vocabulary)
  const long = createLongMerge(vocabulary)

  const merge = ({ bytes }: Utf8, from: number, end: number): number =>
    end - from <= shortPieceBytes ? short(bytes, from, end) : long.count(bytes, from, end)
  const cachedPiece = createCountCache(pieceSlotBits, merge)

  const countPiece = (text: Utf8, from: number, end: number): number => {
    if (end - from === 1) return 1
    return end - from <= cachedPieceBytes ? cachedPiece(text, from, end) : merge(text, from, end)
  }
  const countBytes = (text: Utf8, from: number, end: number): number => {
    const count = createPieceCounter(countPiece)
    let total = 0
    for (let at = from; at < end; ) {
      const next = pieceEnd(text.bytes, at, end)
      total += count(text, at, next)
      at = next
    }
    return Math.ceil(total)
  }
  const cachedText = createCountCache(textSlotBits, countBytes)
  const countWhole = (text: string): number => {
    const utf8 = write(text)
    return text.length < cachedTextUnits ? countBytes(utf8, 0, utf8.length) : cachedText(utf8, 0, utf8.length)
  }

  return {
    count: (text) => tokens(text.length <= countedWholeUnits ? countWhole(text) : countSamples(text, countWhole)),
    truncate: (text, budget) => {
      const reach = budget * longestTokenBytes + 1
      const utf8 = write(text.length > reach ? text.slice(0, reach) : text)
      const end = longestFit(utf8, budget, {
        countPiece: createPieceCounter(countPiece),
        countBytes,
        prefixEnd: long.prefixEnd,
      })
      return text.slice(0, unitsBetween(utf8.bytes, 0, end))
    },
    steps: long.steps,
  }
}

/** The count of a text by that of stretches all over it, in a time that does not grow with it. */
function countSamples(text: string, count: (text: string) => number): number {
  const stride = text.length / samples
  let total = 0
  for (let n = 0; n < samples; n++) {
    const from = Math.floor(n * stride)
    total += count(text.slice(from, from + sampleUnits))
  }
  return Math.ceil(total * (stride / sampleUnits) * sampleMargin)
}

/** Counts the pieces of one text, one after the other, with a bound on what is merged. A stretch with the bytes of the one before it is merged once. */
function createPieceCounter(countPiece: CountBytes): CountBytes {
  let mergedBytes = 0
  let stretches = 0
  let densest = 0
  let last = { from: 0, end: 0, count: 0 }
  return (text, from, end) => {
    if (end - from <= cachedPieceBytes) return countPiece(text, from, end)
    if (isRepeated(text.bytes, last, from, end)) return last.count
    stretches++
    if (mergedBytes > mergedWholeBytes && stretches % mergedOneIn !== 0) return densest * (end - from)
    const count = countPiece(text, from, end)
    mergedBytes += end - from
    densest = Math.max(densest, count / (end - from))
    last = { from, end, count }
    return count
  }
}

type Stretch = { readonly from: number; readonly end: number }

function isRepeated(bytes: Uint8Array, last: Stretch, from: number, end: number): boolean {
  if (end - from !== last.end - last.from) return false
  for (let at = from, before = last.from; at < end; at++, before++) if (bytes[at] !== bytes[before]) return false
  return true
}
