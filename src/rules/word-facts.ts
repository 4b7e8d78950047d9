import { lazy } from "../language/lazy.ts"
import { textOfCodes } from "../language/letters.ts"
import { knownWords as learntWords } from "./generated/known-words.ts"
import { kindTable, learnKind, ofWords, signKind } from "./sign-kinds.ts"
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
 * What is known of a word by itself, as a few numbers: what the table and the model know of it, or what its letters tell. How words are found in
 * a sentence and kept is in `word-classes.ts`.
 */

/** What a word is, as bits. */
export const wordFlag = {
  /** A sign at which a sentence parts. */
  joint: 1,
  /** In a script that puts no blanks between words. */
  unspaced: 1 << 1,
  /** People start sentences with it, and it says nothing of them. */
  opener: 1 << 2,
  /** A colon or a dash: what stands before it may be a lead. */
  leadEnd: 1 << 3,
  colon: 1 << 4,
  /** A question mark or an exclamation mark. */
  loud: 1 << 5,
  endsInS: 1 << 6,
  /** It joins clauses. */
  joining: 1 << 7,
  /** A run without blanks that is long enough to say something. */
  longRun: 1 << 8,
  /** "Do" or "does". */
  does: 1 << 9,
  /** A word of two signs or more that is no other part of speech behind "never" and "always". */
  verb: 1 << 10,
  /** The same where it is not told of the past, and is in letters. */
  command: 1 << 11,
  /** It forbids, in Chinese. */
  forbids: 1 << 12,
  /** It leaves open what is to be done: "always", "please". */
  bare: 1 << 13,
  /** It stands for what was put aside. */
  code: 1 << 14,
  quote: 1 << 15,
  number: 1 << 16,
  /** It is in the table. */
  classed: 1 << 17,
} as const

/** Bits for how long something is, below where it stands. */
export const lengthBits = 10
export const lengthMask: number = (1 << lengthBits) - 1

/** Words that people start sentences with and that say nothing of what the sentence is. */
const openers =
  "please and but so also ok okay oh well then just yes no hey hi yeah btw y e und et bitte also aber mais pero mas kindly"
const joining = "so but and und et y e aber pero mas mais because since"

/** Signs of a run from which on it can say something by itself. */
const leastSigns = 5

/** The same in Chinese as "never", where no blank stands between the word and what it forbids. */
const forbidding: readonly Uint16Array[] = "不得 不准 不许 不允许 严禁 切勿 绝不 永远不 禁止".split(" ").map(codesOf)
const politely = 0x8bf7

export function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length)
  for (let at = 0; at < codes.length; at++) codes[at] = text.charCodeAt(at)
  return codes
}

/** The hash of no letters yet; a letter more makes it `Math.imul(hash ^ letter, hashFactor)`. */
export const hashStart = 0x811c9dc5 | 0
export const hashFactor = 0x01000193

export function hashOf(signs: Uint16Array, start: number, end: number): number {
  let hash = hashStart
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (signs[at] ?? 0), hashFactor)
  return hash
}
const hashOfText = (text: string): number => hashOf(codesOf(text), 0, text.length)

