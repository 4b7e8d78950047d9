import { letters } from "../language/letters.ts"
import { charKind, kindTable, learnKind, ofWords, scratchCodes } from "./sign-kinds.ts"
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
 * A folded sentence as its words and punctuation tokens. Their fields are stored in an array that many readings share: `wordLength` numbers
 * for each token, at the offsets of `wordField`. As a class set it has the classes of all its words.
 */
export type Reading = ClassSet & {
  readonly text: string
  readonly words: Int32Array
  /** Offset of its first word in `words`, offset after its last word, and the number of words. */
  readonly first: number
  readonly end: number
  readonly count: number
  /** Classes of the words: the `list` field of a word tells which of them. A phrase has its classes at its first word. */
  readonly lists: Uint8Array
  /** Classes of all words, each once, in text order. */
  readonly classes: readonly number[]
  /** What its punctuation and masks tell, as bits of `textMark`. */
  readonly marks: number
}

/** True if a class is in a set. */
export const isAmong = (of: number, { low, high }: ClassSet): boolean =>
  ((of < 32 ? low : high) & (1 << (of & 31))) !== 0

/** Bits for the punctuation after the last letter or digit, for masked parts, for a colon inside, and for a bracket at the start. */
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

/** True if a token is in a script without blanks between words. */
export const isUnspacedToken = (text: string): boolean => isOfRun(text.charCodeAt(0))

/** Kinds of characters for the tokenizer: letters, digits, punctuation that is a token of its own; `other` is skipped. */
const [other, ofLetters, ofNumber, alone, dash, unspaced] = [1, 2, 3, 4, 5, 6]
const tokenKinds = new Uint8Array(1 << 16)
const letter = new RegExp(`[${letters}]`)

