import { textOfCodes } from "../../language/letters.ts"
import type { Span } from "../../message/message.ts"
import { concept } from "./finding.ts"
import { addToSum, conceptsOf, isGlued, knownWord, pairConcepts, unglue } from "./lexicon.ts"

/** A word that the gate knows, with its span and its index among all words of the text. */
export type Word = Span & {
  readonly at: number
  readonly concepts: number
  /** True if it is first in its clause, where a command is. */
  readonly opens: boolean
  readonly quoted: boolean
}

export type Sentence = Span & {
  readonly words: readonly Word[]
  /** Index among all sentences. */
  readonly at: number
  /** True if the sentence before it reports on attempts. */
  readonly told: boolean
  /** True if it starts a paragraph, so that no earlier sentence refers to it. */
  readonly parted: boolean
  readonly startsLine: boolean
  /** True if it ends in a colon: what follows is its object. */
  readonly announces: boolean
}

const sentenceEnd = /[.!?…]["')\]]*\s|[。！？]|\n[ \t]*\n|\t|:\s*\n| \| |\n[ \t]*[-#>•+|]/
/** Matches the gap between a key and a value, or the end of a value, in JSON and similar formats. */
const valueEnd = /["']\s?[,:]\s{0,8}["'[{]/
const numbered = /\n[ \t]*$/
const paragraphEnd = /\n[ \t]*\n/
/** Punctuation that always starts a clause, and punctuation that does so only next to a blank: a dot between names in code does not. */
const clauseMark = /["'`«»„「『>\])，、；：]/
const clauseSign = /[^\s/_=\\]/
/** Matches words after which a new line goes on with the verb that they govern; after anything else it may start with a command. */
const governs =
  /^(?:to|can|could|may|might|must|shall|should|will|would|not|never|cannot|i|we|they|that|who|which|it|them|the|a|an|of)$/
const governors = concept.model | concept.user | concept.not
/** Matches the end of a quoted key in JSON and similar formats: such quotation marks quote nobody. */
const keyed = /["'`]\s?[:=]/
const quote = /["'`«»„「『]$/

/** Ranges of character codes of letters and digits of any script, as they occur in normalized text. */
const letterCodes: readonly (readonly [from: number, to: number])[] = [
  [0x30, 0x3a],
  [0x61, 0x7b],
  [0xc0, 0x2000],
  [0x2c00, 0x3000],
  [0x3040, 0xfe00],
]
const letters: Uint8Array = new Uint8Array(1 << 16)
for (const [from, to] of letterCodes) letters.fill(1, from, to)

/** True for an apostrophe or hyphen, which joins two words if it is between two letters. */
const joins = (code: number): boolean => code === 39 || code === 45

/** Buffer for the text as character codes, reused: reading a concatenated or sliced string character by character is slow. */
let scratch = new Uint16Array(1 << 14)
/** Texts longer than this get a buffer of their own, which is not kept. */
const maxScratch = 1 << 20

function codesOf(text: string): Uint16Array {
  const { length } = text
  const codes = length <= scratch.length ? scratch : new Uint16Array(length > maxScratch ? length : 2 * length)
  if (length <= maxScratch) scratch = codes
  for (let at = 0; at < length; at++) codes[at] = text.charCodeAt(at)
  return codes
}

/** Reads the word that starts here: its end, its hash for the lexicon, and whether it has unusual characters, which need a closer look. */
function readWord(
  codes: Uint16Array,
  length: number,
  start: number,
  word: { end: number; sum: number; rare: boolean },
): void {
  let at = start
  let sum = 0
  let rare = false
  for (; at < length; at++) {
    const code = codes[at] ?? 0
    if (letters[code] === 0) {
      if (!joins(code) || at + 1 >= length || letters[codes[at + 1] ?? 0] === 0) break
      rare ||= code === 39
    }
    rare ||= code >= 0x80
    sum = addToSum(sum, code)
  }
  word.end = at
  word.sum = sum
  word.rare = rare
}

/** State of the scanner: the known words of the current sentence as rows, and the word just read. */
type Reading = {
  /** One row per known word: start, end, index, concepts and flags. */
  rows: Int32Array
  size: number
  /** All concepts of these words, combined. */
  present: number
  count: number
  text: string
  start: number
  opens: boolean
  quoted: boolean
}
const rowLength = 5
const [opensFlag, quotedFlag] = [1, 2]

/** Initial row buffer, reused; a longer sentence gets a larger one. */
const sharedRows = new Int32Array(256 * rowLength)

function push(
  reading: Reading,
  start: number,
  end: number,
  at: number,
  concepts: number,
  opens: boolean,
  quoted: boolean,
): void {
  const from = reading.size * rowLength
  if (from + rowLength > reading.rows.length) {
    const longer = new Int32Array(2 * reading.rows.length)
    longer.set(reading.rows)
    reading.rows = longer
  }
  const { rows } = reading
  rows[from] = start
  rows[from + 1] = end
  rows[from + 2] = at
  rows[from + 3] = concepts
  rows[from + 4] = (opens ? opensFlag : 0) | (quoted ? quotedFlag : 0)
  reading.size++
  reading.present |= concepts
}

function wordsOf({ rows, size }: Reading): readonly Word[] {
  const words: Word[] = []
  for (let from = 0; from < size * rowLength; from += rowLength) {
    const flags = rows[from + 4] ?? 0
    words.push({
      start: rows[from] ?? 0,
      end: rows[from + 1] ?? 0,
      at: rows[from + 2] ?? 0,
      concepts: rows[from + 3] ?? 0,
      opens: (flags & opensFlag) !== 0,
      quoted: (flags & quotedFlag) !== 0,
    })
  }
  return words
}

/** Adds a word if it has a meaning, alone or as a pair with the word before it. */
function addWord(
  reading: Reading,
  text: string,
  wordConcepts: number,
  start: number,
  end: number,
  opens: boolean,
  quoted: boolean,
): void {
  const at = ++reading.count
  const pair = reading.text === "" ? 0 : pairConcepts(reading.text, text)
  // Outside Latin script, the verbs in the lexicon have a form that is only used for commands, wherever they are.
  const commands = opens || text.charCodeAt(0) >= 0x370
  if (pair !== 0) {
    const last = (reading.size - 1) * rowLength
    const isJoined = last >= 0 && reading.rows[last + 2] === at - 1
    const before = isJoined ? (reading.rows[last + 3] ?? 0) : 0
    if (isJoined) reading.size--
    push(reading, reading.start, end, at - 1, before | pair, reading.opens, reading.quoted)
  }
  if ((wordConcepts | pair) !== 0) push(reading, start, end, at, wordConcepts | pair, commands, quoted)
  reading.text = text
  reading.start = start
  reading.opens = opens
  reading.quoted = quoted
}

/** Adds a run of letters as one word, or as several written without spaces. */
function addRun(reading: Reading, run: string, start: number, opens: boolean, quoted: boolean): void {
  if (!isGlued(run)) {
    addWord(reading, run, conceptsOf(run), start, start + run.length, opens, quoted)
    return
  }
  const pieces = unglue(run)
  if (pieces.length === 0) reading.count++
  for (const [n, { word, start: from, end }] of pieces.entries())
    addWord(reading, word, conceptsOf(word), start + from, start + end, n === 0 && opens, n === 0 && quoted)
}

const isGoverned = (before: string): boolean => governs.test(before) || (conceptsOf(before) & governors) !== 0

/** Bit flags: effect of the punctuation between two words. */
const gapBit = {
  ends: 1,
  startsItem: 2,
  announces: 4,
  parts: 8,
  breaks: 16,
  starts: 32,
  quotes: 64,
  isKnown: 128,
} as const

const bitsOf = (gap: string): number =>
  (sentenceEnd.test(gap) || valueEnd.test(gap) ? gapBit.ends : 0) |
  (numbered.test(gap) ? gapBit.startsItem : 0) |
  (/:\s*\n/.test(gap) ? gapBit.announces : 0) |
  (paragraphEnd.test(gap) || valueEnd.test(gap) ? gapBit.parts : 0) |
  (gap.includes("\n") ? gapBit.breaks : 0) |
  (clauseMark.test(gap) || (clauseSign.test(gap) && /\s/.test(gap)) ? gapBit.starts : 0) |
  (quote.test(gap) && !keyed.test(gap) ? gapBit.quotes : 0) |
  gapBit.isKnown

/** Maximum length of a cached gap, and size of the cache: texts repeat their punctuation and indentation. */
const maxGap = 40
const maxGaps = 1 << 12

/** Cached gaps, each in the slot of its hash. A gap means the same in every text. */
const keptGaps: ({ readonly signs: string; readonly bits: number } | undefined)[] = new Array(maxGaps)

/** Cache of gaps of one or two ASCII characters, by their codes: most gaps are short. */
const shortGaps = new Uint8Array(1 << 14)

/** Returns the flags of the gap between two words. */
function readGap(text: string, codes: Uint16Array, start: number, end: number): number {
  if (end - start > maxGap) return bitsOf(text.slice(start, end))
  const [first, second] = [codes[start] ?? 0, end - start === 2 ? (codes[start + 1] ?? 0) : 0]
  if (end - start > 2 || end === start || first >= 128 || second >= 128) return keptGap(codes, start, end)
  const code = (second << 7) | first
  const known = shortGaps[code] || bitsOf(text.slice(start, end))
  shortGaps[code] = known
  return known
}

function keptGap(codes: Uint16Array, start: number, end: number): number {
  let sum = 0
  for (let at = start; at < end; at++) sum = addToSum(sum, codes[at] ?? 0)
  const place = (sum ^ (sum >>> 12)) & (maxGaps - 1)
  const kept = keptGaps[place]
  if (kept !== undefined && kept.signs.length === end - start) {
    let at = start
    while (at < end && kept.signs.charCodeAt(at - start) === codes[at]) at++
    if (at === end) return kept.bits
  }
  // Copied, so that the cache does not keep the whole text in memory.
  const signs = textOfCodes(codes, start, end)
  const bits = bitsOf(signs)
  keptGaps[place] = { signs, bits }
  return bits
}

/** Words longer than this may be several; see `isGlued`. */
const plainLength = 16

/** What is known of a sentence before its words are collected: its start, the number of known words, and all their concepts. */
export type Sketch = { readonly start: number; readonly size: number; readonly present: number }

/** Splits normalized text into sentences with their known words, skipping those that `isWanted` rejects by their sketch. One pass. */
export function gateSentences(text: string, isWanted: (sketch: Sketch) => boolean = () => true): readonly Sentence[] {
  const sentences: Sentence[] = []
  const { length } = text
  const codes = codesOf(text)
  const reading: Reading = {
    rows: sharedRows,
    size: 0,
    present: 0,
    count: 0,
    text: "",
    start: 0,
    opens: true,
    quoted: false,
  }
  const word = { end: 0, sum: 0, rare: false }
  let [start, end, parted, startsLine] = [-1, 0, true, true]
  let [lastStart, count, told] = [0, 0, false]
  const close = (announces: boolean): void => {
    if (start >= 0) {
      const { size, present } = reading
      if (isWanted({ start, size, present }))
        sentences.push({ start, end, words: wordsOf(reading), parted, startsLine, announces, at: count, told })
      told = (present & concept.report) !== 0
      count++
    }
    reading.size = 0
    reading.present = 0
    reading.text = ""
    start = -1
  }
  for (let at = 0; at < length; ) {
    const gapStart = at
    while (at < length && letters[codes[at] ?? 0] === 0) at++
    if (at === length) break
    readWord(codes, length, at, word)
    const after = word.end
    const gap = at - gapStart === 1 && codes[gapStart] === 32 ? 0 : readGap(text, codes, gapStart, at)
    if (
      (gap & gapBit.ends) !== 0 ||
      ((gap & gapBit.startsItem) !== 0 && after - at <= 3 && /^\d{1,3}$/.test(text.slice(at, after)))
    ) {
      close((gap & gapBit.announces) !== 0)
      parted = (gap & gapBit.parts) !== 0
      startsLine = parted || (gap & gapBit.breaks) !== 0
    }
    const isPlain = !word.rare && after - at <= plainLength
    const known = isPlain ? knownWord(codes, at, after, word.sum) : undefined
    if (known === undefined && isPlain) {
      reading.count++
      reading.text = ""
    } else {
      const opens =
        start < 0 ||
        (gap & gapBit.starts) !== 0 ||
        ((gap & gapBit.breaks) !== 0 && !isGoverned(reading.text || text.slice(lastStart, end)))
      const quoted = (gap & gapBit.quotes) !== 0
      if (known === undefined) addRun(reading, text.slice(at, after), at, opens, quoted)
      else addWord(reading, known.word, known.concepts, at, after, opens, quoted)
    }
    if (start < 0) start = at
    lastStart = at
    end = after
    at = after
  }
  close(false)
  return sentences
}
