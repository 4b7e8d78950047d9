import { foldCharacter, foldWord } from "../../language/fold.ts"
import { concept } from "./concept.ts"
import { coreLanguages } from "./core-languages.ts"
import { english } from "./english.ts"
import { otherLanguages } from "./languages.ts"

const bits: Readonly<Record<string, number>> = concept

const fold = (word: string): string => [...word].map(foldCharacter).join("")

/** Every word and pair of words that means something to the gate, folded as the view folds. */
const lexicon: ReadonlyMap<string, number> = (() => {
  const words = new Map<string, number>()
  for (const vocabulary of [english, ...otherLanguages, ...coreLanguages]) {
    for (const [name, listed] of Object.entries(vocabulary)) {
      for (const word of listed.split(" ")) {
        const key = fold(word).replace("_", " ")
        words.set(key, (words.get(key) ?? 0) | (bits[name] ?? 0))
      }
    }
  }
  return words
})()

/** Every word that stands in the lexicon, alone or in a pair. */
export const lexiconWords: readonly string[] = [...lexicon.keys()].flatMap((key) => key.split(" "))

const pairStarts: ReadonlySet<string> = new Set(
  [...lexicon.keys()].filter((key) => key.includes(" ")).map((key) => key.split(" ")[0] ?? key),
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

const lexiconHasDigits = [...lexicon.keys()].some((key) => /^\d/.test(key))

/** Letters of a word by which a glued run is searched: where none starts so, none stands. No longer than the shortest word sought. */
const startLength = 3

const starts: ReadonlySet<string> = new Set(
  [...lexicon.keys()].flatMap((key) => Array.from({ length: startLength }, (_, n) => key.slice(0, n + 1))),
)

/** What a word contributes, read as it stands and as the Latin word it may pass for. */
export function conceptsOf(word: string): number {
  const found = lexicon.get(word)
  if (found !== undefined) return found
  if (word.endsWith("'s")) return lexicon.get(word.slice(0, -2)) ?? 0
  return word.charCodeAt(0) >= 0x370 ? (lexicon.get(foldWord(word)) ?? 0) : 0
}

export const pairConcepts = (one: string, next: string): number =>
  pairStarts.has(one) ? (lexicon.get(`${one} ${next}`) ?? 0) : 0

export type Piece = { readonly start: number; readonly end: number; readonly word: string }

const isIdeographic = (word: string): boolean => word.charCodeAt(0) >= 0x2e80

/** Is this run several words written as one: an ideographic script, or spaces taken out? */
export const isGlued = (word: string): boolean =>
  isIdeographic(word) || (word.length > gluedLength && word.length <= maxGluedLength && !lexicon.has(word))

/** The lexicon's words in a glued run, chosen so that they cover the most of it. */
export function unglue(run: string): readonly Piece[] {
  const ideographic = isIdeographic(run)
  if (!ideographic && tooFewLetters(run)) return []
  const lengths = longestCover(run, ideographic ? 1 : 3, ideographic ? maxIdeographs : maxWordLength)
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
  return digits > run.length * (1 - minCovered) + 1e-9 && !lexiconHasDigits
}

/** For each place the length of the word to take there, or nothing, such that the words together cover the most. */
function longestCover(run: string, shortest: number, longest: number): Uint8Array {
  const lengths = new Uint8Array(run.length)
  const covered = new Uint32Array(run.length + 1)
  for (let at = run.length - 1; at >= 0; at--) {
    covered[at] = covered[at + 1] ?? 0
    if (!starts.has(run.slice(at, at + shortest))) continue
    for (let length = shortest; length <= longest && at + length <= run.length; length++) {
      const cover = length + (covered[at + length] ?? 0)
      if (cover < (covered[at] ?? 0) || !lexicon.has(run.slice(at, at + length))) continue
      covered[at] = cover
      lengths[at] = length
    }
  }
  return lengths
}
