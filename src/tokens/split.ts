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
 * Maximum length of a piece in bytes: a longer one is cut to limit the memory for merging; each cut may add a token or two. Divisible by
 * every number up to 12, so that a repeating short pattern is cut into equal pieces, which are merged once.
 */
const longestPieceBytes = 55_440

const apostrophe = 0x27
const slash = 0x2f
const spaceByte = 0x20
const carriageReturn = 0x0d
const lineFeed = 0x0a
/** The bit that distinguishes ASCII lower case from upper case. */
const smallLetter = 0x20

const kindAt = (bytes: Uint8Array, at: number): number => {
  const byte = bytes[at] ?? 0
  return byte < 0x80 ? (ascii[byte] ?? 0) : wideKind(bytes, at)
}

/** Returns the end of the run of characters of the given kinds that starts at `from`. */
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

/** Returns the end of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re` at `at`, in any case; `at` itself if there is none. */
function contractionEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end || bytes[at] !== apostrophe) return at
  const first = String.fromCharCode((bytes[at + 1] ?? 0) | smallLetter)
  if (first === "s" || first === "d" || first === "m" || first === "t") return at + 2
  if (at + 2 >= end) return at
  const second = String.fromCharCode((bytes[at + 2] ?? 0) | smallLetter)
  const pair = first + second
  return pair === "ll" || pair === "ve" || pair === "re" ? at + 3 : at
}

/** Returns the end of the last caseless letter or mark in a run of `upperRun`; -1 if there is none. */
function lastCaselessEnd(bytes: Uint8Array, from: number, end: number): number {
  let found = -1
  for (let at = from; at < end; ) {
    const next = at + widthOf(bytes[at] ?? 0)
    if ((kindAt(bytes, at) & lowerRun) !== 0) found = next
    at = next
  }
  return found
}

/** Returns the end of the word whose letters start at `from`; `markEnd` is the end of a prefix that could itself be the word, or -1. */
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

/**
 * Returns the end of the last newline in a run of blanks; without one, the end of the run less the character that belongs to the next
 * piece.
 */
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

/** Returns the end of the piece that starts at `from` in a text that ends at `end`. Tokens never cross the end of a piece. */
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

/**
 * The o200k pattern over ASCII as a state machine with one table lookup per byte, which makes splitting fast. At the first multi-byte
 * character and at a second blank it stops as `unsure`, and `anyPieceEnd` reads the piece.
 */

/**
 * Classes of bytes that the pattern treats alike: class n + 1 is the n-th string, `other` any other ASCII, 0 part of a longer character.
 */
const classes: readonly string[] = [
  ..."sdmt,l,vr,e,abcfghijknopquwxyz".split(","),
  ..."SDMT,L,VR,E,ABCFGHIJKNOPQUWXYZ".split(","),
  "0123456789",
  " ",
  "\t\v\f",
  "\r\n",
  "/",
  "'",
]
const otherState = classes.length + 1
const wide = 0
const small: readonly number[] = [1, 2, 3, 4, 5]
const capital: readonly number[] = [6, 7, 8, 9, 10]
const digit = 11
const spaceState = 12
const blankState = 13
const newlineState = 14
const slashState = 15
const apostropheState = 16
const punctuation: readonly number[] = [slashState, apostropheState, otherState]
const blanks: readonly number[] = [spaceState, blankState, newlineState]

// States: what has been read of the piece so far.
const start = 0
const capitals = 1
const smalls = 2
const quote = 3
const quoteL = 4
const quoteVr = 5
const oneDigit = 6
const twoDigits = 7
const punctuated = 8
const tail = 9
const onePunctuation = 10
const oneSpace = 11
const oneBlank = 12
const states = 13

// Final states: the piece ends before this byte, one or two bytes earlier, or after this byte; `unsure` cannot tell.
const before = 16
const oneBack = 17
const twoBack = 18
const after = 19
const unsure = 20

const classBits = 5
const moves = new Uint8Array(states << classBits)

function addMoves(
  state: number,
  otherwise: number,
  ...cases: readonly (readonly [on: readonly number[], to: number])[]
): void {
  moves.fill(otherwise, state << classBits, (state + 1) << classBits)
  for (const [on, to] of cases) for (const found of on) moves[(state << classBits) | found] = to
}

const wordMoves: readonly (readonly [readonly number[], number])[] = [
  [small, smalls],
  [capital, capitals],
]
const onWide: readonly [readonly number[], number] = [[wide], unsure]

addMoves(
  start,
  unsure,
  ...wordMoves,
  [[digit], oneDigit],
  [[spaceState], oneSpace],
  [[blankState], oneBlank],
  [punctuation, onePunctuation],
)
addMoves(capitals, before, ...wordMoves, [[apostropheState], quote], onWide)
addMoves(smalls, before, [small, smalls], [[apostropheState], quote], onWide)
addMoves(quote, oneBack, [[1, 6], after], [[2, 7], quoteL], [[3, 8], quoteVr])
addMoves(quoteL, twoBack, [[2, 7], after])
addMoves(quoteVr, twoBack, [[4, 9], after])
addMoves(oneDigit, before, [[digit], twoDigits], onWide)
addMoves(twoDigits, before, [[digit], after], onWide)
addMoves(onePunctuation, before, ...wordMoves, [punctuation, punctuated], [[newlineState], tail], onWide)
addMoves(punctuated, before, [punctuation, punctuated], [[newlineState], tail], onWide)
addMoves(tail, before, [[newlineState, slashState], tail])
addMoves(oneSpace, before, ...wordMoves, [punctuation, punctuated], [blanks, unsure], onWide)
addMoves(oneBlank, before, ...wordMoves, [blanks, unsure], onWide)

const classOf = new Uint8Array(256).fill(otherState, 0, 128)
classes.forEach((characters, index) => {
  for (const character of characters) classOf[character.charCodeAt(0)] = index + 1
})

/** Offset of the piece's end from the last byte read, by state; a text may also end inside a contraction. */
const offsets = new Int8Array(32)
for (const state of [quote, oneBack]) offsets[state] = -1
for (const state of [quoteL, quoteVr, twoBack]) offsets[state] = -2
offsets[after] = 1

/** Returns the end of the piece that starts at `from`, or -1 if only the full pattern can tell. */
function asciiPieceEnd(bytes: Uint8Array, from: number, end: number): number {
  let state = start
  let at = from
  while (at < end) {
    state = moves[(state << classBits) | (classOf[bytes[at] ?? 0] ?? 0)] ?? unsure
    if (state >= before) break
    at++
  }
  return state === unsure ? -1 : at + (offsets[state] ?? 0)
}
