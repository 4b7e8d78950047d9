import { letters } from "../language/letters.ts"
import { kindTable, learnKind, ofWords, signKind, signsOf } from "./sign-kinds.ts"
import {
  classLists,
  hashFactor,
  hashOf,
  hashStart,
  isOfRun,
  lengthBits,
  lengthMask,
  phrases,
  wordField,
  wordFlag,
  wordLength,
  writeLetters,
  writeRun,
  writeWord,
} from "./word-facts.ts"
import { type ClassSet, classNames } from "./word-table.ts"

/**
 * A folded sentence as its words and joints. The numbers of its words stand in an array that many readings share, one word behind the
 * other: `wordLength` numbers for each, at the places of `wordField`. As a set it has the classes of all its words.
 */
export type Reading = ClassSet & {
  readonly text: string
  readonly words: Int32Array
  /** Where its first word stands in `words`, where its words end, and how many there are. */
  readonly first: number
  readonly end: number
  readonly count: number
  /** The classes of the words: the field `list` of a word tells where in them. A phrase has them at its first word. */
  readonly lists: Uint8Array
  /** The classes of all words, each once, in the order of the text. */
  readonly classes: readonly number[]
  /** What signs tell, as bits of `textMark`. */
  readonly marks: number
}

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

const isBlank = (code: number): boolean => ((kindTable[code] || learnKind(code)) & signKind.blank) !== 0

/** Tokens of one sentence; what is longer is read at its two ends. */
const maxTokens = 120
const half = maxTokens / 2

/** Where the tokens of the sentence start and end that is being read, and the hashes of their signs: the first ones and then the last ones in turn. */
const starts = new Int32Array(maxTokens)
const ends = new Int32Array(maxTokens)
const hashes = new Int32Array(maxTokens)
const slotOf = (token: number): number => (token < maxTokens ? token : half + ((token - half) % half))

/** Which of the tokens that were found is the one at a place of those that are read. */
const tokenAt = (place: number, found: number): number =>
  slotOf(place < half ? place : found - Math.min(found, maxTokens) + place)

