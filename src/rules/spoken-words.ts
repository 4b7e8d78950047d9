import { isAsciiLetter } from "../language/letters.ts"
import { kindTable, learnKind, signKind } from "./sign-kinds.ts"

/**
 * The words of a place in a message, and the form of a line, as whoever asks who speaks reads them: sign by sign and without a string for each
 * word. What was read last stands in arrays that are used again.
 */

/** What a sign is in a spoken word, as bits; zero as long as nobody asked. */
const spoken = {
  known: 1,
  letter: 2,
  /** Of a script that puts no blanks between words. */
  unspaced: 4,
  digit: 8,
  /** A mark of a question or a call. */
  loud: 16,
  /** One of the two halves of a sign, or a letter whose small form is not one sign of its own. */
  special: 32,
} as const
const spokenTable = new Uint8Array(1 << 16)
/** The small letter of each sign that is known. */
const smallOf = new Uint16Array(1 << 16)

const unspacedSign = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const letterSign = /\p{L}/u

const kindOfSign = (sign: string): number =>
  spoken.known | (letterSign.test(sign) ? spoken.letter : 0) | (unspacedSign.test(sign) ? spoken.unspaced : 0)

function learnSpoken(code: number): number {
  const sign = String.fromCharCode(code)
  const low = sign.toLowerCase()
  // The small form of a sigma depends on where it stands.
  const isSpecial = (code >= 0xd800 && code <= 0xdfff) || low.length !== 1 || low === "σ"
  const kind =
    kindOfSign(sign) |
    (code >= 0x30 && code <= 0x39 ? spoken.digit : 0) |
    (code === 0x3f || code === 0xff1f || code === 0x21 ? spoken.loud : 0) |
    (isSpecial ? spoken.special : 0)
  smallOf[code] = low.charCodeAt(0)
  spokenTable[code] = kind
  return kind
}

/** What the sign at a place is, which may have two halves. */
function kindAt(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at)
  const kind = spokenTable[code] || learnSpoken(code)
  if ((kind & spoken.special) === 0 || code < 0xd800 || code > 0xdbff || at + 1 >= end) return kind
  const next = text.charCodeAt(at + 1)
  return next >= 0xdc00 && next <= 0xdfff ? kindOfSign(text.slice(at, at + 2)) | spoken.special : kind
}

/** Signs that a kind is read of: two halves are passed together. */
const lengthAt = (text: string, at: number, kind: number): number =>
  (kind & spoken.special) !== 0 && isHigh(text.charCodeAt(at)) && (kind & (spoken.letter | spoken.unspaced)) !== 0
    ? 2
    : 1
const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** Most words that are read of one place. */
export const maxSpoken = 80

/** The signs of the words that were read last, one word behind the other, and where each word starts and ends. */
export let spokenSigns: Uint16Array = new Uint16Array(1024)
export const spokenStarts: Int32Array = new Int32Array(maxSpoken)
export const spokenEnds: Int32Array = new Int32Array(maxSpoken)
let written = 0

