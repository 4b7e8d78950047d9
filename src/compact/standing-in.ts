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

/** The numbers of the words of a text. Two words may have the same: whether one stands there is then seen in the text. */
type Words = { readonly text: string; readonly numbers: ReadonlySet<number> }

/** Visit each word from `start` to `end`, and where something clings to it, the word without that. The empty text is a word as well. */
function visitWords(text: string, visit: (start: number, end: number) => void): void {
  for (let start = 0, at = 0; at <= text.length; at++) {
    if (at < text.length && !isParting(text.charCodeAt(at))) continue
    if (at > start || at === 0 || at === text.length) {
      visit(start, at)
      let from = start
      let to = at
      while (from < to && before[text.charCodeAt(from)] === 1) from++
      while (to > from && behind[text.charCodeAt(to - 1)] === 1) to--
      if (from !== start || to !== at) visit(from, to)
    }
    start = at + 1
  }
}

/** A number of 30 bits for a piece of a text. */
function numberOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}

function readWords(text: string): Words {
  const numbers = new Set<number>()
  visitWords(text, (start, end) => numbers.add(numberOf(text, start, end)))
  return { text, numbers }
}

function holdsWord({ text, numbers }: Words, value: string, number: number): boolean {
  if (!numbers.has(number)) return false
  let found = false
  visitWords(text, (start, end) => {
    if (end - start === value.length && text.startsWith(value, start)) found = true
  })
  return found
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
  let searched: string | undefined
  const stands: Standing = (value) => {
    const number = numberOf(value, 0, value.length)
    if (words.some((some) => holdsWord(some, value, number))) return true
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