function learnTokenKind(code: number): number {
  const char = String.fromCharCode(code)
  const kind = isOfRun(code)
    ? unspaced
    : letter.test(char)
      ? ofLetters
      : /[0-9]/.test(char)
        ? ofNumber
        : /[?!:;,(。！？：；，、→%$€£]/.test(char)
          ? alone
          : /[-–—]/.test(char)
            ? dash
            : other
  tokenKinds[code] = kind
  return kind
}
const tokenKindOf = (code: number): number => tokenKinds[code] || learnTokenKind(code)

/** True for a letter within a word; a word of letters may continue in a script without blanks. */
const isInnerLetter = (code: number): boolean => {
  const kind = tokenKindOf(code)
  return kind === ofLetters || (kind === unspaced && code !== unassignedCode)
}
/** First code of the Hiragana block, to which no character is assigned. */
const unassignedCode = 0x3040

const isBlank = (code: number): boolean => ((kindTable[code] || learnKind(code)) & charKind.blank) !== 0

/** Maximum number of tokens of one sentence; of a longer one the two ends are read. */
const maxTokens = 120
const half = maxTokens / 2

/**
 * Start, end and hash of each token of the current sentence. The second half is a ring buffer, so that the first and the last tokens are
 * kept.
 */
const starts = new Int32Array(maxTokens)
const ends = new Int32Array(maxTokens)
const hashes = new Int32Array(maxTokens)
const slotOf = (token: number): number => (token < maxTokens ? token : half + ((token - half) % half))

/** Returns the slot of a token by its position among those that are read. */
const tokenAt = (place: number, found: number): number =>
  slotOf(place < half ? place : found - Math.min(found, maxTokens) + place)

/**
 * Finds the tokens of a text in one pass and returns how many there are: words ("e-mail" and "don't" are one), numbers, punctuation, dashes
 * before blanks.
 */
function findTokens(codes: Uint16Array, length: number): number {
  let count = 0
  for (let at = 0; at < length; ) {
    const start = at
    const code = codes[at++] ?? 0
    const kind = tokenKindOf(code)
    if (kind === other) continue
    let hash = Math.imul(hashStart ^ code, hashFactor)
    if (kind === ofLetters)
      while (at < length) {
        const next = codes[at] ?? 0
        if (!isInnerLetter(next) && !(isInnerMark(next) && at + 1 < length && isInnerLetter(codes[at + 1] ?? 0))) break
        hash = Math.imul(hash ^ next, hashFactor)
        at++
      }
    else if (kind === dash) {
      const end = endOfDashes(codes, length, start)
      if (end === start) continue
      for (; at < end; at++) hash = Math.imul(hash ^ (codes[at] ?? 0), hashFactor)
    } else if (kind !== alone)
      for (; at < length && tokenKindOf(codes[at] ?? 0) === kind; at++)
        hash = Math.imul(hash ^ (codes[at] ?? 0), hashFactor)
    const slot = slotOf(count++)
    starts[slot] = start
    ends[slot] = at
    hashes[slot] = hash
  }
  return count
}

/** True for characters that may stand between the letters of one word. */
const isInnerMark = (code: number): boolean => code === 0x27 || code === 0x2d || code === 0x2019

/** Returns the end of one or two dashes that a blank follows, or their start if none does. */
function endOfDashes(codes: Uint16Array, length: number, start: number): number {
  const isDash = (at: number): boolean => at < length && tokenKindOf(codes[at] ?? 0) === dash
  const isBlankAt = (at: number): boolean => at < length && isBlank(codes[at] ?? 0)
  if (isDash(start + 1) && isBlankAt(start + 2)) return start + 2
  return isBlankAt(start + 1) ? start + 1 : start
}

/** Returns the words and punctuation tokens of a folded sentence. */
export function tokensOf(text: string): readonly string[] {
  const found = findTokens(scratchCodes(text, 0, text.length), text.length)
  return Array.from({ length: Math.min(found, maxTokens) }, (_, place) => {
    const token = tokenAt(place, found)
    return text.slice(starts[token], ends[token])
  })
}

/** Maximum number of cached words, and of letters of each; the fields of a longer word are computed each time. */
const maxWords = 1 << 14
const maxLetters = 40
const letterCapacity = 8 * maxWords
/** Number of letters stored in the record of a word, two in each number, so that what is read together is stored together. */
const nearLetters = 12
/**
 * Length of the record of a word: the hash of its letters, their number with the offset of those of a long word, its fields in a reading,
 * its first letters.
 */
const recordLength = wordLength + 2 + nearLetters / 2
const [lettersAt, wordAt, nearAt] = [1, 2, wordLength + 2]
const slotCount = 2 * maxWords

/** Hash table of record numbers (0 is empty), the records, and the letters of long words one after another. */
const slots = new Uint16Array(slotCount)
const records = new Int32Array(recordLength * maxWords)
const keptLetters = new Uint16Array(letterCapacity)
let [keptWords, lettersUsed] = [0, 0]

/** Makes room for new words: clears the cache if they do not fit. */
function makeRoom(words: number): void {
  if (keptWords + words < maxWords && lettersUsed + words * maxLetters <= letterCapacity) return
  slots.fill(0)
  keptWords = 0
  lettersUsed = 0
}

/** Returns the offset in `records` of the fields of a word, which is not longer than `maxLetters`. `hash` is the hash of its letters. */
function recordOf(codes: Uint16Array, start: number, end: number, hash: number): number {
  for (let slot = (hash ^ (hash >>> 15)) & (slotCount - 1); ; slot = (slot + 1) & (slotCount - 1)) {
    const record = (slots[slot] ?? 0) * recordLength
    if (record === 0) return keepWord(codes, start, end, hash, slot)
    if (records[record] !== hash) continue
    const kept = records[record + lettersAt] ?? 0
    if ((kept & lengthMask) !== end - start) continue
    if (isKeptAt(record, kept >> lengthBits, codes, start, end)) return record + wordAt
  }
}

/** True if the letters of a cached word are those of another word of the same length. */
function isKeptAt(record: number, from: number, codes: Uint16Array, start: number, end: number): boolean {
  if (end - start > nearLetters) {
    let at = start
    while (at < end && keptLetters[from + at - start] === codes[at]) at++
    return at === end
  }
  let near = record + nearAt
  for (let at = start; at < end; at += 2, near++) if (records[near] !== twoLetters(codes, at, end)) return false
  return true
}

const twoLetters = (codes: Uint16Array, at: number, end: number): number =>
  (codes[at] ?? 0) | (at + 1 < end ? (codes[at + 1] ?? 0) << 16 : 0)

function keepWord(codes: Uint16Array, start: number, end: number, hash: number, slot: number): number {
  const record = recordLength * ++keptWords
  slots[slot] = keptWords
  records[record] = hash
  records[record + lettersAt] = (lettersUsed << lengthBits) | (end - start)
  if (end - start > nearLetters) for (let at = start; at < end; at++) keptLetters[lettersUsed++] = codes[at] ?? 0
  else for (let at = start, near = record + nearAt; at < end; at += 2) records[near++] = twoLetters(codes, at, end)
  writeWord(records, record + wordAt, codes, start, end)
  return record + wordAt
}

/** True if the word table has a word, because it tells what a sentence does. */
export function isClassed(codes: Uint16Array, start: number, end: number): boolean {
  if (end - start > maxLetters) return false
  makeRoom(1)
  const at = recordOf(codes, start, end, hashOf(codes, start, end))
  return ((records[at + wordField.flags] ?? 0) & wordFlag.classed) !== 0
}

/** Array that the words of many readings share. When it is full a new one is allocated; the old one lives as long as its readings. */
const bufferWords = 1024
let wordBuffer = new Int32Array(bufferWords * wordLength)
let bufferUsed = 0

/** Reads the words of a folded sentence and their classes. */
export const readWords = (text: string): Reading => readCodes(text, scratchCodes(text, 0, text.length))

/** Same, with the character codes given as well. */
export function readCodes(text: string, codes: Uint16Array): Reading {
  const found = findTokens(codes, text.length)
  const count = Math.min(found, maxTokens)
  if (bufferUsed + count * wordLength > wordBuffer.length) {
    wordBuffer = new Int32Array(bufferWords * wordLength)
    bufferUsed = 0
  }
  const words = wordBuffer
  const first = bufferUsed
  bufferUsed += count * wordLength
  makeRoom(count)
  let runs: Map<number, readonly number[]> | undefined
  let hasPhrases = false
  for (let place = 0, at = first; place < count; place++, at += wordLength) {
    const token = tokenAt(place, found)
    const start = starts[token] ?? 0
    const end = ends[token] ?? 0
    if (tokenKindOf(codes[start] ?? 0) === unspaced) {
      runs ??= new Map()
      runs.set(at, writeRun(words, at, codes, start, end))
    } else if (end - start > maxLetters) writeLetters(words, at, codes, start, end)
    else {
      const from = recordOf(codes, start, end, hashes[token] ?? 0)
      copyWord(words, at, from)
      if ((words[at + wordField.phrase] ?? 0) > lengthMask) hasPhrases = true
    }
  }
  if (hasPhrases)
    for (let left = count, at = first; left > 0; left--, at += wordLength)
      if ((words[at + wordField.phrase] ?? 0) > lengthMask) writePhrase(words, at, left)
  const lists = runs === undefined ? classLists : listsWith(runs, words, first, bufferUsed)
  return stretchOf(text, words, lists, first, bufferUsed, marksOf(text, codes))
}
const noLists = new Uint8Array(0)

/** Copies the fields of a cached word one by one, which is faster than a loop. */
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

/** Overwrites the classes of a word with those of the phrase that it opens, if the following words complete one. */
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

/** Collects the classes of the known words of a sentence and of its runs without blanks in one array, and updates the `list` fields. */
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
    const classesOfRun = runs.get(at) ?? classLists.subarray(from, from + (list & lengthMask))
    words[at + wordField.list] = (lists.length << lengthBits) | classesOfRun.length
    for (const of of classesOfRun) lists.push(of)
  }
  return Uint8Array.from(lists)
}

