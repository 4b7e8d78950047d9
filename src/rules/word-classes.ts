import { letters } from "../language/letters.ts"
import { kindOf, ofWords, signKind, signsOf } from "./sign-kinds.ts"
import {
  hashStart,
  hashWith,
  isOfRun,
  lengthBits,
  lengthMask,
  storeFor,
  wordField,
  wordFlag,
  wordLength,
  writePhrase,
  writeRun,
  writeWord,
} from "./word-store.ts"
import { type ClassSet, classNames } from "./word-table.ts"

/**
 * A folded sentence as its words and joints. The numbers of its words stand in an array that many readings share, one word behind the
 * other: `wordLength` numbers for each, at the places of `wordField`. As a set it has the classes of all its words.
 */
export type Reading = ClassSet & {
  readonly text: string
  readonly words: Int32Array
  /** Where its first word stands in `words`, and how many there are. */
  readonly first: number
  readonly count: number
  /** The classes of the words: the field `list` of a word tells where in them. A phrase has them at its first word. */
  readonly lists: Uint8Array
  /** The classes of all words, each once, in the order of the text. */
  readonly classes: readonly number[]
  /** What signs tell, as bits of `textMark`. */
  readonly marks: number
}

/** Where the words of a reading end. */
export const wordsEnd = ({ first, count }: Reading): number => first + count * wordLength

/** Has the word at a place of `words` a class of a set? */
export const hasAny = (words: Int32Array, at: number, { low, high }: ClassSet): boolean =>
  (((words[at + wordField.low] ?? 0) & low) | ((words[at + wordField.high] ?? 0) & high)) !== 0

/** Is a class in a set? */
export const isAmong = (of: number, { low, high }: ClassSet): boolean =>
  ((of < 32 ? low : high) & (1 << (of & 31))) !== 0

/** What the signs of a sentence tell: those behind its last letter or digit, what was put aside, a colon within, a bracket at its start. */
export const textMark = {
  asks: 1,
  asksWide: 2,
  exclaims: 4,
  endsInColon: 8,
  code: 16,
  quote: 32,
  number: 64,
  colon: 128,
  bracket: 256,
} as const

/** Does a token stand in a script that puts no blanks between words? */
export const isUnspacedToken = (text: string): boolean => isOfRun(text.charCodeAt(0))

/** What a sign is to the scanner: part of a word, a digit, a sign that is a word of its own; what is passed over is `other`. */
const [other, ofLetters, ofNumber, alone, dash, unspaced] = [1, 2, 3, 4, 5, 6]
const tokenKinds = new Uint8Array(1 << 16)
const letter = new RegExp(`[${letters}]`)

