/**
 * The o200k pattern over ASCII as a table: one look for each byte and no branch but the last, which is what makes splitting quick.
 * It gives up at the first byte of a longer character and at a second blank; `split.ts` knows the whole pattern.
 */

/** Bytes that the pattern treats alike: class n + 1 is the n-th string, `other` any other ASCII, 0 part of a longer character. */
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
const other = classes.length + 1
const wide = 0
const small: readonly number[] = [1, 2, 3, 4, 5]
const capital: readonly number[] = [6, 7, 8, 9, 10]
const digit = 11
const space = 12
const blank = 13
const newline = 14
const slash = 15
const apostrophe = 16
const punctuation: readonly number[] = [slash, apostrophe, other]
const blanks: readonly number[] = [space, blank, newline]

// What the machine has read so far.
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

// How a piece ends: before this byte, one or two before that, after this byte, or not for this machine to say.
const before = 16
const oneBack = 17
const twoBack = 18
const after = 19
const unsure = 20

const classBits = 5
const moves = new Uint8Array(states << classBits)

function rule(
  state: number,
  otherwise: number,
  ...cases: readonly (readonly [on: readonly number[], to: number])[]
): void {
  moves.fill(otherwise, state << classBits, (state + 1) << classBits)
  for (const [on, to] of cases) for (const found of on) moves[(state << classBits) | found] = to
}

const word: readonly (readonly [readonly number[], number])[] = [
  [small, smalls],
  [capital, capitals],
]
const stuck: readonly [readonly number[], number] = [[wide], unsure]

rule(
  start,
  unsure,
  ...word,
  [[digit], oneDigit],
  [[space], oneSpace],
  [[blank], oneBlank],
  [punctuation, onePunctuation],
)
rule(capitals, before, ...word, [[apostrophe], quote], stuck)
rule(smalls, before, [small, smalls], [[apostrophe], quote], stuck)
rule(quote, oneBack, [[1, 6], after], [[2, 7], quoteL], [[3, 8], quoteVr])
rule(quoteL, twoBack, [[2, 7], after])
rule(quoteVr, twoBack, [[4, 9], after])
rule(oneDigit, before, [[digit], twoDigits], stuck)
rule(twoDigits, before, [[digit], after], stuck)
rule(onePunctuation, before, ...word, [punctuation, punctuated], [[newline], tail], stuck)
rule(punctuated, before, [punctuation, punctuated], [[newline], tail], stuck)
rule(tail, before, [[newline, slash], tail])
rule(oneSpace, before, ...word, [punctuation, punctuated], [blanks, unsure], stuck)
rule(oneBlank, before, ...word, [blanks, unsure], stuck)

const classOf = new Uint8Array(256).fill(other, 0, 128)
classes.forEach((characters, index) => {
  for (const character of characters) classOf[character.charCodeAt(0)] = index + 1
})

/** How far the end is from the byte that was read last; a text may end in the middle of a contraction, too. */
const offsets = new Int8Array(32)
for (const state of [quote, oneBack]) offsets[state] = -1
for (const state of [quoteL, quoteVr, twoBack]) offsets[state] = -2
offsets[after] = 1

/** Where the piece ends that starts at `from`, or -1 where only the whole pattern can tell. */
export function asciiPieceEnd(bytes: Uint8Array, from: number, end: number): number {
  let state = start
  let at = from
  while (at < end) {
    state = moves[(state << classBits) | (classOf[bytes[at] ?? 0] ?? 0)] ?? unsure
    if (state >= before) break
    at++
  }
  return state === unsure ? -1 : at + (offsets[state] ?? 0)
}
