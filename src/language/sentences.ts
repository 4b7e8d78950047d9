import type { Span } from "../message/message.ts"
import { capitals, isAsciiLetter, letters, smalls } from "./letters.ts"

/** Matches characters that may end a sentence or a line. A regular expression scans a string faster than a loop. */
const stopSign = /[.!?…。！？\\\r\n]/g
/** Kinds of ends: a stop, a full-width stop, which always ends a sentence, a line end, and an escaped line end. */
const [stop, wideStop, lineEnd, backslash] = [1, 2, 3, 4]

function stopKind(code: number): number {
  if (isStop(code)) return stop
  if (code === 0x0a || code === 0x0d) return lineEnd
  return code === 0x5c ? backslash : wideStop
}
const isStop = (code: number): boolean => code === 0x2e || code === 0x21 || code === 0x3f || code === 0x2026

/** Closing characters that may follow a stop, and a full-width stop, and the maximum number of them. */
const closing: ReadonlySet<number> = new Set([...`"')*”’»\`]`].map((sign) => sign.charCodeAt(0)))
const wideClosing: ReadonlySet<number> = new Set([..."”’」』）"].map((sign) => sign.charCodeAt(0)))
const maxClosing = 8

/** Returns the end of the stop or line end at an offset, with the closing characters after it; the offset itself if there is none. */
function stopEnd(text: string, at: number, limit: number, kind: number): number {
  if (kind === lineEnd) return text.charCodeAt(at) === 0x0a ? at + 1 : startsAt(text, "\r\n", at, limit)
  if (kind === backslash) return Math.max(startsAt(text, "\\n", at, limit), startsAt(text, "\\r\\n", at, limit))
  let end = at + 1
  if (kind === stop) while (end < limit && isStop(text.charCodeAt(end))) end++
  const closes = kind === stop ? closing : wideClosing
  for (let left = maxClosing; left > 0 && end < limit && closes.has(text.charCodeAt(end)); left--) end++
  return end
}
const startsAt = (text: string, signs: string, at: number, limit: number): number =>
  at + signs.length <= limit && text.startsWith(signs, at) ? at + signs.length : at

/**
 * Matches what a stop follows without ending a sentence: single letters, common abbreviations, German ordinals, and a number at the start
 * of the sentence.
 */
const noEnd = new RegExp(
  `^\\W*\\d{1,3}$|\\b(?:am|vom|zum|der|den|dem|die|das|bis|im|seit) \\d{1,2}$|(?:^|[\\s(])(?:[${capitals}]|e\\.?g|i\\.?e|etc|vs|cf|Mr|Ms|Mrs|Dr|Inc|approx|incl|resp|p\\. ?ej|z\\. ?B|Sr|Sra)$`,
)

