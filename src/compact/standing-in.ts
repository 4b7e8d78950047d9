import { type Part, type Transcript, textOf } from "../message/message.ts"
import { createPerObject } from "../message/recall.ts"

const separator = /[\s"'`,;()<>{}[\]=|*]/
/** Lookup table of `separator` for ASCII; beyond ASCII only blanks separate words. */
const separators = Uint8Array.from({ length: 128 }, (_, code) => (separator.test(String.fromCharCode(code)) ? 1 : 0))
const otherBlanks: ReadonlySet<number> = new Set([
  ...[0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
  ...Array.from({ length: 11 }, (_, n) => 0x2000 + n),
])
const isSeparator = (code: number): boolean => (code < 128 ? separators[code] === 1 : otherBlanks.has(code))

/** Punctuation that may be attached to a value in a sentence, before and after it. */
const before = setOf(".:!?#@-")
const behind = setOf(".:!?-")

function setOf(signs: string): Uint8Array {
  const set = new Uint8Array(128)
  for (const sign of signs) set[sign.charCodeAt(0)] = 1
  return set
}

/**
 * A value of several words is searched for in the last characters of the text, at most this many. If it is not found there, the digest
 * states it again, which costs a few tokens.
 */
const maxSearched = 100_000

type PresenceTest = (value: string) => boolean

/**
 * The words of a text: for each its hash, start and end. The empty text counts as a word too. Different words may have the same hash, so a
 * match is verified against the text.
 */
type Words = { readonly text: string; readonly places: Int32Array }

/** Returns a 30-bit hash of a piece of a text. */
function hashOf(text: string, start: number, end: number): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor)
  return finishHash(hash)
}
const firstHash = 0x811c9dc5
const hashFactor = 0x01000193
const finishHash = (hash: number): number => (hash ^ (hash >>> 15)) & 0x3fffffff

/** Buffer for the words of the text being read: hash, start and end of each. */
let buffer = new Int32Array(3 * 4096)

function addWord(used: number, number: number, start: number, end: number): number {
  if (used + 3 > buffer.length) {
    const larger = new Int32Array(2 * buffer.length)
    larger.set(buffer)
    buffer = larger
  }
  buffer[used] = number
  buffer[used + 1] = start
  buffer[used + 2] = end
  return used + 3
}

/** Collects each word and, if punctuation is attached to it, also the word without it. */
function readWords(text: string): Words {
  let used = 0
  let hash = firstHash
  for (let start = 0, at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : lineEnd
    if (!isSeparator(code)) {
      hash = Math.imul(hash ^ code, hashFactor)
      continue
    }
    if (at > start || at === 0 || at === text.length) {
      used = addWord(used, finishHash(hash), start, at)
      let from = start
      let to = at
      while (from < to && before[text.charCodeAt(from)] === 1) from++
      while (to > from && behind[text.charCodeAt(to - 1)] === 1) to--
      if (from !== start || to !== at) used = addWord(used, hashOf(text, from, to), from, to)
    }
    start = at + 1
    hash = firstHash
  }
  const places = buffer.slice(0, used)
  if (buffer.length > maxBuffer) buffer = new Int32Array(3 * 4096)
  return { text, places }
}
const lineEnd = 10
/** A buffer that has grown beyond this is released. */
const maxBuffer = 3 * 65_536

function holdsWord({ text, places }: Words, value: string, number: number): boolean {
  for (let at = 0; at < places.length; at += 3) {
    if (places[at] !== number) continue
    const start = places[at + 1] ?? 0
    if ((places[at + 2] ?? 0) - start === value.length && text.startsWith(value, start)) return true
  }
  return false
}

/** Hash table with open addressing: for each hash the first text that contains it. */
type FirstHolders = { readonly numbers: Int32Array; readonly holders: Int32Array }

const none = -1

function firstHolders(words: readonly Words[]): FirstHolders {
  const all = words.reduce((sum, { places }) => sum + places.length / 3, 0)
  const size = 2 ** Math.ceil(Math.log2(2 * all + 2))
  const numbers = new Int32Array(size)
  const holders = new Int32Array(size).fill(none)
  for (const [holder, { places }] of words.entries()) {
    for (let at = 0; at < places.length; at += 3) {
      const number = places[at] ?? 0
      const slot = slotOf({ numbers, holders }, number)
      if (holders[slot] !== none) continue
      numbers[slot] = number
      holders[slot] = holder
    }
  }
  return { numbers, holders }
}

/** Returns the slot of a hash, or the empty slot where it would go. */
function slotOf({ numbers, holders }: FirstHolders, number: number): number {
  let slot = number & (numbers.length - 1)
  while (holders[slot] !== none && numbers[slot] !== number) slot = (slot + 1) & (numbers.length - 1)
  return slot
}

/** Returns a test whether a value occurs in these texts. They are read once; a value of one word is then a table lookup. */
export const standingIn = (texts: readonly string[]): PresenceTest => createPresenceTest(texts.map(readWords))

/** Returns the words of a part, read once however many transcripts it is searched in. */
const wordsOf = createPerObject((part: Part): Words => readWords(textOf(part)))

/** Returns a test whether a value occurs in these messages. */
export const standingInMessages = (messages: Transcript): PresenceTest =>
  createPresenceTest(messages.flatMap((message) => message.parts).map((part) => wordsOf(part)))

function createPresenceTest(words: readonly Words[]): PresenceTest {
  const known = new Map<string, boolean>()
  let first: FirstHolders | undefined
  let searched: string | undefined
  const isPresent: PresenceTest = (value) => {
    const number = hashOf(value, 0, value.length)
    first ??= firstHolders(words)
    const holder = first.holders[slotOf(first, number)] ?? none
    for (let at = holder; at !== none && at < words.length; at++) {
      const some = words[at]
      if (some !== undefined && holdsWord(some, value, number)) return true
    }
    if (!separator.test(value)) return false
    searched ??= words
      .map(({ text }) => text)
      .join("\n")
      .slice(-maxSearched)
    return searched.includes(value)
  }
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    const found = isPresent(value)
    known.set(value, found)
    return found
  }
}
