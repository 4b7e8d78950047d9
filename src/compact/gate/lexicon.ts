import { lazy } from "../../language/lazy.ts"
import { foldCharacter, foldWord } from "../../language/normalize.ts"
import { assert } from "../../message/assert.ts"
import { concept } from "./finding.ts"
import vocabularies from "./lexicon.json" with { type: "json" }

/**
 * Every word and pair of words that means something to the gate, folded as the view folds. The file has them by language and concept, `_`
 * joins a pair. Verbs stand there in the form that commands: other forms tell of commands and are left out on purpose. Chinese has the
 * words that Japanese shares, and is cut out of the running text by longest match; the last five languages have only the core of the
 * override family.
 */
const lexicon = lazy((): ReadonlyMap<string, number> => {
  const words = new Map<string, number>()
  for (const vocabulary of Object.values(vocabularies))
    for (const [name, listed] of Object.entries(vocabulary)) {
      assert(isConcept(name), `no concept: ${name}`)
      for (const word of listed.split(" ")) {
        const key = [...word].map(foldCharacter).join("").replace("_", " ")
        words.set(key, (words.get(key) ?? 0) | concept[name])
      }
    }
  return words
})

const isConcept = (name: string): name is keyof typeof concept => Object.hasOwn(concept, name)

/** Every word that stands in the lexicon, alone or in a pair. */
export const lexiconWords = (): readonly string[] => [...lexicon().keys()].flatMap((key) => key.split(" "))

/** The sum of a word, letter by letter. */
export const addToSum = (sum: number, code: number): number => (Math.imul(sum, 0x01000193) + code) | 0

const sumOf = (word: string): number => {
  let sum = 0
  for (let at = 0; at < word.length; at++) sum = addToSum(sum, word.charCodeAt(at))
  return sum
}

/** Sums are told apart by this many bits: some 2,000 words fill a hundredth of it. */
const sumBits = 18
const slotOf = (sum: number): number => Math.imul(sum, 0x9e3779b1) >>> (32 - sumBits)

/** A set of sums, of a bit each, so that it stays in the cache of a processor. Never wrong when it says no. */
type Sums = (sum: number) => boolean

