import { asciiPieceEnd } from "./ascii-machine.ts"
import { asciiKinds, kinds, wideKind, widthOf } from "./character.ts"

/**
 * The o200k pattern by hand, over UTF-8 bytes, each byte seen a bounded number of times:
 *   prefix? upper* lower+ contraction?  |  prefix? upper+ lower* contraction?  |  number{1,3}
 *   |  ' '? other+ [\r\n/]*  |  space* newline+  |  space+ (not before a non-space)  |  space+
 * Letters without case and marks belong to `upper` and `lower` alike; a prefix is anything but a letter, number or newline.
 */
const { other, space, newline, number, upper, lower, letter, mark } = kinds
const ascii = asciiKinds
const upperRun = upper | letter | mark
const lowerRun = lower | letter | mark
const anyLetter = upper | lower | letter
const punctuationRun = other | mark
const blank = space | newline

/**
 * A longer piece without a break is cut, to bound the memory that merging it takes; each cut may add a token or two. The number is divisible
 * by all up to 12, so that a short pattern that repeats is cut into stretches of the same bytes, which are merged once.
 */
export const longestPieceBytes = 55_440

const apostrophe = 0x27
const slash = 0x2f
const spaceByte = 0x20
const carriageReturn = 0x0d
const lineFeed = 0x0a
/** Sets the bit that tells ASCII's small letters from its capitals. */
const smallLetter = 0x20

const kindAt = (bytes: Uint8Array, at: number): number => {
  const byte = bytes[at] ?? 0
  return byte < 0x80 ? (ascii[byte] ?? 0) : wideKind(bytes, at)
}

/** The end of the run of characters of the given kinds that starts at `from`. */
function runEnd(bytes: Uint8Array, from: number, end: number, wanted: number): number {
  let at = from
  while (at < end) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) {
      if (((ascii[byte] ?? 0) & wanted) === 0) return at
      at++
    } else {
      if ((wideKind(bytes, at) & wanted) === 0) return at
      at += widthOf(byte)
    }
  }
  return at
}

/** The end of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re` at `at`, in any case; `at` itself if there is none. */
function contractionEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end || bytes[at] !== apostrophe) return at
  const first = String.fromCharCode((bytes[at + 1] ?? 0) | smallLetter)
  if (first === "s" || first === "d" || first === "m" || first === "t") return at + 2
  if (at + 2 >= end) return at
  const second = String.fromCharCode((bytes[at + 2] ?? 0) | smallLetter)
  const pair = first + second
  return pair === "ll" || pair === "ve" || pair === "re" ? at + 3 : at
}

/** The end of the last caseless letter or mark in a run of `upperRun`; -1 if it has none. */
function lastCaselessEnd(bytes: Uint8Array, from: number, end: number): number {
  let found = -1
  for (let at = from; at < end; ) {
    const next = at + widthOf(bytes[at] ?? 0)
    if ((kindAt(bytes, at) & lowerRun) !== 0) found = next
    at = next
  }
  return found
}

/** The end of the word whose letters start at `from`; `markEnd` is the end of a prefix that could itself be the word, or -1. */
function wordEnd(bytes: Uint8Array, from: number, end: number, markEnd: number): number {
  const capitals = runEnd(bytes, from, end, upperRun)
  const word = runEnd(bytes, capitals, end, lowerRun)
  if (word > capitals) return contractionEnd(bytes, word, end)
  const caseless = lastCaselessEnd(bytes, from, capitals)
  if (caseless >= 0) return contractionEnd(bytes, caseless, end)
  return contractionEnd(bytes, markEnd >= 0 ? markEnd : capitals, end)
}

function numberEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from
  for (let digits = 0; digits < 3 && at < end && (kindAt(bytes, at) & number) !== 0; digits++) {
    at += widthOf(bytes[at] ?? 0)
  }
  return at
}

function punctuationEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = runEnd(bytes, from, end, punctuationRun)
  while (at < end && (bytes[at] === carriageReturn || bytes[at] === lineFeed || bytes[at] === slash)) at++
  return at
}

/** Up to the last newline of the run; without one, all of it but the character that goes with what follows. */
function blankEnd(bytes: Uint8Array, from: number, end: number): number {
  let lastStart = from
  let newlineEnd = -1
  let at = from
  while (at < end) {
    const kind = kindAt(bytes, at)
    if ((kind & blank) === 0) break
    lastStart = at
    at += widthOf(bytes[at] ?? 0)
    if (kind === newline) newlineEnd = at
  }
  if (newlineEnd >= 0) return newlineEnd
  return at >= end || lastStart === from ? at : lastStart
}

/** Where the piece ends that starts at `from` in a text that ends at `end`. Tokens never cross the end of a piece. */
export function pieceEnd(bytes: Uint8Array, from: number, end: number): number {
  const reach = Math.min(end, from + longestPieceBytes)
  const simple = asciiPieceEnd(bytes, from, reach)
  return simple >= 0 ? simple : anyPieceEnd(bytes, from, reach)
}

function anyPieceEnd(bytes: Uint8Array, from: number, end: number): number {
  const first = kindAt(bytes, from)
  if ((first & anyLetter) !== 0) return wordEnd(bytes, from, end, -1)
  if (first === number) return numberEnd(bytes, from, end)
  if (first === newline) return blankEnd(bytes, from, end)
  const after = from + widthOf(bytes[from] ?? 0)
  const second = after < end ? kindAt(bytes, after) : 0
  if ((second & (anyLetter | mark)) !== 0) return wordEnd(bytes, after, end, first === mark ? after : -1)
  if (first === mark) return contractionEnd(bytes, after, end)
  if (first === other) return punctuationEnd(bytes, from, end)
  if (bytes[from] === spaceByte && second === other) return punctuationEnd(bytes, after, end)
  return blankEnd(bytes, from, end)
}
