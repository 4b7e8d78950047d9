import { lazy } from "../language/lazy.ts"
import { textOfCodes } from "../language/letters.ts"
import { knownWords as learntWords } from "./generated/known-words.ts"
import { charKind, kindTable, learnKind, ofWords } from "./sign-kinds.ts"
import {
  type ClassSet,
  classSet,
  noCommand,
  placeOf,
  setOfPlaces,
  sharesClass,
  wideTable,
  wordTable,
} from "./word-table.ts"

/**
 * Facts about a word by itself, as a few numbers: what the word table and the model know of it, or what its letters tell. How words are
 * found in a sentence and cached is in `word-classes.ts`.
 */

/** Facts about a word, as bits. */
export const wordFlag = {
  /** Punctuation that separates clauses. */
  joint: 1,
  /** In a script without blanks between words. */
  unspaced: 1 << 1,
  /** People start sentences with it, and it says nothing about them. */
  opener: 1 << 2,
  /** A colon or a dash: what stands before it may be a lead. */
  leadEnd: 1 << 3,
  colon: 1 << 4,
  /** A question mark or an exclamation mark. */
  loud: 1 << 5,
  endsInS: 1 << 6,
  /** It joins clauses. */
  joining: 1 << 7,
  /** A run without blanks that is long enough to say something by itself. */
  longRun: 1 << 8,
  /** "Do" or "does". */
  does: 1 << 9,
  /** At least two characters long, and not listed as a word that is no verb after "never" and "always". */
  verb: 1 << 10,
  /** Same, and it starts with a letter and does not end in "-ed" or "-ing". */
  command: 1 << 11,
  /** It starts with a Chinese word that forbids. */
  forbids: 1 << 12,
  /** It leaves open what is to be done: "always", "please". */
  bare: 1 << 13,
  /** It is or contains the mask of code, a quotation or a number. */
  code: 1 << 14,
  quote: 1 << 15,
  number: 1 << 16,
  /** It is in the word table. */
  classed: 1 << 17,
} as const

/** Number of bits for a length, below the bits for its offset. */
export const lengthBits = 10
export const lengthMask: number = (1 << lengthBits) - 1

/** Words that people start sentences with and that say nothing about them. */
const openers =
  "please and but so also ok okay oh well then just yes no hey hi yeah btw y e und et bitte also aber mais pero mas kindly"
const joining = "so but and und et y e aber pero mas mais because since"

/** Minimum length in characters of a run without blanks that can say something by itself. */
const minRunLength = 5

/** Chinese words for "never" and "must not", which no blank separates from what they forbid. */
const forbidding: readonly Uint16Array[] = "不得 不准 不许 不允许 严禁 切勿 绝不 永远不 禁止".split(" ").map(codesOf)
const pleaseChar = 0x8bf7

export function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length)
  for (let at = 0; at < codes.length; at++) codes[at] = text.charCodeAt(at)
  return codes
}

/** Hash of no letters; each further letter makes it `Math.imul(hash ^ letter, hashFactor)`. */
export const hashStart = 0x811c9dc5 | 0
export const hashFactor = 0x01000193

export function hashOf(codes: Uint16Array, start: number, end: number): number {
  let hash = hashStart
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (codes[at] ?? 0), hashFactor)
  return hash
}
const hashOfText = (text: string): number => hashOf(codesOf(text), 0, text.length)

/** True if the codes at an offset are those of `others`. */
function standsAt(codes: Uint16Array, at: number, end: number, others: Uint16Array): boolean {
  if (at + others.length > end) return false
  for (let n = 0; n < others.length; n++) if (codes[at + n] !== others[n]) return false
  return true
}
function includes(codes: Uint16Array, start: number, end: number, others: Uint16Array): boolean {
  for (let at = start; at + others.length <= end; at++) if (standsAt(codes, at, end, others)) return true
  return false
}

export const isOfRun = (code: number): boolean =>
  code >= 0x0e00 &&
  (code <= 0x0eff ||
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7af))

const colons = codesOf(":：")
const dashes = codesOf("—–-")
const joints = codesOf(":;,(：；，、—–-")

