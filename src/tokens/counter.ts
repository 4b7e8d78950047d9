import { type Tokens, tokens } from "../message/ids.ts"
import { createCountCache } from "./count-cache.ts"
import { createShortMerge, shortPieceBytes } from "./merge.ts"
import { createLongMerge } from "./merge-long.ts"
import { pieceEnd } from "./split.ts"
import { longestFit } from "./truncate.ts"
import { createUtf8Writer, type Utf8, unitsBetween } from "./utf8.ts"
import type { Vocabulary } from "./vocabulary.ts"

/** Counts the tokens of texts exactly. Holds what it learned of earlier ones, within fixed memory. */
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
    let total = 0
    for (let at = from; at < end; ) {
      const next = pieceEnd(text.bytes, at, end)
      total += countPiece(text, at, next)
      at = next
    }
    return total
  }
  const cachedText = createCountCache(textSlotBits, countBytes)

  return {
    count: (text) => {
      const utf8 = write(text)
      return tokens(text.length < cachedTextUnits ? countBytes(utf8, 0, utf8.length) : cachedText(utf8, 0, utf8.length))
    },
    truncate: (text, budget) => {
      const reach = budget * longestTokenBytes + 1
      const utf8 = write(text.length > reach ? text.slice(0, reach) : text)
      const end = longestFit(utf8, budget, { countPiece, countBytes, prefixEnd: long.prefixEnd })
      return text.slice(0, unitsBetween(utf8.bytes, 0, end))
    },
    steps: long.steps,
  }
}