/** Does a stretch of signs have others from a place on? */
function standsAt(signs: Uint16Array, at: number, end: number, others: Uint16Array): boolean {
  if (at + others.length > end) return false
  for (let n = 0; n < others.length; n++) if (signs[at + n] !== others[n]) return false
  return true
}
function includes(signs: Uint16Array, start: number, end: number, others: Uint16Array): boolean {
  for (let at = start; at + others.length <= end; at++) if (standsAt(signs, at, end, others)) return true
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

function flagsOfSign(code: number): number {
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

/** The last letters of a word. */
const endsIn = (signs: Uint16Array, start: number, end: number, ending: Uint16Array): boolean =>
  end - ending.length >= start && standsAt(signs, end - ending.length, end, ending)
const [ing, ed, ly] = [codesOf("ing"), codesOf("ed"), codesOf("ly")]
const [asideCode, asideQuote, asideNumber] = [codesOf("qcode"), codesOf("qquote"), codesOf("qnum")]

/** What the letters of a word tell. */
function flagsOfLetters(signs: Uint16Array, start: number, end: number): number {
  const first = signs[start] ?? 0
  const isLettered = first < 128 ? isSmall(first) : ((kindTable[first] || learnKind(first)) & signKind.letter) !== 0
  let flags = signs[end - 1] === letterS ? wordFlag.endsInS : 0
  if (end - start > 1) {
    flags |= wordFlag.verb
    if (isLettered && !endsIn(signs, start, end, ed) && !endsIn(signs, start, end, ing)) flags |= wordFlag.command
  }
  for (let at = start; at < end; at++)
    if (signs[at] === letterQ) {
      if (includes(signs, start, end, asideCode)) flags |= wordFlag.code
      if (includes(signs, start, end, asideQuote)) flags |= wordFlag.quote
      if (includes(signs, start, end, asideNumber)) flags |= wordFlag.number
      break
    }
  return flags
}

/** Things of a kind, as most languages of the table mark them: "keep summaries short" speaks of all of them. */
function isPlural(signs: Uint16Array, start: number, end: number): boolean {
  if (end - start < 5 || signs[end - 1] !== letterS) return false
  const before = signs[end - 2] ?? 0
  if (!isSmall(before | 0x20) || before === letterS || before === letterU) return false
  for (let at = start; at < end - 2; at++) if (!isSmall(signs[at] ?? 0)) return false
  return true
}
const pluralPlace = placeOf("plural")
const pluralSet = classSet("plural")

/** A word that is not known is read as its form: what nothing was learnt of says nothing by its letters. */
const forms = {
  ing: hashOfText("<ing>"),
  ed: hashOfText("<ed>"),
  ly: hashOfText("<ly>"),
  plural: hashOfText("<plural>"),
  word: hashOfText("<word>"),
} as const

function formOf(signs: Uint16Array, start: number, end: number, plural: boolean): number {
  const length = end - start
  if (length > 5 && endsIn(signs, start, end, ing)) return forms.ing
  if (length > 4 && endsIn(signs, start, end, ed)) return forms.ed
  if (length > 4 && endsIn(signs, start, end, ly)) return forms.ly
  return plural ? forms.plural : forms.word
}

/** Has a token a letter or a digit? Some have only marks. */
function hasLetter(signs: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = signs[at] ?? 0
    if (((kindTable[code] || learnKind(code)) & ofWords) !== 0) return true
  }
  return false
}

/** Numbers of a word, and the place of each. Of a word without blanks, `head` is where it starts in its text, `ending` how long it is. */
export const wordLength = 8
export const wordField = { hash: 0, head: 1, ending: 2, flags: 3, list: 4, low: 5, high: 6, phrase: 7 } as const

/**
 * The classes of all words that were met, one list behind the other: the field `list` of a word tells where, and how many. There is room for all
 * that the table has.
 */
export const classLists: Uint8Array = new Uint8Array(1 << 16)
let listed = 0
/** For each word that opens phrases: how many, and of each how many words follow, their numbers, and its classes as `list`, `low` and `high`. */
export const phrases: number[] = [0]

/** Writes a list of classes, and returns where it stands and which classes it has: three numbers as in a word. */
function writeList(own: readonly number[]): readonly [list: number, low: number, high: number] {
  const { low, high } = setOfPlaces(own)
  const list = (listed << lengthBits) | own.length
  for (const place of own) classLists[listed++] = place
  return [list, low, high]
}
const [pluralList] = writeList([pluralPlace])

/** What is known of a word beside its letters. */
type Known = {
  /** The model learnt what it says, or the table has it. */
  isRead: boolean
  classes: readonly number[]
  /** Phrases that it opens: the numbers of the words behind it, and the class. */
  opens: readonly { readonly rest: readonly number[]; readonly place: number }[]
  /** A number of its own if it stands within a phrase. */
  number: number
  /** Flags that it has, and flags that it has not whatever its letters say. */
  flags: number
  without: number
  /** The numbers of the word from `list` on, once its classes and phrases are laid out. */
  laid?: readonly number[]
}
const nothing: Known = { isRead: false, classes: [], opens: [], number: 0, flags: 0, without: 0 }
const learnt: Known = { ...nothing, isRead: true }

const knownWords = lazy((): ReadonlyMap<string, Known> => {
  const words = new Map<string, Known>()
  const entryOf = (word: string): Known => {
    const known = words.get(word)
    if (known !== undefined) return known
    const made = { ...nothing }
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
    if (known === undefined) words.set(word, learnt)
    else known.isRead = true
  }
  return words
})

const bare = classSet("never always please thanks")

/** Writes the numbers of a word. */
export function writeWord(to: Int32Array, at: number, signs: Uint16Array, start: number, end: number): void {
  writeLetters(to, at, signs, start, end)
  const known = knownWords().get(textOfCodes(signs, start, end))
  if (known === undefined) return
  if (known.isRead) to[at + wordField.hash] = hashOf(signs, start, end)
  to[at + wordField.flags] = ((to[at + wordField.flags] ?? 0) & ~known.without) | known.flags
  if (known.classes.length + known.opens.length + known.number === 0) return
  known.laid ??= layOut(known, isPlural(signs, start, end) ? [...known.classes, pluralPlace] : known.classes)
  for (let n = 0; n < known.laid.length; n++) to[at + wordField.list + n] = known.laid[n] ?? 0
  if (hasAny(to, at, bare)) to[at + wordField.flags] = (to[at + wordField.flags] ?? 0) | wordFlag.bare
}

function layOut({ opens, number }: Known, own: readonly number[]): readonly number[] {
  const classes = own.length === 0 ? [0, 0, 0] : writeList(own)
  if (opens.length === 0) return [...classes, number]
  const made = phrases.length
  phrases.push(
    opens.length,
    ...opens.flatMap(({ rest, place }) => [rest.length, ...rest, ...writeList([place, ...own])]),
  )
  return [...classes, (made << lengthBits) | number]
}

/** Has the word at a place of `words` a class of a set? */
export const hasAny = (words: Int32Array, at: number, { low, high }: ClassSet): boolean =>
  (((words[at + wordField.low] ?? 0) & low) | ((words[at + wordField.high] ?? 0) & high)) !== 0

/** Letters of a word from which on it has parts, and of its parts. */
const [leastParted, headLength, endingLength] = [5, 4, 3]

/** Writes what the letters of a word tell. */
export function writeLetters(to: Int32Array, at: number, signs: Uint16Array, start: number, end: number): void {
  const first = signs[start] ?? 0
  const isSign = !hasLetter(signs, start, end)
  // A word that stands for what was put aside starts with "q", and has no parts.
  const isParted = !isSign && end - start >= leastParted && first !== letterQ
  const plural = isPlural(signs, start, end)
  to[at + wordField.hash] = isSign ? hashOf(signs, start, end) : formOf(signs, start, end, plural)
  to[at + wordField.head] = isParted ? hashOf(signs, start, start + headLength) : 0
  to[at + wordField.ending] = isParted ? hashOf(signs, end - endingLength, end) : 0
  to[at + wordField.flags] = flagsOfLetters(signs, start, end) | (isSign ? flagsOfSign(first) : 0)
  to[at + wordField.list] = plural ? pluralList : 0
  to[at + wordField.low] = plural ? pluralSet.low : 0
  to[at + wordField.high] = plural ? pluralSet.high : 0
  to[at + wordField.phrase] = 0
}

type WideSign = { readonly signs: Uint16Array; readonly place: number; readonly at: number }

/** The marks of Japanese sounds are taken off a folded text, so they are taken off the table as well. */
const withoutMarks = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC")

/** The entries of the table by their first sign, each list in the order of classes. */
const wide = lazy((): ReadonlyMap<number, readonly WideSign[]> => {
  const entries = Object.entries(wideTable).flatMap(([name, signs]) =>
    withoutMarks(signs)
      .split(" ")
      .map((sign) => ({ signs: codesOf(sign), place: placeOf(name) })),
  )
  const byClass = entries.toSorted((one, two) => one.place - two.place).map((entry, at) => ({ ...entry, at }))
  return Map.groupBy(byClass, ({ signs }) => signs[0] ?? 0)
})

/** The classes of a run of a script without blanks, in the order of the text; each entry of the table counts once. */
function wideClasses(signs: Uint16Array, start: number, end: number): readonly number[] {
  const table = wide()
  const found: number[] = []
  const seen: number[] = []
  for (let from = start; from < end; from++) {
    const entries = table.get(signs[from] ?? 0)
    if (entries === undefined) continue
    for (const { signs: own, place, at } of entries)
      if (standsAt(signs, from, end, own) && !seen.includes(at)) {
        seen.push(at)
        found.push(place)
      }
  }
  return found
}

/** The same as `writeWord` for a run of a script without blanks: returns its classes, whose list the caller writes. */
export function writeRun(
  to: Int32Array,
  at: number,
  signs: Uint16Array,
  start: number,
  end: number,
): readonly number[] {
  const classes = wideClasses(signs, start, end)
  const { low, high } = setOfPlaces(classes)
  const length = end - start
  const from = signs[start] === politely ? start + 1 : start
  to[at + wordField.hash] = hashOf(signs, start, end)
  to[at + wordField.head] = start
  to[at + wordField.ending] = length
  to[at + wordField.flags] =
    wordFlag.unspaced |
    (length >= leastSigns ? wordFlag.longRun : 0) |
    (length > 1 ? wordFlag.verb : 0) |
    (forbidding.some((own) => standsAt(signs, from, end, own)) ? wordFlag.forbids : 0) |
    (sharesClass({ low, high }, bare) ? wordFlag.bare : 0)
  to[at + wordField.low] = low
  to[at + wordField.high] = high
  to[at + wordField.phrase] = 0
  return classes
}