/** Returns a range of the words of a sentence as a reading of its own. */
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

function marksOf(text: string, codes: Uint16Array): number {
  const { length } = text
  let marks = length > 0 && codes[0] === 0x28 ? textMark.bracket : 0
  for (let at = length - 1; at >= 0; at--) {
    const code = codes[at] ?? 0
    if (isOfWord(code)) break
    if (code === 0x3f) marks |= textMark.asks
    else if (code === 0xff1f) marks |= textMark.asksWide
    else if (code === 0x21 || code === 0xff01) marks |= textMark.exclaims
    else if (code === 0x3a || code === 0xff1a) marks |= textMark.endsInColon
  }
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1))
    if (at + 1 === length || isBlank(codes[at + 1] ?? 0)) marks |= textMark.colon
  if (text.includes("：")) marks |= textMark.colon
  if (!text.includes("q")) return marks
  return (
    marks |
    (text.includes("qcode") ? textMark.code : 0) |
    (text.includes("qquote") ? textMark.quote : 0) |
    (text.includes("qnum") ? textMark.number : 0)
  )
}

/** Returns the marks of a range of words inside a sentence: only those of masked parts. */
export function marksOfWords(words: Int32Array, first: number, end: number): number {
  let flags = 0
  for (let at = first; at < end; at += wordLength) flags |= words[at + wordField.flags] ?? 0
  return (
    ((flags & wordFlag.code) !== 0 ? textMark.code : 0) |
    ((flags & wordFlag.quote) !== 0 ? textMark.quote : 0) |
    ((flags & wordFlag.number) !== 0 ? textMark.number : 0)
  )
}

/** Reading of a missing sentence. */
export const noReading: Reading = {
  text: "",
  words: wordBuffer,
  first: 0,
  end: 0,
  count: 0,
  lists: noLists,
  classes: [],
  low: 0,
  high: 0,
  marks: 0,
}

/** Returns the names of the classes of the words in a folded text. */
export const classesIn = (text: string): ReadonlySet<string> =>
  new Set(readWords(text).classes.map((place) => classNames[place] ?? ""))