/** "No. 5" and "law no. 1" are numbers, "No. Leave it" are two sentences. */
const numero = /(?:^|[\s(])No$|\p{L} no$/u

/** A shorter line ends its sentence, because nobody wraps that early. */
const wrapLength = 46

/** A longer line does so too, because nobody wraps that late. */
const maxWrapLength = 140

/** Maximum length: text without a stop is split into pieces of this length, because no rule is longer. */
const maxSentence = 2000

/** Returns the sentences of a span of a text, in order and trimmed. One pass. */
export function sentencesIn(text: string, span: Span): readonly Span[] {
  const sentences: Span[] = []
  let start = span.start
  let lineStart = span.start
  let isCasual: boolean | undefined
  const take = (end: number): void => {
    for (; start < end; start += maxSentence) {
      const found = trimmed(text, { start, end: Math.min(end, start + maxSentence) })
      if (found !== undefined) sentences.push(found)
    }
    start = end
  }
  const own = text.slice(span.start, span.end)
  for (let from = span.start; ; ) {
    stopSign.lastIndex = from - span.start
    if (!stopSign.test(own)) break
    const at = span.start + stopSign.lastIndex - 1
    const kind = stopKind(text.charCodeAt(at))
    const end = stopEnd(text, at, span.end, kind)
    from = Math.max(end, at + 1)
    if (end === at) continue
    // The last sentence ends here in any case.
    if (end === span.end) break
    if (kind === wideStop) take(end)
    else if (kind === stop) {
      isCasual ??= isCasualTyping(own)
      if (endsSentence(text, start, at, end, isCasual)) take(end)
    } else {
      isCasual ??= isCasualTyping(own)
      if ((isCasual && isStop(text.charCodeAt(at - 1))) || endsLine(text, lineStart, at, end)) take(end)
      lineStart = end
    }
  }
  take(span.end)
  return sentences
}

/**
 * True if the writer uses no capital letters: a stop then ends a sentence before a small letter too, even if the first word happens to be
 * in capitals.
 */
function isCasualTyping(text: string): boolean {
  const capitals = text.match(capitalBehindStop)?.length ?? 0
  const isSmallFirst = smallFirst.test(text)
  if (isSmallFirst && capitals === 0) return true
  const small = smallStarts(text)
  return isSmallFirst ? small >= capitals : small > Math.max(1, capitals)
}
/** Matches a text that begins with a small letter, possibly after the number of a choice: "2, complete please. and …". */
const smallFirst = new RegExp(`^(?:\\d{1,2}[.,:;)]\\s)?\\W{0,4}[${smalls}]`)
const capitalBehindStop = new RegExp(`[.!?]\\s+[${capitals}](?:[${smalls}]|\\s[${smalls}])`, "g")
/** Counts the stops between a word in small letters and a small letter. Starting from the stops is faster than from each word. */
function smallStarts(text: string): number {
  let count = 0
  let end = 0
  for (const { 0: stop, index } of text.matchAll(smallBehindStop)) {
    if (index - wordEnd < end || !smallWord.test(text.slice(index - wordEnd, index))) continue
    end = index + stop.length
    count++
  }
  return count
}
const smallBehindStop = new RegExp(`[.!?]\\s+[${smalls}]`, "g")
/** Number of letters read of the word before a stop. */
const wordEnd = 4
const smallWord = new RegExp(`^[${smalls}]{${wordEnd}}$`)

/** True if the character at an offset is a small letter. Only characters beyond ASCII need a conversion. */
function isSmallAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) return code >= 0x61 && code <= 0x7a
  const sign = text.charAt(at)
  return sign !== sign.toUpperCase()
}

const fullStop = 0x2e

function endsSentence(text: string, start: number, at: number, end: number, isCasual: boolean): boolean {
  const isBehindBlank = end < text.length && isBlank(text, end)
  if (end < text.length && !isBehindBlank && !isEscapedBlank(text, end)) return false
  // "Put [?] behind a word that nobody can read" is about the character.
  if (/[[(]/.test(text.charAt(at - 1)) && end > at + 1) return false
  const isFullStop = text.charCodeAt(at) === fullStop
  const before = isFullStop && mayBeAbbreviation(text, start, at) ? text.slice(Math.max(start, at - 8), at) : ""
  if (before !== "" && (noEnd.test(before) || (numero.test(before) && /^\s*\d/.test(text.slice(end, end + 4)))))
    return false
  if (isFullStop && end === at + 1 && (isCasual || startsSentence(text, end + 1)) && isShortWord(text, start, at))
    return true
  if (isFullStop && end === at + 1 && at - start >= 3 && (isCasual || startsSentence(text, end + 1))) {
    if (abbreviation.test(text.slice(Math.max(start, at - 8), at))) return false
    const isWord = isSmallAt(text, at - 1) && isSmallAt(text, at - 2)
    if (isWord && (isSmallAt(text, at - 3) || startsSentence(text, end + 1))) return true
    if (endsInNumber.test(text.slice(Math.max(start, at - 8), at))) return true
  }
  return !isFullStop || !isBehindBlank || !isSmallAt(text, end + 1)
}

/** True for a sentence of one short word: "no. dont touch that", "ok. go on". */
const isShortWord = (text: string, start: number, at: number): boolean =>
  at - start <= 4 && /^\s*(?:no|ok|hm|nö|oh|so|si|ya|na)$/i.test(text.slice(start, at))

/**
 * True if a word at this offset starts a sentence, however it is typed. Abbreviations that may come before such a word are in
 * `abbreviation`.
 */
function startsSentence(text: string, at: number): boolean {
  sentenceStart.lastIndex = at
  return sentenceStart.test(text)
}
const sentenceStart = new RegExp(
  `(?:${[
    "oh|also|btw|always|never|dont|don['’]t|please|pls|from (?:now|here) on|going forward|ab (?:jetzt|sofort|heute)",
    "à partir de maintenant|dorénavant|de ahora en adelante|a partir de (?:ahora|agora)|d['’]ora in poi|vanaf nu|från och med nu",
  ].join("|")})(?![\\p{L}-])`,
  "uy",
)
const abbreviation =
  /(?:^|[^\p{L}])(?:min|max|avg|fig|eq|ca|al|misc|tel|ext|vol|dept|usw|bzw|evtl|ggf|inkl|zzgl|approx|resp|incl)$/iu

/** Matches a ticket number, a year or a bracket: not an ordinal, after which a stop ends nothing. */
const endsInNumber = /(?:\d{3}|[a-zA-Z]-?\d{1,2}|[)\]])$/