function sumsOf(words: readonly string[]): Sums {
  const slots = new Uint8Array(1 << (sumBits - 3))
  for (const word of words) {
    const slot = slotOf(sumOf(word))
    slots[slot >> 3] = (slots[slot >> 3] ?? 0) | (1 << (slot & 7))
  }
  return (sum) => {
    const slot = slotOf(sum)
    return ((slots[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0
  }
}

/** Can a word of this sum mean anything? Most words need no look at the lexicon. */
const mayMean = lazy(() => sumsOf(lexiconWords()))

type KnownWord = { readonly word: string; readonly concepts: number }

/** The words of the lexicon by their sums; those that have the same one stand in a list. */
const wordsBySum = lazy((): ReadonlyMap<number, readonly KnownWord[]> => {
  const words = new Map<number, KnownWord[]>()
  for (const word of new Set(lexiconWords())) {
    const sum = sumOf(word)
    words.set(sum, [...(words.get(sum) ?? []), { word, concepts: lexicon().get(word) ?? 0 }])
  }
  return words
})

/** The word of the lexicon, alone or of a pair, that stands in a text, which is given as codes. */
export function knownWord(codes: Uint16Array, start: number, end: number, sum: number): KnownWord | undefined {
  if (!mayMean()(sum)) return undefined
  for (const known of wordsBySum().get(sum) ?? []) {
    let at = known.word.length === end - start ? start : end + 1
    while (at < end && known.word.charCodeAt(at - start) === codes[at]) at++
    if (at === end) return known
  }
  return undefined
}

const pairStarts = lazy(
  (): ReadonlySet<string> =>
    new Set([...lexicon().keys()].filter((key) => key.includes(" ")).map((key) => key.split(" ")[0] ?? key)),
)

/** No word of the lexicon is longer; what a glued run can hide is sought up to here. */
const maxWordLength = 16

const maxIdeographs = 6

/** A word longer than this is tried as several words written without spaces. */
const gluedLength = 16

/** Longest glued run that is taken apart; a longer one is a blob, and `decodings` looks at blobs. */
const maxGluedLength = 400

/** Share of a glued Latin run that must be words of the lexicon; an identifier in code has less. */
const minCovered = 0.7

/** Letters of the shortest word that is sought in a glued run. */
const shortestGlued = { ideographic: 1, latin: 3 } as const

/** The beginnings of words by which a glued run is searched: where none starts so, none stands. */
const mayStart = lazy(() =>
  sumsOf(
    [...lexicon().keys()].flatMap((key) => [
      key.slice(0, shortestGlued.ideographic),
      key.slice(0, shortestGlued.latin),
    ]),
  ),
)

const lexiconHasDigits = (): boolean => [..."0123456789"].some((digit) => mayStart()(sumOf(digit)))

/** What a word contributes, read as it stands and as the Latin word it may pass for. */
export function conceptsOf(word: string): number {
  const found = lexicon().get(word)
  if (found !== undefined) return found
  if (word.endsWith("'s")) return lexicon().get(word.slice(0, -2)) ?? 0
  return word.charCodeAt(0) >= 0x370 ? (lexicon().get(foldWord(word)) ?? 0) : 0
}

export const pairConcepts = (one: string, next: string): number =>
  pairStarts().has(one) ? (lexicon().get(`${one} ${next}`) ?? 0) : 0

type Piece = { readonly start: number; readonly end: number; readonly word: string }

const isIdeographic = (word: string): boolean => word.charCodeAt(0) >= 0x2e80

/** Is this run several words written as one: an ideographic script, or spaces taken out? */
export const isGlued = (word: string): boolean =>
  isIdeographic(word) || (word.length > gluedLength && word.length <= maxGluedLength && !lexicon().has(word))

/** The lexicon's words in a glued run, chosen so that they cover the most of it. */
export function unglue(run: string): readonly Piece[] {
  const ideographic = isIdeographic(run)
  if (!ideographic && tooFewLetters(run)) return []
  const lengths = longestCover(
    run,
    ideographic ? shortestGlued.ideographic : shortestGlued.latin,
    ideographic ? maxIdeographs : maxWordLength,
  )
  const pieces: Piece[] = []
  let covered = 0
  for (let at = 0; at < run.length; ) {
    const length = lengths[at] ?? 0
    const end = at + Math.max(1, length)
    covered += length
    if (length > 0 || ideographic) pieces.push({ start: at, end, word: run.slice(at, end) })
    at = end
  }
  return ideographic || covered >= run.length * minCovered ? pieces : []
}

/** Are there so many digits that no words can make up for them? */
function tooFewLetters(run: string): boolean {
  let digits = 0
  for (let at = 0; at < run.length; at++) {
    const code = run.charCodeAt(at)
    if (code >= 48 && code <= 57) digits++
  }
  return digits > run.length * (1 - minCovered) + 1e-9 && !lexiconHasDigits()
}

const scratchOf = (length: number) => ({
  lengths: new Uint8Array(length),
  codes: new Uint16Array(length),
  covered: new Uint32Array(length),
})
/** What a run is taken apart in: used again for the next one. */
let scratch = scratchOf(2 * maxGluedLength)

/** For each place the length of the word to take there, or nothing, such that the words together cover the most. */
function longestCover(run: string, shortest: number, longest: number): Uint8Array {
  if (scratch.lengths.length <= run.length) scratch = scratchOf(2 * run.length)
  const { lengths, codes, covered } = scratch
  lengths.fill(0, 0, run.length)
  covered[run.length] = 0
  for (let at = 0; at < run.length; at++) codes[at] = run.charCodeAt(at)
  for (let at = run.length - 1; at >= 0; at--) {
    covered[at] = covered[at + 1] ?? 0
    let sum = 0
    for (let length = 1; length <= longest && at + length <= run.length; length++) {
      sum = addToSum(sum, codes[at + length - 1] ?? 0)
      if (length < shortest) continue
      if (length === shortest && !mayStart()(sum)) break
      const cover = length + (covered[at + length] ?? 0)
      if (cover < (covered[at] ?? 0) || !mayMean()(sum) || !lexicon().has(run.slice(at, at + length))) continue
      covered[at] = cover
      lengths[at] = length
    }
  }
  return lengths
}