function flagsOfPunctuation(code: number): number {
  const isColon = colons.includes(code)
  return (
    (joints.includes(code) ? wordFlag.joint : 0) |
    (isColon || dashes.includes(code) ? wordFlag.leadEnd : 0) |
    (isColon ? wordFlag.colon : 0) |
    (code === 0x3f || code === 0x21 ? wordFlag.loud : 0)
  )
}

const [letterQ, letterS, letterU] = [0x71, 0x73, 0x75]
const isSmall = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** True if a word ends in the given letters. */
const endsIn = (codes: Uint16Array, start: number, end: number, ending: Uint16Array): boolean =>
  end - ending.length >= start && standsAt(codes, end - ending.length, end, ending)
const [ing, ed, ly] = [codesOf("ing"), codesOf("ed"), codesOf("ly")]
const [codeMask, quoteMask, numberMask] = [codesOf("qcode"), codesOf("qquote"), codesOf("qnum")]

/** Returns the flags that the letters of a word tell. */
function flagsOfLetters(codes: Uint16Array, start: number, end: number): number {
  const first = codes[start] ?? 0
  const isLettered = first < 128 ? isSmall(first) : ((kindTable[first] || learnKind(first)) & charKind.letter) !== 0
  let flags = codes[end - 1] === letterS ? wordFlag.endsInS : 0
  if (end - start > 1) {
    flags |= wordFlag.verb
    if (isLettered && !endsIn(codes, start, end, ed) && !endsIn(codes, start, end, ing)) flags |= wordFlag.command
  }
  for (let at = start; at < end; at++)
    if (codes[at] === letterQ) {
      if (includes(codes, start, end, codeMask)) flags |= wordFlag.code
      if (includes(codes, start, end, quoteMask)) flags |= wordFlag.quote
      if (includes(codes, start, end, numberMask)) flags |= wordFlag.number
      break
    }
  return flags
}

/** True if a word looks like a plural in most languages of the word table: "keep summaries short" is about all of them. */
function isPlural(codes: Uint16Array, start: number, end: number): boolean {
  if (end - start < 5 || codes[end - 1] !== letterS) return false
  const before = codes[end - 2] ?? 0
  if (!isSmall(before | 0x20) || before === letterS || before === letterU) return false
  for (let at = start; at < end - 2; at++) if (!isSmall(codes[at] ?? 0)) return false
  return true
}
const pluralPlace = placeOf("plural")
const pluralSet = classSet("plural")

/** Hashes by the form of a word, used for words that the model did not learn: their letters say nothing. */
const forms = {
  ing: hashOfText("<ing>"),
  ed: hashOfText("<ed>"),
  ly: hashOfText("<ly>"),
  plural: hashOfText("<plural>"),
  word: hashOfText("<word>"),
} as const

function formOf(codes: Uint16Array, start: number, end: number, plural: boolean): number {
  const length = end - start
  if (length > 5 && endsIn(codes, start, end, ing)) return forms.ing
  if (length > 4 && endsIn(codes, start, end, ed)) return forms.ed
  if (length > 4 && endsIn(codes, start, end, ly)) return forms.ly
  return plural ? forms.plural : forms.word
}

/** True if a token has a letter or a digit; some are only punctuation. */
function hasLetter(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = codes[at] ?? 0
    if (((kindTable[code] || learnKind(code)) & ofWords) !== 0) return true
  }
  return false
}

/** Number of fields of a word, and the offset of each. In a run without blanks `head` is its start in the text and `ending` its length. */
export const wordLength = 8
export const wordField = { hash: 0, head: 1, ending: 2, flags: 3, list: 4, low: 5, high: 6, phrase: 7 } as const

/**
 * Classes of all words met so far, one list after another: the `list` field of a word holds the offset and the length. Large enough for the
 * whole word table.
 */
export const classLists: Uint8Array = new Uint8Array(1 << 16)
let listed = 0
/**
 * For each word that opens phrases: their number, and of each phrase how many words follow, their numbers, and its classes as `list`, `low`
 * and `high`.
 */
export const phrases: number[] = [0]

