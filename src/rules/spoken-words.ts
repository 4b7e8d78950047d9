import { isAsciiLetter } from "../language/letters.ts"
import { charKind, kindTable, learnKind } from "./sign-kinds.ts"

/**
 * Reads the words of a part of a message and the form of a line for `who-speaks.ts`, character by character and without a string for each
 * word. The result is in shared arrays that the next call overwrites.
 */

/** Kinds of a character in a spoken word, as bits; 0 in the table means not computed yet. */
const spoken = {
  known: 1,
  letter: 2,
  /** Of a script without blanks between words. */
  unspaced: 4,
  digit: 8,
  /** A question mark or an exclamation mark. */
  loud: 16,
  /** Half of a surrogate pair, or a letter whose lowercase form is not one character of its own. */
  special: 32,
} as const
const spokenTable = new Uint8Array(1 << 16)
/** Lowercase form of each known character. */
const smallOf = new Uint16Array(1 << 16)

const unspacedChar = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const letterChar = /\p{L}/u

const kindOfChar = (char: string): number =>
  spoken.known | (letterChar.test(char) ? spoken.letter : 0) | (unspacedChar.test(char) ? spoken.unspaced : 0)

function learnSpoken(code: number): number {
  const char = String.fromCharCode(code)
  const low = char.toLowerCase()
  // The lowercase form of a sigma depends on its position.
  const isSpecial = (code >= 0xd800 && code <= 0xdfff) || low.length !== 1 || low === "σ"
  const kind =
    kindOfChar(char) |
    (code >= 0x30 && code <= 0x39 ? spoken.digit : 0) |
    (code === 0x3f || code === 0xff1f || code === 0x21 ? spoken.loud : 0) |
    (isSpecial ? spoken.special : 0)
  smallOf[code] = low.charCodeAt(0)
  spokenTable[code] = kind
  return kind
}

/** Returns the kind of the character at an offset, which may be a surrogate pair. */
function kindAt(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at)
  const kind = spokenTable[code] || learnSpoken(code)
  if ((kind & spoken.special) === 0 || code < 0xd800 || code > 0xdbff || at + 1 >= end) return kind
  const next = text.charCodeAt(at + 1)
  return next >= 0xdc00 && next <= 0xdfff ? kindOfChar(text.slice(at, at + 2)) | spoken.special : kind
}

/** Length of the character whose kind was read: a surrogate pair is skipped as a whole. */
const lengthAt = (text: string, at: number, kind: number): number =>
  (kind & spoken.special) !== 0 && isHigh(text.charCodeAt(at)) && (kind & (spoken.letter | spoken.unspaced)) !== 0
    ? 2
    : 1
const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** Maximum number of words read of one place. */
export const maxSpoken = 80

/** Character codes of the words that were read last, one word after another, and the start and end of each. */
export let spokenCodes: Uint16Array = new Uint16Array(1024)
export const spokenStarts: Int32Array = new Int32Array(maxSpoken)
export const spokenEnds: Int32Array = new Int32Array(maxSpoken)
let written = 0

/**
 * Reads the words of a part of a text, appends them to the first `before` words that were read, and returns how many there are, at most
 * `most`.
 */
export function readSpoken(text: string, start: number, end: number, maxWords: number, before = 0): number {
  if (before === 0) written = 0
  // Each character is written once, and twice where pairs of characters are the words.
  const capacity = written + 2 * (end - start) + 2
  if (spokenCodes.length < capacity) {
    const longer = new Uint16Array(2 * capacity)
    longer.set(spokenCodes.subarray(0, written))
    spokenCodes = longer
  }
  let count = before
  for (let at = start; at < end && count < maxWords; ) {
    const kind = kindAt(text, at, end)
    if ((kind & spoken.unspaced) !== 0) {
      const from = at
      at = endOfRun(text, at, end)
      count = addPairs(text, from, at, count, maxWords)
    } else if ((kind & spoken.letter) !== 0) {
      const from = at
      at = endOfWord(text, at, end)
      addWord(text, from, at, count++)
    } else if ((kind & spoken.digit) !== 0) {
      while (at < end && (kindAt(text, at, end) & spoken.digit) !== 0) at++
      // Which number it is says nothing.
      spokenStarts[count] = written
      spokenCodes[written++] = 0x30
      spokenEnds[count++] = written
    } else if ((kind & spoken.loud) !== 0) {
      spokenStarts[count] = written
      for (; at < end && (kindAt(text, at, end) & spoken.loud) !== 0; at++) spokenCodes[written++] = text.charCodeAt(at)
      spokenEnds[count++] = written
    } else at++
  }
  return count
}

function endOfRun(text: string, start: number, end: number): number {
  let at = start
  for (;;) {
    const kind = at < end ? kindAt(text, at, end) : 0
    if ((kind & spoken.unspaced) === 0) return at
    at += lengthAt(text, at, kind)
  }
}

/** Returns the end of a word, which may have apostrophes inside. */
function endOfWord(text: string, start: number, end: number): number {
  let at = start
  for (;;) {
    const kind = at < end ? kindAt(text, at, end) : 0
    if ((kind & spoken.letter) !== 0) at += lengthAt(text, at, kind)
    else {
      const isWithin = at + 1 < end && isApostrophe(text.charCodeAt(at))
      if (!isWithin || (kindAt(text, at + 1, end) & spoken.letter) === 0) return at
      at++
    }
  }
}
const isApostrophe = (code: number): boolean => code === 0x27 || code === 0x2019