/** Reads the words of a stretch of a text behind those that were read before, and returns how many there are. */
export function readSpoken(text: string, start: number, end: number, most: number, before = 0): number {
  if (before === 0) written = 0
  // Each sign is written once, and twice where pairs of signs are the words.
  const room = written + 2 * (end - start) + 2
  if (spokenSigns.length < room) {
    const longer = new Uint16Array(2 * room)
    longer.set(spokenSigns.subarray(0, written))
    spokenSigns = longer
  }
  let count = before
  for (let at = start; at < end && count < most; ) {
    const kind = kindAt(text, at, end)
    if ((kind & spoken.unspaced) !== 0) {
      const from = at
      at = endOfRun(text, at, end)
      count = takePairs(text, from, at, count, most)
    } else if ((kind & spoken.letter) !== 0) {
      const from = at
      at = endOfWord(text, at, end)
      takeWord(text, from, at, count++)
    } else if ((kind & spoken.digit) !== 0) {
      while (at < end && (kindAt(text, at, end) & spoken.digit) !== 0) at++
      // Which number it is says nothing.
      spokenStarts[count] = written
      spokenSigns[written++] = 0x30
      spokenEnds[count++] = written
    } else if ((kind & spoken.loud) !== 0) {
      spokenStarts[count] = written
      for (; at < end && (kindAt(text, at, end) & spoken.loud) !== 0; at++) spokenSigns[written++] = text.charCodeAt(at)
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

/** A word may have apostrophes within. */
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

/** Where words have no blanks between them, two signs each. */
function takePairs(text: string, start: number, end: number, before: number, most: number): number {
  let count = before
  for (let at = start; at < Math.max(start + 1, end - 1) && count < most; at++) {
    spokenStarts[count] = written
    spokenSigns[written++] = text.charCodeAt(at)
    if (at + 1 < end) spokenSigns[written++] = text.charCodeAt(at + 1)
    spokenEnds[count++] = written
  }
  return count
}

/** A word in small letters. */
function takeWord(text: string, start: number, end: number, place: number): void {
  const from = written
  let special = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    special |= (spokenTable[code] || learnSpoken(code)) & spoken.special
    spokenSigns[written++] = code === 0x2019 ? 0x27 : (smallOf[code] ?? 0)
  }
  if (special !== 0) {
    const low = text.slice(start, end).toLowerCase().replaceAll("’", "'")
    written = from
    for (let at = 0; at < low.length; at++) spokenSigns[written++] = low.charCodeAt(at)
  }
  spokenStarts[place] = from
  spokenEnds[place] = written
}

const isBlankSign = (code: number): boolean => ((kindTable[code] || learnKind(code)) & signKind.blank) !== 0

/** Where the last sign of a stretch stands that is no blank, or one before its start. */
export function lastSign(text: string, start: number, end: number): number {
  let at = end - 1
  while (at >= start && isBlankSign(text.charCodeAt(at))) at--
  return at
}

/** Where the first sign of a stretch stands that is no blank, or its end. */
export function firstSign(text: string, start: number, end: number): number {
  let at = start
  while (at < end && isBlankSign(text.charCodeAt(at))) at++
  return at
}

/** How a line begins and ends, and how long it is: a log, a list, a chat and a letter have forms of their own. */
export type LineForm = { readonly begins: string; readonly last: string; readonly size: string }

export function formOfLine(text: string, start: number, end: number): LineForm {
  const from = firstSign(text, start, end)
  const to = lastSign(text, from, end) + 1
  const words = wordCount(text, from, to)
  return {
    begins: from < to ? beginningOf(text, from, to) : "plain",
    last: from < to ? endingOf(text.charCodeAt(to - 1)) : "open",
    size: words <= 3 ? "few" : words <= 8 ? "some" : words <= 20 ? "many" : "long",
  }
}

const endingOf = (code: number): string =>
  colons.includes(code) ? "colon" : questions.includes(code) ? "asks" : stops.includes(code) ? "stop" : "open"
const codesOf = (signs: string): readonly number[] => [...signs].map((sign) => sign.charCodeAt(0))
const [colons, questions, stops] = [codesOf(":："), codesOf("?？"), codesOf(".。!！;,")]

/** Stretches between blanks; more than are told apart are not counted. */
function wordCount(text: string, start: number, end: number): number {
  let count = 1
  for (let at = start + 1; at < end && count <= 20; at++)
    if (isBlankSign(text.charCodeAt(at)) && !isBlankSign(text.charCodeAt(at - 1))) count++
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

/** Those that a line may have that starts with a letter of ASCII. */
const letteredForms = forms.filter(([name]) => /^(?:table|prompt|key|label|lower)$/.test(name))

/** A line that starts with a letter and has none of the signs within that a form needs is in small letters or plain. */
function beginningOf(text: string, start: number, end: number): string {
  const first = text.charCodeAt(start)
  const kind = kindTable[first] || learnKind(first)
  if ((kind & signKind.letter) !== 0 && !hasFormSign(text, start, end))
    return (kind & signKind.small) !== 0 ? "lower" : "plain"
  const line = text.slice(start, end)
  return (isAsciiLetter(first) ? letteredForms : forms).find(([, pattern]) => pattern.test(line))?.[0] ?? "plain"
}

/** Three commas, or one of the signs that a table, a prompt, a key or a label has. */
function hasFormSign(text: string, start: number, end: number): boolean {
  let commas = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2c) {
      if (++commas === 3) return true
    } else if (code === 0x09 || code === 0x40 || code === 0x3d || code === 0x3a || code === 0xff1a) return true
  }
  return text.startsWith("PS ", start)
}