/** Writes a list of classes and returns its three fields of a word. */
function writeList(own: readonly number[]): readonly [list: number, low: number, high: number] {
  const { low, high } = setOfPlaces(own)
  const list = (listed << lengthBits) | own.length
  for (const place of own) classLists[listed++] = place
  return [list, low, high]
}
const [pluralList] = writeList([pluralPlace])

/** What is known about a word besides its letters. */
type WordFacts = {
  /** True if the model learnt it, or the word table has it. */
  isRead: boolean
  classes: readonly number[]
  /** Phrases that it opens: the numbers of the following words, and the class. */
  opens: readonly { readonly rest: readonly number[]; readonly place: number }[]
  /** Number that identifies it within phrases; 0 if it is in none. */
  number: number
  /** Flags to set, and flags to clear whatever its letters say. */
  flags: number
  without: number
  /** Fields of the word from `list` on, computed on first use. */
  laid?: readonly number[]
}
const noFacts: WordFacts = { isRead: false, classes: [], opens: [], number: 0, flags: 0, without: 0 }
const learntOnly: WordFacts = { ...noFacts, isRead: true }

const knownWords = lazy((): ReadonlyMap<string, WordFacts> => {
  const words = new Map<string, WordFacts>()
  const entryOf = (word: string): WordFacts => {
    const known = words.get(word)
    if (known !== undefined) return known
    const made = { ...noFacts }
    words.set(word, made)
    return made
  }
  let numbers = 0
  const numberOf = (word: string): number => {
    const entry = entryOf(word)
    entry.number ||= ++numbers
    return entry.number
  }
  for (const [place, entry] of Object.values(wordTable).entries()) {
    const [single = "", ...longer] = entry.split("|")
    for (const word of single.trim().split(" ")) {
      const known = entryOf(word)
      known.classes = [...known.classes, place]
      known.flags |= wordFlag.classed
      known.isRead = true
    }
    for (const phrase of longer) {
      const [first = "", ...rest] = phrase.trim().split(" ")
      const known = entryOf(first)
      known.opens = [...known.opens, { rest: rest.map(numberOf), place }]
      known.isRead = true
    }
  }
  for (const word of openers.split(" ")) entryOf(word).flags |= wordFlag.opener
  for (const word of joining.split(" ")) entryOf(word).flags |= wordFlag.joining
  for (const word of ["do", "does"]) entryOf(word).flags |= wordFlag.does
  for (const word of noCommand.split(" ")) entryOf(word).without |= wordFlag.verb | wordFlag.command
  for (const word of learntWords.split(" ")) {
    const known = words.get(word)
    if (known === undefined) words.set(word, learntOnly)
    else known.isRead = true
  }
  return words
})

/** True for a word, in lower case and without accents, that messages often have: it is nobody's name. */
export const isKnownWord = (word: string): boolean => knownWords().get(word)?.isRead === true

const bare = classSet("never always please thanks")

/** Writes the fields of a word. */
export function writeWord(to: Int32Array, at: number, codes: Uint16Array, start: number, end: number): void {
  writeLetters(to, at, codes, start, end)
  const known = knownWords().get(textOfCodes(codes, start, end))
  if (known === undefined) return
  if (known.isRead) to[at + wordField.hash] = hashOf(codes, start, end)
  to[at + wordField.flags] = ((to[at + wordField.flags] ?? 0) & ~known.without) | known.flags
  if (known.classes.length + known.opens.length + known.number === 0) return
  known.laid ??= classFields(known, isPlural(codes, start, end) ? [...known.classes, pluralPlace] : known.classes)
  for (let n = 0; n < known.laid.length; n++) to[at + wordField.list + n] = known.laid[n] ?? 0
  if (hasAny(to, at, bare)) to[at + wordField.flags] = (to[at + wordField.flags] ?? 0) | wordFlag.bare
}

function classFields({ opens, number }: WordFacts, own: readonly number[]): readonly number[] {
  const classes = own.length === 0 ? [0, 0, 0] : writeList(own)
  if (opens.length === 0) return [...classes, number]
  const made = phrases.length
  phrases.push(
    opens.length,
    ...opens.flatMap(({ rest, place }) => [rest.length, ...rest, ...writeList([place, ...own])]),
  )
  return [...classes, (made << lengthBits) | number]
}