/** Finds the tokens of a text in one pass, and returns how many there are: words ("e-mail" and "don't" are one), numbers, signs, dashes before blanks. */
function findTokens(signs: Uint16Array, length: number): number {
  let count = 0
  for (let at = 0; at < length; ) {
    const start = at
    const code = signs[at++] ?? 0
    const kind = tokenKindOf(code)
    if (kind === other) continue
    let hash = Math.imul(hashStart ^ code, hashFactor)
    if (kind === ofLetters)
      while (at < length) {
        const next = signs[at] ?? 0
        if (!goesOn(next) && !(isWithin(next) && at + 1 < length && goesOn(signs[at + 1] ?? 0))) break
        hash = Math.imul(hash ^ next, hashFactor)
        at++
      }
    else if (kind === dash) {
      const end = endOfDashes(signs, length, start)
      if (end === start) continue
      for (; at < end; at++) hash = Math.imul(hash ^ (signs[at] ?? 0), hashFactor)
    } else if (kind !== alone)
      for (; at < length && tokenKindOf(signs[at] ?? 0) === kind; at++)
        hash = Math.imul(hash ^ (signs[at] ?? 0), hashFactor)
    const slot = slotOf(count++)
    starts[slot] = start
    ends[slot] = at
    hashes[slot] = hash
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

/** The words and joints of a folded sentence. */
export function tokensOf(text: string): readonly string[] {
  const found = findTokens(signsOf(text, 0, text.length), text.length)
  return Array.from({ length: Math.min(found, maxTokens) }, (_, place) => {
    const token = tokenAt(place, found)
    return text.slice(starts[token], ends[token])
  })
}

/** Words that are kept once they were met, and letters of each at most: what is longer is told by its letters each time. */
const maxWords = 1 << 14
const maxLetters = 40
const roomForLetters = 8 * maxWords
/** Letters of a kept word that stand beside its numbers, two in each: what is looked at together stands together. */
const nearLetters = 12
/** Numbers of a kept word: the hash of its letters, how many there are and where more than those near stand, what it is in a reading, its letters. */
const recordLength = wordLength + 2 + nearLetters / 2
const [lettersAt, wordAt, nearAt] = [1, 2, wordLength + 2]
const slotCount = 2 * maxWords

/** By hash: the number of a kept word, or zero. Then the words, and the letters of the long ones one behind the other. */
const slots = new Uint16Array(slotCount)
const records = new Int32Array(recordLength * maxWords)
const keptLetters = new Uint16Array(roomForLetters)
let [keptWords, lettersUsed] = [0, 0]

/** Makes room for as many new words: all are let go when there is none. */
function makeRoom(words: number): void {
  if (keptWords + words < maxWords && lettersUsed + words * maxLetters <= roomForLetters) return
  slots.fill(0)
  keptWords = 0
  lettersUsed = 0
}

/** Where the numbers of a word stand in `records`, which is not too long. `hash` is the one of its letters. */
function recordOf(signs: Uint16Array, start: number, end: number, hash: number): number {
  for (let slot = (hash ^ (hash >>> 15)) & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
    const record = (slots[slot] ?? 0) * recordLength
    if (record === 0) return keepWord(signs, start, end, hash, slot)
    if (records[record] !== hash) continue
    const kept = records[record + lettersAt] ?? 0
    if ((kept & lengthMask) !== end - start) continue
    if (isKeptAt(record, kept >> lengthBits, signs, start, end)) return record + wordAt
  }
}

/** Are the letters of a kept word those of another one that is as long? */
function isKeptAt(record: number, from: number, signs: Uint16Array, start: number, end: number): boolean {
  if (end - start > nearLetters) {
    let at = start
    while (at < end && keptLetters[from + at - start] === signs[at]) at++
    return at === end
  }
  let near = record + nearAt
  for (let at = start; at < end; at += 2, near++) if (records[near] !== twoLetters(signs, at, end)) return false
  return true
}

const twoLetters = (signs: Uint16Array, at: number, end: number): number =>
  (signs[at] ?? 0) | (at + 1 < end ? (signs[at + 1] ?? 0) << 16 : 0)

function keepWord(signs: Uint16Array, start: number, end: number, hash: number, slot: number): number {
  const record = recordLength * ++keptWords
  slots[slot] = keptWords
  records[record] = hash
  records[record + lettersAt] = (lettersUsed << lengthBits) | (end - start)
  if (end - start > nearLetters) for (let at = start; at < end; at++) keptLetters[lettersUsed++] = signs[at] ?? 0
  else for (let at = start, near = record + nearAt; at < end; at += 2) records[near++] = twoLetters(signs, at, end)
  writeWord(records, record + wordAt, signs, start, end)
  return record + wordAt
}

/** Does a word do something in a sentence, whatever the sentence is about? */
export function isClassed(signs: Uint16Array, start: number, end: number): boolean {
  if (end - start > maxLetters) return false
  makeRoom(1)
  const at = recordOf(signs, start, end, hashOf(signs, start, end))
  return ((records[at + wordField.flags] ?? 0) & wordFlag.classed) !== 0
}

/** The words of many readings, one behind the other; a new array is begun when one is full, and goes with the last of its readings. */
const roomWords = 1024
let room = new Int32Array(roomWords * wordLength)
let used = 0

/** A folded sentence, read once for all that is asked of it. */
export const readWords = (text: string): Reading => readSigns(text, signsOf(text, 0, text.length))

/** The same, given as signs as well. */
export function readSigns(text: string, signs: Uint16Array): Reading {
  const found = findTokens(signs, text.length)
  const count = Math.min(found, maxTokens)
  if (used + count * wordLength > room.length) {
    room = new Int32Array(roomWords * wordLength)
    used = 0
  }
  const words = room
  const first = used
  used += count * wordLength
  makeRoom(count)
  let runs: Map<number, readonly number[]> | undefined
  let hasPhrases = false
  for (let place = 0, at = first; place < count; place++, at += wordLength) {
    const token = tokenAt(place, found)
    const start = starts[token] ?? 0
    const end = ends[token] ?? 0
    if (tokenKindOf(signs[start] ?? 0) === unspaced) {
      runs ??= new Map()
      runs.set(at, writeRun(words, at, signs, start, end))
    } else if (end - start > maxLetters) writeLetters(words, at, signs, start, end)
    else {
      const from = recordOf(signs, start, end, hashes[token] ?? 0)
      copyWord(words, at, from)
      if ((words[at + wordField.phrase] ?? 0) > lengthMask) hasPhrases = true
    }
  }
  if (hasPhrases)
    for (let left = count, at = first; left > 0; left--, at += wordLength)
      if ((words[at + wordField.phrase] ?? 0) > lengthMask) writePhrase(words, at, left)
  const lists = runs === undefined ? classLists : listsWith(runs, words, first, used)
  return stretchOf(text, words, lists, first, used, marksOf(text, signs))
}
const noLists = new Uint8Array(0)

/** The numbers of a kept word, one by one: that takes less than a loop. */
function copyWord(words: Int32Array, at: number, from: number): void {
  words[at] = records[from] ?? 0
  words[at + 1] = records[from + 1] ?? 0
  words[at + 2] = records[from + 2] ?? 0
  words[at + 3] = records[from + 3] ?? 0
  words[at + 4] = records[from + 4] ?? 0
  words[at + 5] = records[from + 5] ?? 0
  words[at + 6] = records[from + 6] ?? 0
  words[at + 7] = records[from + 7] ?? 0
}

/** Classes of the words behind an opening word, if they make a phrase with it: written over the ones of the word itself. */
function writePhrase(words: Int32Array, at: number, left: number): void {
  let place = (words[at + wordField.phrase] ?? 0) >> lengthBits
  for (let count = phrases[place++] ?? 0; count > 0; count--) {
    const length = phrases[place++] ?? 0
    let same = 0
    if (length < left)
      while (same < length && isNumbered(words, at + wordLength * (same + 1), phrases[place + same] ?? 0)) same++
    place += length
    if (same === length && length < left) {
      words[at + wordField.list] = phrases[place] ?? 0
      words[at + wordField.low] = phrases[place + 1] ?? 0
      words[at + wordField.high] = phrases[place + 2] ?? 0
      return
    }
    place += 3
  }
}
const isNumbered = (words: Int32Array, at: number, number: number): boolean =>
  ((words[at + wordField.phrase] ?? 0) & lengthMask) === number

/** The classes of the known words of a sentence and of its runs without blanks in one array. */
function listsWith(
  runs: ReadonlyMap<number, readonly number[]>,
  words: Int32Array,
  first: number,
  end: number,
): Uint8Array {
  const lists: number[] = []
  for (let at = first; at < end; at += wordLength) {
    const list = words[at + wordField.list] ?? 0
    const from = list >> lengthBits
    const own = runs.get(at) ?? classLists.subarray(from, from + (list & lengthMask))
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
  end: number,
  marks: number,
): Reading {
  const classes: number[] = []
  let low = 0
  let high = 0
  for (let at = first; at < end; at += wordLength) {
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
  return { text, words, first, end, count: (end - first) / wordLength, lists, classes, low, high, marks }
}

const isOfWord = (code: number): boolean => ((kindTable[code] || learnKind(code)) & ofWords) !== 0

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
export function marksOfWords(words: Int32Array, first: number, end: number): number {
  let flags = 0
  for (let at = first; at < end; at += wordLength) flags |= words[at + wordField.flags] ?? 0
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
  end: 0,
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
