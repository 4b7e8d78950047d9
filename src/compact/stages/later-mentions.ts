import type { Part, Transcript } from "../../message/message.ts"

/** What people and the assistant (never tools) said after a position in the transcript. Positions are message indexes. */
export type Mentions = {
  /** True if this word was said after position `after`. */
  readonly word: (word: string, after: number) => boolean
  /** True if this line was quoted. */
  readonly line: (line: string, after: number) => boolean
  /** True if this line number was named. */
  readonly number: (line: number, after: number) => boolean
}

/** Maximum number of stored words and of lines, newest first; a long session has about ten thousand. */
const maxStored = 200_000
/** Maximum number of characters read of one text: beyond that it is data rather than something said. */
const maxScanned = 100_000
/** Maximum depth to which a call's input is read. */
const maxDepth = 8
/** Maximum length of a range of lines; a longer one is a chapter rather than a place. */
const maxRange = 60

/** Minimum length of a quoted line: shorter lines, such as a closing bracket, occur everywhere. */
export const minQuotedLength = 10
const maxQuotedLength = 300

/** Cache: the mentions of a transcript, and from which position on. */
const known = new WeakMap<Transcript, { readonly mentions: Mentions; readonly from: number; readonly length: number }>()

/**
 * Collects everything that messages from position `from` on refer to, with the last position that does. A result for an earlier `from` is
 * reused, because it is the same for all later positions.
 */
export function mentionsIn(messages: Transcript, from = 0): Mentions {
  const before = known.get(messages)
  if (before !== undefined && before.from <= from && before.length === messages.length) return before.mentions
  const mentions = noteMentions(messages, from)
  known.set(messages, { mentions, from, length: messages.length })
  return mentions
}

/** One pass, newest first. */
function noteMentions(messages: Transcript, from: number): Mentions {
  const words = new Map<string, number>()
  const lines = new Map<string, number>()
  const numbers = new Map<number, number>()
  const noted = new Set<string>()
  const noteNumber = (line: number, at: number): void => {
    if (numbers.size < maxStored && !numbers.has(line)) numbers.set(line, at)
  }
  const noteText = (whole: string, at: number): void => {
    // Newest first, so an earlier copy of the same text adds nothing.
    if (noted.has(whole)) return
    noted.add(whole)
    const text = whole.slice(0, maxScanned)
    visitWords(text, (word, isSpecific) => {
      if (!isSpecific || words.size >= maxStored) return
      if (!words.has(word)) words.set(word, at)
      const slash = word.lastIndexOf("/") + 1
      if (slash > 0 && word.length - slash >= 3 && !words.has(word.slice(slash))) words.set(word.slice(slash), at)
    })
    for (const line of text.includes("\n") ? text.split("\n") : [text]) {
      const trimmed = line.length <= maxQuotedLength ? line.trim() : ""
      if (trimmed.length >= minQuotedLength && lines.size < maxStored && !lines.has(trimmed)) lines.set(trimmed, at)
    }
    for (const [, from, to] of text.matchAll(/(?:\blines? {1,2}|:L?)(\d{1,7})(?: ?(?:-|–|to|and) ?(\d{1,7})\b)?/gi)) {
      const first = Number(from)
      const last = Math.min(Number(to ?? from), first + maxRange)
      for (let line = first; line <= last; line++) noteNumber(line, at)
    }
  }
  for (let at = messages.length - 1; at >= from; at--) {
    if (messages[at]?.role === "system") continue
    for (const part of messages[at]?.parts ?? [])
      notePart(
        part,
        (text) => noteText(text, at),
        (line) => noteNumber(line, at),
      )
  }
  return {
    word: (word, after) => (words.get(word) ?? -1) > after,
    line: (line, after) => (lines.get(line) ?? -1) > after,
    number: (line, after) => (numbers.get(line) ?? -1) > after,
  }
}

function notePart(part: Part, text: (text: string) => void, line: (line: number) => void): void {
  if (part.type === "text" && part.channel !== "tool") text(part.text)
  if (part.type === "tool-call") noteInput(part.input, 0, text, line)
}

function noteInput(value: unknown, depth: number, text: (text: string) => void, line: (line: number) => void): void {
  if (typeof value === "string") text(value)
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) line(value)
  if (typeof value !== "object" || value === null || depth >= maxDepth) return
  for (const inner of Object.values(value)) noteInput(inner, depth + 1, text, line)
}

/**
 * Lookup table of word characters in ASCII: letters, digits and what joins them in names, paths and numbers. Beyond ASCII everything but
 * blanks counts.
 */
const isWord = new Uint8Array(128)
for (const sign of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$./-@#")
  isWord[sign.charCodeAt(0)] = 1

/** Maximum length of a word: a longer run is data, such as base64 or a minified line. */
const maxWordLength = 200
/** Minimum number of digits: a shorter number occurs in any text by chance. */
const minDigits = 4

/** Called for each word. `isSpecific` is true for a name, a path, a number or something in backticks, false for a word of prose. */
type VisitWord = (word: string, isSpecific: boolean) => void

/** Visits the words of a text in order. It runs over every message and every result to shorten, so it allocates nothing but the words. */
export function visitWords(text: string, visit: VisitWord): void {
  for (let at = 0; at < text.length; at++) {
    const start = at
    let lower = 0
    let digits = 0
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code < 128 ? isWord[code] === 0 : code === 0xa0 || code === 0x2028 || code === 0x3000) break
      if (code >= 0x61 && code <= 0x7a) lower++
      else if (code >= 0x30 && code <= 0x39) digits++
    }
    let end = at
    while (end > start && isClosing(text.charCodeAt(end - 1))) end--
    const length = end - start
    if (length < 3 || length > maxWordLength) continue
    const first = text.charCodeAt(start)
    const isProse = lower === length || (lower === length - 1 && first >= 0x41 && first <= 0x5a)
    const isShortNumber = digits === length && digits < minDigits
    visit(text.slice(start, end), !(isProse || isShortNumber) || (start > 0 && text[start - 1] === "`"))
  }
}

/** True for a full stop, dash or slash, which is not part of the word if at its end. */
const isClosing = (code: number): boolean => code >= 0x2d && code <= 0x2f