/** True if the word at an offset of `words` has a class of the set. */
export const hasAny = (words: Int32Array, at: number, { low, high }: ClassSet): boolean =>
  (((words[at + wordField.low] ?? 0) & low) | ((words[at + wordField.high] ?? 0) & high)) !== 0

/** Minimum length of a word that is also read by its parts, and the lengths of the parts. */
const [minPartedLength, headLength, endingLength] = [5, 4, 3]

/** Writes the fields that the letters of a word tell. */
export function writeLetters(to: Int32Array, at: number, codes: Uint16Array, start: number, end: number): void {
  const first = codes[start] ?? 0
  const isPunctuation = !hasLetter(codes, start, end)
  // Masks start with "q" and have no parts, so no word with that letter has any.
  const isParted = !isPunctuation && end - start >= minPartedLength && first !== letterQ
  const plural = isPlural(codes, start, end)
  to[at + wordField.hash] = isPunctuation ? hashOf(codes, start, end) : formOf(codes, start, end, plural)
  to[at + wordField.head] = isParted ? hashOf(codes, start, start + headLength) : 0
  to[at + wordField.ending] = isParted ? hashOf(codes, end - endingLength, end) : 0
  to[at + wordField.flags] = flagsOfLetters(codes, start, end) | (isPunctuation ? flagsOfPunctuation(first) : 0)
  to[at + wordField.list] = plural ? pluralList : 0
  to[at + wordField.low] = plural ? pluralSet.low : 0
  to[at + wordField.high] = plural ? pluralSet.high : 0
  to[at + wordField.phrase] = 0
}

type RunEntry = { readonly signs: Uint16Array; readonly place: number; readonly at: number }

/** Removes the voicing marks of Japanese, because a folded text has none. */
const withoutMarks = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC")

/** Entries of the table for scripts without blanks, by their first character and in the order of classes. */
const wide = lazy((): ReadonlyMap<number, readonly RunEntry[]> => {
  const entries = Object.entries(wideTable).flatMap(([name, codes]) =>
    withoutMarks(codes)
      .split(" ")
      .map((entry) => ({ signs: codesOf(entry), place: placeOf(name) })),
  )
  const byClass = entries.toSorted((one, two) => one.place - two.place).map((entry, at) => ({ ...entry, at }))
  return Map.groupBy(byClass, ({ signs }) => signs[0] ?? 0)
})

/** Returns the classes of a run of a script without blanks, in text order; each entry of the table counts once. */
function wideClasses(codes: Uint16Array, start: number, end: number): readonly number[] {
  const table = wide()
  const found: number[] = []
  const seen: number[] = []
  for (let from = start; from < end; from++) {
    const entries = table.get(codes[from] ?? 0)
    if (entries === undefined) continue
    for (const { signs: own, place, at } of entries)
      if (standsAt(codes, from, end, own) && !seen.includes(at)) {
        seen.push(at)
        found.push(place)
      }
  }
  return found
}

/** Same as `writeWord` for a run of a script without blanks: returns its classes, whose list the caller writes. */
export function writeRun(
  to: Int32Array,
  at: number,
  codes: Uint16Array,
  start: number,
  end: number,
): readonly number[] {
  const classes = wideClasses(codes, start, end)
  const { low, high } = setOfPlaces(classes)
  const length = end - start
  const from = codes[start] === pleaseChar ? start + 1 : start
  to[at + wordField.hash] = hashOf(codes, start, end)
  to[at + wordField.head] = start
  to[at + wordField.ending] = length
  to[at + wordField.flags] =
    wordFlag.unspaced |
    (length >= minRunLength ? wordFlag.longRun : 0) |
    (length > 1 ? wordFlag.verb : 0) |
    (forbidding.some((own) => standsAt(codes, from, end, own)) ? wordFlag.forbids : 0) |
    (sharesClass({ low, high }, bare) ? wordFlag.bare : 0)
  to[at + wordField.low] = low
  to[at + wordField.high] = high
  to[at + wordField.phrase] = 0
  return classes
}
