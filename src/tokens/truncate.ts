import { widthOf } from "./character.ts"
import type { CountBytes } from "./count-cache.ts"
import { pieceEnd } from "./split.ts"
import type { Utf8 } from "./utf8.ts"

/** What cutting needs of a counter. */
export type Measures = {
  readonly countPiece: CountBytes
  readonly countBytes: CountBytes
  readonly prefixEnd: (bytes: Uint8Array, from: number, end: number, budget: number) => number
}

/** In a window of this size every cut is tried; in a longer piece only those at the end of a token. */
const triedBytes = 128

/** The piece in which a budget runs out, and the one before it, whose end can move when what follows it is cut. */
type Edge = {
  readonly before: number
  readonly start: number
  readonly end: number
  readonly spent: number
  readonly spentBefore: number
}

function findEdge(text: Utf8, budget: number, countPiece: CountBytes): Edge | undefined {
  let before = 0
  let spentBefore = 0
  let spent = 0
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text.bytes, start, text.length)
    const count = countPiece(text, start, end)
    if (spent + count > budget) return { before, start, end, spent, spentBefore }
    before = start
    spentBefore = spent
    spent += count
    start = end
  }
  return undefined
}

const betweenCharacters = ({ bytes, length }: Utf8, at: number): boolean =>
  at === length || ((bytes[at] ?? 0) & 0xc0) !== 0x80

/**
 * Where the longest beginning ends that has at most `budget` tokens. Exact, but for a piece of more than 128 bytes without a
 * break, where the cut falls on the end of a token.
 */
export function longestFit(text: Utf8, budget: number, { countPiece, countBytes, prefixEnd }: Measures): number {
  const edge = findEdge(text, budget, countPiece)
  if (edge === undefined) return text.length
  const { before, start, end, spent, spentBefore } = edge
  const fits = (cut: number): boolean => spentBefore + countBytes(text, before, cut) <= budget
  // White space goes with what follows it, so a cut one character into the next piece can still be the cheaper one.
  const last = Math.min(text.length, end + (end < text.length ? widthOf(text.bytes[end] ?? 0) : 0))
  if (last - start <= triedBytes) {
    for (let cut = last; cut > start; cut--) if (betweenCharacters(text, cut) && fits(cut)) return cut
    return start
  }
  for (let allowed = budget - spent; allowed > 0; allowed = Math.min(allowed - 1, Math.floor(allowed * 0.9))) {
    const cut = prefixEnd(text.bytes, start, end, allowed)
    if (cut === start || fits(cut)) return cut
  }
  return start
}
