import { lazy } from "../../language/lazy.ts"
import { foldCharacter, foldWord } from "../../language/normalize.ts"
import { assert } from "../../message/assert.ts"
import { concept } from "./finding.ts"
import vocabularies from "./lexicon.json" with { type: "json" }

/**
 * All words and word pairs that the gate knows, normalized like the text. The file lists them by language and concept; `_` joins a pair.
 * Verbs are listed in the imperative only, because other forms report commands. Chinese contains the words shared with Japanese and is
 * split so that the words cover as much as possible. The last five languages have only the core of the override family.
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

/** Returns every word in the lexicon, alone or from a pair. */
export const lexiconWords = (): readonly string[] => [...lexicon().keys()].flatMap((key) => key.split(" "))

/** Updates the hash of a word with one more character. */
export const addToSum = (sum: number, code: number): number => (Math.imul(sum, 0x01000193) + code) | 0

const hashOf = (word: string): number => {
  let sum = 0
  for (let at = 0; at < word.length; at++) sum = addToSum(sum, word.charCodeAt(at))
  return sum
}

/** Number of bits of the hash set: about 2,000 words fill 1% of it. */
const hashBits = 18
const slotOf = (sum: number): number => Math.imul(sum, 0x9e3779b1) >>> (32 - hashBits)

/** A set of word hashes with one bit each, small enough for the processor cache. False positives are possible, false negatives are not. */
type HashSet = (sum: number) => boolean

function hashSetOf(words: readonly string[]): HashSet {
  const slots = new Uint8Array(1 << (hashBits - 3))
  for (const word of words) {
    const slot = slotOf(hashOf(word))
    slots[slot >> 3] = (slots[slot >> 3] ?? 0) | (1 << (slot & 7))
  }
  return (sum) => {
    const slot = slotOf(sum)
    return ((slots[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0
  }
}

/** False if no word of the lexicon has this hash, which is so for most words and skips the lookup. */
const mayMean = lazy(() => hashSetOf(lexiconWords()))

type KnownWord = { readonly word: string; readonly concepts: number }

/** The words of the lexicon by hash; words with the same hash are in one list. */
const wordsBySum = lazy((): ReadonlyMap<number, readonly KnownWord[]> => {
  const words = new Map<number, KnownWord[]>()
  for (const word of new Set(lexiconWords())) {
    const sum = hashOf(word)
    words.set(sum, [...(words.get(sum) ?? []), { word, concepts: lexicon().get(word) ?? 0 }])
  }
  return words
})

/** Returns the lexicon word, alone or from a pair, at this span of character codes. */
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

/** Maximum length of a lexicon word, and of a word searched in a run without spaces. */
const maxWordLength = 16

const maxIdeographs = 6

/** A longer word is tried as several words written without spaces. */
const gluedLength = 16

/** Maximum length of a run that is split; longer ones are blobs, which `decodings` handles. */
const maxGluedLength = 400

/** Minimum share of a Latin run that has to be lexicon words; identifiers in code have less. */
const minCovered = 0.7

/** Minimum length of a word searched in such a run. */
const shortestGlued = { ideographic: 1, latin: 3 } as const

/** Hashes of the first letters of all words: a run is only searched where a word may start. */
const mayStart = lazy(() =>
  hashSetOf(
    [...lexicon().keys()].flatMap((key) => [
      key.slice(0, shortestGlued.ideographic),
      key.slice(0, shortestGlued.latin),
    ]),
  ),
)

const lexiconHasDigits = (): boolean => [..."0123456789"].some((digit) => mayStart()(hashOf(digit)))

/** Returns the concepts of a word, read as written and as the Latin word that it imitates. */
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

/** True if this run is several words written as one: an ideographic script, or a text with its spaces removed. */
export const isGlued = (word: string): boolean =>
  isIdeographic(word) || (word.length > gluedLength && word.length <= maxGluedLength && !lexicon().has(word))

/** Splits a run into lexicon words so that they cover as much of it as possible. */
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

/** True if there are so many digits that the words cannot cover enough of the run. */
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
/** Buffers reused for every run. */
let scratch = scratchOf(2 * maxGluedLength)

/** For each position the length of the word to take there, or 0, so that the words cover as much as possible. */
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