/** Adds pairs of characters as words, for scripts without blanks. */
function addPairs(text: string, start: number, end: number, before: number, maxWords: number): number {
  let count = before
  for (let at = start; at < Math.max(start + 1, end - 1) && count < maxWords; at++) {
    spokenStarts[count] = written
    spokenCodes[written++] = text.charCodeAt(at)
    if (at + 1 < end) spokenCodes[written++] = text.charCodeAt(at + 1)
    spokenEnds[count++] = written
  }
  return count
}

/** Adds a word in lower case. */
function addWord(text: string, start: number, end: number, place: number): void {
  const from = written
  let special = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    special |= (spokenTable[code] || learnSpoken(code)) & spoken.special
    spokenCodes[written++] = code === 0x2019 ? 0x27 : (smallOf[code] ?? 0)
  }
  if (special !== 0) {
    const low = text.slice(start, end).toLowerCase().replaceAll("’", "'")
    written = from
    for (let at = 0; at < low.length; at++) spokenCodes[written++] = low.charCodeAt(at)
  }
  spokenStarts[place] = from
  spokenEnds[place] = written
}

const isBlankCode = (code: number): boolean => ((kindTable[code] || learnKind(code)) & charKind.blank) !== 0

/** Returns the offset of the last character that is not blank, or one before `start`. */
export function lastNonBlank(text: string, start: number, end: number): number {
  let at = end - 1
  while (at >= start && isBlankCode(text.charCodeAt(at))) at--
  return at
}

/** Returns the offset of the first character that is not blank, or `end`. */
export function firstNonBlank(text: string, start: number, end: number): number {
  let at = start
  while (at < end && isBlankCode(text.charCodeAt(at))) at++
  return at
}

/** How a line begins and ends, and how long it is: logs, lists, chats and letters have typical forms. */
export type LineForm = { readonly begins: string; readonly last: string; readonly size: string }

export function formOfLine(text: string, start: number, end: number): LineForm {
  const from = firstNonBlank(text, start, end)
  const to = lastNonBlank(text, from, end) + 1
  const words = wordCount(text, from, to)
  return {
    begins: from < to ? beginningOf(text, from, to) : "plain",
    last: from < to ? endingOf(text.charCodeAt(to - 1)) : "open",
    size: words <= 3 ? "few" : words <= 8 ? "some" : words <= 20 ? "many" : "long",
  }
}

const endingOf = (code: number): string =>
  colons.includes(code) ? "colon" : questions.includes(code) ? "asks" : stops.includes(code) ? "stop" : "open"
const codesOf = (chars: string): readonly number[] => [...chars].map((char) => char.charCodeAt(0))
const [colons, questions, stops] = [codesOf(":："), codesOf("?？"), codesOf(".。!！;,")]

/** Counts the parts between blanks, up to the number from which on they are not told apart. */
function wordCount(text: string, start: number, end: number): number {
  let count = 1
  for (let at = start + 1; at < end && count <= 20; at++)
    if (isBlankCode(text.charCodeAt(at)) && !isBlankCode(text.charCodeAt(at - 1))) count++
  return count
}

const forms: readonly (readonly [string, RegExp])[] = [
  ["bullet", /^[-*•·–]\s/],
  ["number", /^\(?\d{1,3}[.)]\s/],
  ["heading", /^#{1,6}\s|^\*\*[^*]+\*\*:?$/],
  ["comment", /^(?:\/\/|\/\*|\*\s|;|--\s|#\S|<!--|""")/],
  ["quoted", /^[>»"“„«「『']/],
  ["bracket", /^[[({<]/],
  ["table", /^\||\t|^[^,]{1,30}(?:,[^,]{1,40}){3,}$/],
  ["prompt", /^(?:\$|PS |C:\\|[\w.-]+@[\w.-]+[:~$])/],
  ["time", /^\[?\d{1,4}[-/:.]\d{1,2}(?:[-/:.]\d{1,4})?/],
  ["key", /^[\w.-]{1,30}\s?=/],
  ["label", /^[\p{L}\p{N} ._()'’-]{1,40}[:：]\s/u],
  ["dash", /^(?:—|--)\s?\p{L}/u],
  ["lower", /^\p{Ll}/u],
]

/** Forms that a line starting with an ASCII letter can have. */
const letteredForms = forms.filter(([name]) => /^(?:table|prompt|key|label|lower)$/.test(name))

/** Returns how a line begins. One that starts with a letter and has no character that a form needs is "lower" or "plain". */
function beginningOf(text: string, start: number, end: number): string {
  const first = text.charCodeAt(start)
  const kind = kindTable[first] || learnKind(first)
  if ((kind & charKind.letter) !== 0 && !hasFormChar(text, start, end))
    return (kind & charKind.small) !== 0 ? "lower" : "plain"
  const line = text.slice(start, end)
  return (isAsciiLetter(first) ? letteredForms : forms).find(([, pattern]) => pattern.test(line))?.[0] ?? "plain"
}

/** True if a line has three commas, or a character that a table, a prompt, a key or a label needs. */
function hasFormChar(text: string, start: number, end: number): boolean {
  let commas = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2c) {
      if (++commas === 3) return true
    } else if (code === 0x09 || code === 0x40 || code === 0x3d || code === 0x3a || code === 0xff1a) return true
  }
  return text.startsWith("PS ", start)
}
