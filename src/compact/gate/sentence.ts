import type { Span } from "../../message/message.ts"
import { concept } from "./finding.ts"
import { addToSum, conceptsOf, isGlued, mayMean, pairConcepts, unglue } from "./lexicon.ts"

/** A word that means something to the gate, and the place it has among all words of the text. */
export type Word = Span & {
  readonly at: number
  readonly concepts: number
  /** It stands first in its clause, where a command stands. */
  readonly opens: boolean
  readonly quoted: boolean
}

export type Sentence = Span & {
  readonly words: readonly Word[]
  /** Its place among all sentences. */
  readonly at: number
  /** It starts a paragraph, so that nothing said before it speaks of it. */
  readonly parted: boolean
  readonly startsLine: boolean
  /** It ends in a colon: what follows is its object. */
  readonly announces: boolean
}

const sentenceEnd = /[.!?…]["')\]]*\s|[。！？]|\n[ \t]*\n|\t|:\s*\n| \| |\n[ \t]*[-#>•+|]/
/** From one key or value of JSON and its kin to the next. */
const valueEnd = /["']\s?[,:]\s{0,8}["'[{]/
const numbered = /\n[ \t]*$/
const paragraphEnd = /\n[ \t]*\n/
/** Signs that start a clause by themselves, and signs that do so beside white space: a dot between names in code does not. */
const clauseMark = /["'`«»„「『>\])，、；：]/
const clauseSign = /[^\s/_=\\]/
/** After these a line goes on with the verb that they govern; after anything else a new line may start with a command. */
const governs =
  /^(?:to|can|could|may|might|must|shall|should|will|would|not|never|cannot|i|we|they|that|who|which|it|them|the|a|an|of)$/
const governors = concept.model | concept.user | concept.not
/** The value of a key in JSON and its kin: its quotation marks quote nobody. */
const keyed = /["'`]\s?[:=]/
const quote = /["'`«»„「『]$/

const asciiLetters: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z\d]/.test(String.fromCharCode(code)) ? 1 : 0,
)

/** Letters and digits of any script; the view has no others left that could stand in a word. */
function isLetter(code: number): boolean {
  if (code < 0x80) return asciiLetters[code] === 1
  if (code < 0xc0 || (code >= 0x2000 && code <= 0x2bff)) return false
  return !(code >= 0x3000 && code <= 0x303f) && code < 0xfe00
}

/** An apostrophe or a hyphen between two letters joins them to one word. */
const joins = (code: number): boolean => code === 39 || code === 45

/** Where the word that starts here ends, and the sum by which `mayMean` knows it; a rarity counts as known. */
function readWord(text: string, start: number, word: { end: number; sum: number; rare: boolean }): void {
  let at = start
  let sum = 0
  let rare = false
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (!isLetter(code)) {
      if (!joins(code) || !isLetter(text.charCodeAt(at + 1))) break
      rare ||= code === 39
    }
    rare ||= code >= 0x80
    sum = addToSum(sum, code)
    at++
  }
  word.end = at
  word.sum = sum
  word.rare = rare
}

/** What the reader of a text holds in hand: the words so far, and the word just read, whether it means something or not. */
type Reading = {
  words: Word[]
  count: number
  text: string
  place: Span
  opens: boolean
  quoted: boolean
}

/** Note a word if it means something, alone or as a pair with the word before it. */
function note(reading: Reading, text: string, place: Span, opens: boolean, quoted: boolean): void {
  const { words } = reading
  const at = ++reading.count
  const pair = reading.text === "" ? 0 : pairConcepts(reading.text, text)
  const concepts = conceptsOf(text) | pair
  // Outside Latin script the verbs of the lexicon have a form that only commands, wherever it stands.
  const commands = opens || text.charCodeAt(0) >= 0x370
  if (pair !== 0) {
    const joined = words.at(-1)?.at === at - 1 ? words.pop() : undefined
    const { place: before, opens: opened, quoted: cited } = reading
    const own = joined?.concepts ?? 0
    words.push({ start: before.start, end: place.end, at: at - 1, concepts: own | pair, opens: opened, quoted: cited })
  }
  if (concepts !== 0) words.push({ start: place.start, end: place.end, at, concepts, opens: commands, quoted })
  reading.text = text
  reading.place = place
  reading.opens = opens
  reading.quoted = quoted
}

/** A run of letters is one word, or several written without spaces. */
function noteRun(reading: Reading, run: string, start: number, opens: boolean, quoted: boolean): void {
  if (!isGlued(run)) {
    note(reading, run, { start, end: start + run.length }, opens, quoted)
    return
  }
  const pieces = unglue(run)
  if (pieces.length === 0) reading.count++
  for (const [n, piece] of pieces.entries()) {
    const place = { start: start + piece.start, end: start + piece.end }
    note(reading, piece.word, place, n === 0 && opens, n === 0 && quoted)
  }
}

const isGoverned = (before: string): boolean => governs.test(before) || (conceptsOf(before) & governors) !== 0

/** What the signs between two words do. */
type Gap = {
  readonly ends: boolean
  readonly startsItem: boolean
  readonly announces: boolean
  readonly parts: boolean
  readonly breaks: boolean
  readonly starts: boolean
  readonly quotes: boolean
}

const gapOf = (gap: string): Gap => ({
  ends: sentenceEnd.test(gap) || valueEnd.test(gap),
  startsItem: numbered.test(gap),
  announces: /:\s*\n/.test(gap),
  parts: paragraphEnd.test(gap) || valueEnd.test(gap),
  breaks: gap.includes("\n"),
  starts: clauseMark.test(gap) || (clauseSign.test(gap) && /\s/.test(gap)),
  quotes: quote.test(gap) && !keyed.test(gap),
})

/** Longest gap that is remembered, and how many are: texts repeat their punctuation and their indentation. */
const maxGap = 40
const maxGaps = 4000

/** Reads the gap between two words, and remembers: gaps of one or two ASCII signs by their codes, the next longer ones by their text. */
function createGaps(): (text: string, start: number, end: number) => Gap {
  const short: (Gap | undefined)[] = Array.from({ length: 1 << 14 })
  const known = new Map<string, Gap>()
  return (text, start, end) => {
    const first = text.charCodeAt(start)
    const second = end - start === 2 ? text.charCodeAt(start + 1) : 0
    const code = end - start <= 2 && end > start && first < 128 && second < 128 ? (second << 7) | first : -1
    const found = code < 0 ? undefined : short[code]
    if (found !== undefined) return found
    const gap = text.slice(start, end)
    const made = known.get(gap) ?? gapOf(gap)
    if (code >= 0) short[code] = made
    else if (gap.length <= maxGap && known.size < maxGaps) known.set(gap, made)
    return made
  }
}

/** The same signs mean the same in every text. */
const readGap = createGaps()

const noWords: readonly Word[] = []

/** Words longer than this may be several; see `isGlued`. */
const plainLength = 16

/**
 * The text of a view cut into sentences, each with the words that mean something; with `telling`, only the sentences that have any. One
 * pass.
 */
export function gateSentences(text: string, telling = false): readonly Sentence[] {
  const sentences: Sentence[] = []
  const place = { start: 0, end: 0 }
  const reading: Reading = { words: [], count: 0, text: "", place, opens: true, quoted: false }
  const word = { end: 0, sum: 0, rare: false }
  let [start, end, parted, startsLine] = [-1, 0, true, true]
  let lastStart = 0
  let count = 0
  const close = (announces: boolean): void => {
    if (start >= 0) {
      const words = reading.words.length > 0 ? reading.words : noWords
      if (!telling || words.length > 0) sentences.push({ start, end, words, parted, startsLine, announces, at: count })
      count++
    }
    if (reading.words.length > 0) reading.words = []
    reading.text = ""
    start = -1
  }
  for (let at = 0; at < text.length; ) {
    const gapStart = at
    while (at < text.length && !isLetter(text.charCodeAt(at))) at++
    if (at === text.length) break
    readWord(text, at, word)
    const after = word.end
    const gap = at - gapStart === 1 && text.charCodeAt(gapStart) === 32 ? undefined : readGap(text, gapStart, at)
    if (gap?.ends || (gap?.startsItem && after - at <= 3 && /^\d{1,3}$/.test(text.slice(at, after)))) {
      close(gap.announces)
      parted = gap.parts
      startsLine = parted || gap.breaks
    }
    const opens =
      start < 0 ||
      (gap !== undefined && (gap.starts || (gap.breaks && !isGoverned(reading.text || text.slice(lastStart, end)))))
    if (start < 0) start = at
    lastStart = at
    end = after
    if (!word.rare && after - at <= plainLength && !mayMean(word.sum)) {
      reading.count++
      reading.text = ""
    } else noteRun(reading, text.slice(at, after), at, opens, gap?.quotes === true)
    at = after
  }
  close(false)
  return sentences
}