/** True for an escaped line end, as in "\\n". */
const isEscapedBlank = (text: string, at: number): boolean => {
  const next = text.charCodeAt(at + 1)
  return text.charCodeAt(at) === 0x5c && (next === 0x6e || next === 0x72)
}

/** Maximum length of an abbreviation without its stop. */
const maxAbbreviation = 6

/**
 * False if `noEnd` cannot match before a stop: it only matches numbers and short words, and a longer word is recognized by its letters
 * alone.
 */
function mayBeAbbreviation(text: string, start: number, at: number): boolean {
  if (at - start <= maxAbbreviation) return true
  for (let back = at - 1; back >= at - maxAbbreviation - 1; back--)
    if (!isAsciiLetter(text.charCodeAt(back))) return true
  return false
}

/** True if the line ends its sentence, false if it was wrapped. */
function endsLine(text: string, lineStart: number, at: number, next: number): boolean {
  const before = text.slice(Math.max(lineStart, at - 400), at).trim()
  const after = text.slice(next, next + 60).trimStart()
  if (/[:;]$/.test(before) || before.length > maxWrapLength) return true
  if (/^[a-z(`'"]/.test(after) && !/^[a-z]\w{0,20}: /.test(after)) return before.length < 24
  if (before.endsWith(",") && isSentence(text.slice(next, next + 400))) return true
  const wide = /[\u2e80-\u9fff]/.test(before)
  return before.length < (wide ? wrapLength / 2 : wrapLength) || labelled.test(after)
}

/** True if the first line of a text is a sentence by itself. */
function isSentence(text: string): boolean {
  const [line = ""] = text.trimStart().split("\n", 1)
  return /[.!?]\s*$/.test(line) && capitalFirst.test(line) && line.trim().split(" ", 4).length === 4
}
const capitalFirst = new RegExp(`^[${capitals}]`)
const labelled = new RegExp(`^[${capitals}][${letters} ]{1,24}: `)

function trimmed(text: string, { start, end }: Span): Span | undefined {
  let blanks = 0
  while (start + blanks < end && text.charCodeAt(start + blanks) === 0x20) blanks++
  const isPlain = isLetter(text.charCodeAt(start + blanks))
  const lead = isPlain ? blanks : (/^(?:\s|\\[nr]|\*\*(?=\s))*/.exec(text.slice(start, end))?.[0].length ?? 0)
  let last = end
  while (last > start + lead && isBlank(text, last - 1)) last--
  if (last - 2 >= start + lead && text.startsWith("\\n", last - 2)) last -= 2
  const from = start + lead
  return last > from && (isPlain || letter.test(text.slice(from, last))) ? { start: from, end: last } : undefined
}

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || code === 0x0a || ((code < 0x21 || code > 0x7e) && /\s/.test(text.charAt(at)))
}
const letter = new RegExp(`[${letters}]`)

type CutOptions = {
  /** Decides whether a match is an end. `start` is the start of the current piece. */
  readonly isEnd?: (signs: string, at: number, start: number) => boolean
  readonly maxLength?: number
}

/**
 * Splits a text after each match of `ends`: for text that is not prose, such as a normalized text or a list item. Longer pieces are split
 * again.
 */
export function cutBehind(
  text: string,
  ends: RegExp,
  { isEnd = () => true, maxLength = Number.POSITIVE_INFINITY }: CutOptions = {},
): readonly Span[] {
  const found: Span[] = []
  let start = 0
  const take = (end: number): void => {
    for (; start < end; start += maxLength) found.push({ start, end: Math.min(end, start + maxLength) })
    start = end
  }
  for (const { 0: signs, index } of text.matchAll(ends)) if (isEnd(signs, index, start)) take(index + signs.length)
  take(text.length)
  return found
}
