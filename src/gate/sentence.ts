import type { Span } from "../message/request.ts"
import { concept } from "./concept.ts"
import { conceptsOf, isGlued, pairConcepts, unglue } from "./lexicon.ts"

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

function wordEnd(text: string, start: number): number {
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (!isLetter(code) && !(joins(code) && isLetter(text.charCodeAt(at + 1)))) break
    at++
  }
  return at
}

/** What the reader of a text holds in hand: the words so far, and the word just read, whether it means something or not. */
type Reading = { words: Word[]; count: number; text: string; place: Span; opens: boolean; quoted: boolean }

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
  const pieces = isGlued(run) ? unglue(run) : [{ start: 0, end: run.length, word: run }]
  if (pieces.length === 0) reading.count++
  for (const [n, piece] of pieces.entries()) {
    const place = { start: start + piece.start, end: start + piece.end }
    note(reading, piece.word, place, n === 0 && opens, n === 0 && quoted)
  }
}

const isGoverned = ({ text }: Reading): boolean => governs.test(text) || (conceptsOf(text) & governors) !== 0

function startsClause(gap: string, reading: Reading): boolean {
  if (clauseMark.test(gap) || (clauseSign.test(gap) && /\s/.test(gap))) return true
  return gap.includes("\n") && !isGoverned(reading)
}

/** The text of a view cut into sentences, each with the words that mean something. One pass. */
export function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = []
  const reading: Reading = { words: [], count: 0, text: "", place: { start: 0, end: 0 }, opens: true, quoted: false }
  let start = -1
  let end = 0
  let parted = true
  let startsLine = true
  const close = (announces: boolean): void => {
    if (start >= 0) sentences.push({ start, end, words: reading.words, parted, startsLine, announces })
    reading.words = []
    reading.text = ""
    start = -1
  }
  for (let at = 0; at < text.length; ) {
    const gapStart = at
    while (at < text.length && !isLetter(text.charCodeAt(at))) at++
    if (at === text.length) break
    const gap = text.slice(gapStart, at)
    const plain = gap === " "
    const after = wordEnd(text, at)
    if (
      !plain &&
      (sentenceEnd.test(gap) || valueEnd.test(gap) || (numbered.test(gap) && /^\d{1,3}$/.test(text.slice(at, after))))
    ) {
      close(/:\s*\n/.test(gap))
      parted = paragraphEnd.test(gap) || valueEnd.test(gap)
      startsLine = parted || gap.includes("\n")
    }
    const opens = start < 0 || (!plain && startsClause(gap, reading))
    if (start < 0) start = at
    end = after
    noteRun(reading, text.slice(at, after), at, opens, !plain && quote.test(gap) && !keyed.test(gap))
    at = after
  }
  close(false)
  return sentences
}
