import { type Part, type Transcript, textOf } from "../message/message.ts"
import { createPerObject } from "../message/recall.ts"

const parting = /[\s"'`,;()<>{}[\]=|*]/
/** The same for each of the first characters; of the others only blanks part words. */
const parts = Uint8Array.from({ length: 128 }, (_, code) => (parting.test(String.fromCharCode(code)) ? 1 : 0))
const blanks: ReadonlySet<number> = new Set([
  ...[0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
  ...Array.from({ length: 11 }, (_, n) => 0x2000 + n),
])
const isParting = (code: number): boolean => (code < 128 ? parts[code] === 1 : blanks.has(code))

/** What may cling to a value in a sentence, before it and behind it. */
const before = setOf(".:!?#@-")
const behind = setOf(".:!?-")

function setOf(signs: string): Uint8Array {
  const set = new Uint8Array(128)
  for (const sign of signs) set[sign.charCodeAt(0)] = 1
  return set
}

/** A value of several words is looked for in so much text at most; beyond that it is said again, which costs a few tokens. */
const maxSearched = 100_000

type Standing = (value: string) => boolean

/**
 * The words of a text: for each its number, where it starts and where it ends. The empty text is a word as well. Two words may have the
 * same number: whether one stands there is then seen in the text.
 */
type Words = { readonly text: string; readonly places: Int32Array }

/** A number of 30 bits for a piece of a text. */
function numberOf(text: string, start: number, end: number): number {
  let hash = firstHash
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor)
  return numberOfHash(hash)
}
const firstHash = 0x811c9dc5
const hashFactor = 0x01000193
const numberOfHash = (hash: number): number => (hash ^ (hash >>> 15)) & 0x3fffffff

/** Places of the text that is being read. */
let room = new Int32Array(3 * 4096)

function note(used: number, number: number, start: number, end: number): number {
  if (used + 3 > room.length) {
    const larger = new Int32Array(2 * room.length)
    larger.set(room)
    room = larger
  }
  room[used] = number
  room[used + 1] = start
  room[used + 2] = end
  return used + 3
}

/** Each word, and where something clings to it, the word without that. */
function readWords(text: string): Words {
  let used = 0
  let hash = firstHash
  for (let start = 0, at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : lineEnd
    if (!isParting(code)) {
      hash = Math.imul(hash ^ code, hashFactor)
      continue
    }
    if (at > start || at === 0 || at === text.length) {
      used = note(used, numberOfHash(hash), start, at)
      let from = start
      let to = at
      while (from < to && before[text.charCodeAt(from)] === 1) from++
      while (to > from && behind[text.charCodeAt(to - 1)] === 1) to--
      if (from !== start || to !== at) used = note(used, numberOf(text, from, to), from, to)
    }
    start = at + 1
    hash = firstHash
  }
  const places = room.slice(0, used)
  if (room.length > maxRoom) room = new Int32Array(3 * 4096)
  return { text, places }
}
const lineEnd = 10
/** Of a text with more words the room is given back. */
const maxRoom = 3 * 65_536

function holdsWord({ text, places }: Words, value: string, number: number): boolean {
  for (let at = 0; at < places.length; at += 3) {
    if (places[at] !== number) continue
    const start = places[at + 1] ?? 0
    if ((places[at + 2] ?? 0) - start === value.length && text.startsWith(value, start)) return true
  }
  return false
}

/** For each number the first text that has it: in the slot that its last bits name, or in one behind it. */
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

/** The slot of a number, or the empty one where it would be. */
function slotOf({ numbers, holders }: FirstHolders, number: number): number {
  let slot = number & (numbers.length - 1)
  while (holders[slot] !== none && numbers[slot] !== number) slot = (slot + 1) & (numbers.length - 1)
  return slot
}

/** Does a value stand in these texts? They are read once; a value that is one word is then found at once. */
export const standingIn = (texts: readonly string[]): Standing => createStanding(texts.map(readWords))

/** The words of each part, which is read once however often it is asked what stands in its transcript. */
const wordsOf = createPerObject((part: Part): Words => readWords(textOf(part)))

/** Does a value stand in these messages? */
export const standingInMessages = (messages: Transcript): Standing =>
  createStanding(messages.flatMap((message) => message.parts).map((part) => wordsOf(part)))

function createStanding(words: readonly Words[]): Standing {
  const known = new Map<string, boolean>()
  let first: FirstHolders | undefined
  let searched: string | undefined
  const stands: Standing = (value) => {
    const number = numberOf(value, 0, value.length)
    first ??= firstHolders(words)
    const holder = first.holders[slotOf(first, number)] ?? none
    for (let at = holder; at !== none && at < words.length; at++) {
      const some = words[at]
      if (some !== undefined && holdsWord(some, value, number)) return true
    }
    if (!parting.test(value)) return false
    searched ??= words
      .map(({ text }) => text)
      .join("\n")
      .slice(-maxSearched)
    return searched.includes(value)
  }
  return (value) => {
    const before = known.get(value)
    if (before !== undefined) return before
    const found = stands(value)
    known.set(value, found)
    return found
  }
}