function learnTokenKind(code: number): number {
  const sign = String.fromCharCode(code)
  const kind = isOfRun(code)
    ? unspaced
    : letter.test(sign)
      ? ofLetters
      : /[0-9]/.test(sign)
        ? ofNumber
        : /[?!:;,(。！？：；，、→%$€£]/.test(sign)
          ? alone
          : /[-–—]/.test(sign)
            ? dash
            : other
  tokenKinds[code] = kind
  return kind
}
const tokenKindOf = (code: number): number => tokenKinds[code] || learnTokenKind(code)

/** A letter within a word; words of letters may go on in a script without blanks. */
const goesOn = (code: number): boolean => {
  const kind = tokenKindOf(code)
  return kind === ofLetters || (kind === unspaced && code !== noLetter)
}
/** The first place of a script without blanks, which has no sign. */
const noLetter = 0x3040

const isBlank = (code: number): boolean => (kindOf(code) & signKind.blank) !== 0

/** Where the tokens of the sentence start and end that is being read, and the hashes of their signs. */
let starts = new Int32Array(1024)
let ends = new Int32Array(1024)
let hashes = new Int32Array(1024)

/** Finds the tokens of a text in one pass, and returns how many there are: words ("e-mail" and "don't" are one), numbers, signs, dashes before blanks. */
function findTokens(signs: Uint16Array, length: number): number {
  if (starts.length < length) {
    starts = new Int32Array(2 * length)
    ends = new Int32Array(2 * length)
    hashes = new Int32Array(2 * length)
  }
  let count = 0
  for (let at = 0; at < length; ) {
    const start = at
    const code = signs[at++] ?? 0
    const kind = tokenKindOf(code)
    if (kind === other) continue
    let hash = hashWith(hashStart, code)
    if (kind === ofLetters)
      while (at < length) {
        const next = signs[at] ?? 0
        if (!goesOn(next) && !(isWithin(next) && at + 1 < length && goesOn(signs[at + 1] ?? 0))) break
        hash = hashWith(hash, next)
        at++
      }
    else if (kind === dash) {
      const end = endOfDashes(signs, length, start)
      if (end === start) continue
      for (; at < end; at++) hash = hashWith(hash, signs[at] ?? 0)
    } else if (kind !== alone)
      for (; at < length && tokenKindOf(signs[at] ?? 0) === kind; at++) hash = hashWith(hash, signs[at] ?? 0)
    starts[count] = start
    ends[count] = at
    hashes[count++] = hash
  }
  return count
}

/** Signs that stand between the letters of one word. */
const isWithin = (code: number): boolean => code === 0x27 || code === 0x2d || code === 0x2019

/** Where one or two dashes end that stand before a blank, or where they start if none does. */
function endOfDashes(signs: Uint16Array, length: number, start: number): number {
  const isDash = (at: number): boolean => at < length && tokenKindOf(signs[at] ?? 0) === dash
  const isBlankAt = (at: number): boolean => at < length && isBlank(signs[at] ?? 0)
  if (isDash(start + 1) && isBlankAt(start + 2)) return start + 2
  return isBlankAt(start + 1) ? start + 1 : start
}

/** Tokens of one sentence; what is longer is read at its two ends. */
const maxTokens = 120

/** Which of the tokens that were found is the one at a place of those that are read. */
const tokenAt = (place: number, found: number): number =>
  place < maxTokens / 2 ? place : found - Math.min(found, maxTokens) + place

/** The words and joints of a folded sentence. */
export function tokensOf(text: string): readonly string[] {
  const found = findTokens(signsOf(text, 0, text.length), text.length)
  return Array.from({ length: Math.min(found, maxTokens) }, (_, place) => {
    const token = tokenAt(place, found)
    return text.slice(starts[token], ends[token])
  })
}

/** The words of many readings, one behind the other; a new array is begun when one is full, and goes with the last of its readings. */
const roomWords = 1024
let room = new Int32Array(roomWords * wordLength)
let used = 0

/** A folded sentence, read once for all that is asked of it. */
export const readWords = (text: string): Reading => readSigns(text, signsOf(text, 0, text.length))

/** The same, given as signs as well. */
export function readSigns(text: string, signs: Uint16Array): Reading {
  const { length } = text
  const found = findTokens(signs, length)
  const count = Math.min(found, maxTokens)
  if (used + count * wordLength > room.length) {
    room = new Int32Array(roomWords * wordLength)
    used = 0
  }
  const known = storeFor(count)
  const words = room
  const first = used
  used += count * wordLength
  let runs: Map<number, readonly number[]> | undefined
  for (let place = 0, at = first; place < count; place++, at += wordLength) {
    const token = tokenAt(place, found)
    const start = starts[token] ?? 0
    const end = ends[token] ?? 0
    const hash = hashes[token] ?? 0
    if (isOfRun(signs[start] ?? 0)) {
      runs ??= new Map()
      runs.set(at, writeRun(words, at, signs, start, end, hash))
    } else writeWord(known, words, at, signs, start, end, hash)
  }
  for (let left = count, at = first; left > 0; left--, at += wordLength)
    if ((words[at + wordField.phrase] ?? 0) > lengthMask) writePhrase(known, words, at, left)
  const lists = runs === undefined ? known.lists : listsWith(runs, known.lists, words, first, count)
  return stretchOf(text, words, lists, first, count, marksOf(text, signs))
}
const noLists = new Uint8Array(0)

/** The classes of the known words of a sentence and of its runs without blanks in one array. */
function listsWith(
  runs: ReadonlyMap<number, readonly number[]>,
  known: Uint8Array,
  words: Int32Array,
  first: number,
  count: number,
): Uint8Array {
  const lists: number[] = []
  for (let at = first; at < first + count * wordLength; at += wordLength) {
    const list = words[at + wordField.list] ?? 0
    const from = list >> lengthBits
    const own = runs.get(at) ?? known.subarray(from, from + (list & lengthMask))
    words[at + wordField.list] = (lists.length << lengthBits) | own.length
    for (const of of own) lists.push(of)
  }
  return Uint8Array.from(lists)
}

/** A stretch of the words of a sentence with the classes in it. */
export function stretchOf(
  text: string,
  words: Int32Array,
  lists: Uint8Array,
  first: number,
  count: number,
  marks: number,
): Reading {
  const classes: number[] = []
  let [low, high] = [0, 0]
  for (let at = first; at < first + count * wordLength; at += wordLength) {
    const list = words[at + wordField.list] ?? 0
    const from = list >> lengthBits
    for (let n = from; n < from + (list & lengthMask); n++) {
      const place = lists[n] ?? 0
      const bit = 1 << (place & 31)
      if (((place < 32 ? low : high) & bit) !== 0) continue
      if (place < 32) low |= bit
      else high |= bit
      classes.push(place)
    }
  }
  return { text, words, first, count, lists, classes, low, high, marks }
}

const isOfWord = (code: number): boolean => (kindOf(code) & ofWords) !== 0

function marksOf(text: string, signs: Uint16Array): number {
  const { length } = text
  let marks = length > 0 && signs[0] === 0x28 ? textMark.bracket : 0
  for (let at = length - 1; at >= 0; at--) {
    const code = signs[at] ?? 0
    if (isOfWord(code)) break
    if (code === 0x3f) marks |= textMark.asks
    else if (code === 0xff1f) marks |= textMark.asksWide
    else if (code === 0x21 || code === 0xff01) marks |= textMark.exclaims
    else if (code === 0x3a || code === 0xff1a) marks |= textMark.endsInColon
  }
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1))
    if (at + 1 === length || isBlank(signs[at + 1] ?? 0)) marks |= textMark.colon
  if (text.includes("：")) marks |= textMark.colon
  if (!text.includes("q")) return marks
  return (
    marks |
    (text.includes("qcode") ? textMark.code : 0) |
    (text.includes("qquote") ? textMark.quote : 0) |
    (text.includes("qnum") ? textMark.number : 0)
  )
}

/** The same for words that stand apart from the sentence around them: what was put aside in them. */
export function marksOfWords(words: Int32Array, first: number, count: number): number {
  let flags = 0
  for (let at = first; at < first + count * wordLength; at += wordLength) flags |= words[at + wordField.flags] ?? 0
  return (
    ((flags & wordFlag.code) !== 0 ? textMark.code : 0) |
    ((flags & wordFlag.quote) !== 0 ? textMark.quote : 0) |
    ((flags & wordFlag.number) !== 0 ? textMark.number : 0)
  )
}

/** Where nothing stands. */
export const noReading: Reading = {
  text: "",
  words: room,
  first: 0,
  count: 0,
  lists: noLists,
  classes: [],
  low: 0,
  high: 0,
  marks: 0,
}

/** The names of the classes that the words of a folded text have. */
export const classesIn = (text: string): ReadonlySet<string> =>
  new Set(readWords(text).classes.map((place) => classNames[place] ?? ""))
