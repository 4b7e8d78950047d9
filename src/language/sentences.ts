import type { Span } from "../message/message.ts"
import { capitals, isAsciiLetter, letters, smalls } from "./letters.ts"

/** Signs that may end a sentence or a line: looked for with a pattern, which goes through a string faster than a loop does. */
const stopSign = /[.!?…。！？\\\r\n]/g
/** A stop, one of the full-width ones that end a sentence whatever follows, a line end, and one that is written out. */
const [stop, wideStop, lineEnd, backslash] = [1, 2, 3, 4]

function stopKind(code: number): number {
  if (isStop(code)) return stop
  if (code === 0x0a || code === 0x0d) return lineEnd
  return code === 0x5c ? backslash : wideStop
}
const isStop = (code: number): boolean => code === 0x2e || code === 0x21 || code === 0x3f || code === 0x2026

/** What closes behind a stop, and behind a full-width one; so many signs at most. */
const closing: ReadonlySet<number> = new Set([...`"')*”’»\`]`].map((sign) => sign.charCodeAt(0)))
const wideClosing: ReadonlySet<number> = new Set([..."”’」』）"].map((sign) => sign.charCodeAt(0)))
const maxClosing = 8

/** Where the stop or line end at a place ends, with what closes behind it; that place if none is there. */
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

/** A stop behind these is no end: single letters, usual abbreviations, German ordinals, and a number that the sentence starts with. */
const noEnd = new RegExp(
  `^\\W*\\d{1,3}$|\\b(?:am|vom|zum|der|den|dem|die|das|bis|im|seit) \\d{1,2}$|(?:^|[\\s(])(?:[${capitals}]|e\\.?g|i\\.?e|etc|vs|cf|Mr|Ms|Mrs|Dr|Inc|approx|incl|resp|p\\. ?ej|z\\. ?B|Sr|Sra)$`,
)

/** "No. 5" and "law no. 1" are numbers, "No. Leave it" are two sentences. */
const numero = /(?:^|[\s(])No$|\p{L} no$/u

/** A line shorter than this ends its sentence: nobody wraps that early. */
const wrapLength = 46

/** So does one longer than this: nobody wraps that late. */
const maxWrapLength = 140

/** What runs on without a stop is read in pieces of this length: no rule is longer. */
const maxSentence = 2000

/** The sentences of a stretch of a text, in order and trimmed. One pass. */
export function sentencesIn(text: string, span: Span): readonly Span[] {
  const sentences: Span[] = []
  let start = span.start
  let lineStart = span.start
  let typed: boolean | undefined
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
      typed ??= isTyped(own)
      if (endsSentence(text, start, at, end, typed)) take(end)
    } else {
      typed ??= isTyped(own)
      if ((typed && isStop(text.charCodeAt(at - 1))) || endsLine(text, lineStart, at, end)) take(end)
      lineStart = end
    }
  }
  take(span.end)
  return sentences
}

/**
 * Someone who types without capital letters ends a sentence with a stop all the same, though the first word be one that the keyboard or anger
 * put in capitals.
 */
function isTyped(text: string): boolean {
  const capitals = text.match(capitalBehindStop)?.length ?? 0
  const isSmallFirst = smallFirst.test(text)
  if (isSmallFirst && capitals === 0) return true
  const small = text.match(smallBehindStop)?.length ?? 0
  return isSmallFirst ? small >= capitals : small > Math.max(1, capitals)
}
/** "2, complete please. and …" answers a question by its number. */
const smallFirst = new RegExp(`^(?:\\d{1,2}[.,:;)]?\\s)?\\W{0,4}[${smalls}]`)
const capitalBehindStop = new RegExp(`[.!?]\\s+[${capitals}](?:[${smalls}]|\\s[${smalls}])`, "g")
const smallBehindStop = new RegExp(`[${smalls}]{4}[.!?]\\s+[${smalls}]`, "g")

/** Is the sign at a place a small letter? Only signs outside of ASCII are looked up. */
function isSmallAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 0x80) return code >= 0x61 && code <= 0x7a
  const sign = text.charAt(at)
  return sign !== sign.toUpperCase()
}

const fullStop = 0x2e

function endsSentence(text: string, start: number, at: number, end: number, typed: boolean): boolean {
  const isBehindBlank = end < text.length && isBlank(text, end)
  if (end < text.length && !isBehindBlank && !isEscapedBlank(text, end)) return false
  // "Put [?] behind a word that nobody can read" is about the sign.
  if (/[[(]/.test(text.charAt(at - 1)) && end > at + 1) return false
  const isFullStop = text.charCodeAt(at) === fullStop
  const before = isFullStop && mayShorten(text, start, at) ? text.slice(Math.max(start, at - 8), at) : ""
  if (before !== "" && (noEnd.test(before) || (numero.test(before) && /^\s*\d/.test(text.slice(end, end + 4)))))
    return false
  if (isFullStop && end === at + 1 && (typed || begins(text, end + 1)) && isShortWord(text, start, at)) return true
  if (isFullStop && end === at + 1 && at - start >= 3 && (typed || begins(text, end + 1))) {
    if (shortened.test(text.slice(Math.max(start, at - 8), at))) return false
    const isWord = isSmallAt(text, at - 1) && isSmallAt(text, at - 2)
    if (isWord && (isSmallAt(text, at - 3) || begins(text, end + 1))) return true
    if (endsInNumber.test(text.slice(Math.max(start, at - 8), at))) return true
  }
  return !isFullStop || !isBehindBlank || !isSmallAt(text, end + 1)
}

/** "no. dont touch that", "ok. go on": a sentence of one short word. */
const isShortWord = (text: string, start: number, at: number): boolean =>
  at - start <= 4 && /^\s*(?:no|ok|hm|nö|oh|so|si|ya|na)$/i.test(text.slice(start, at))

/** Words that a sentence begins with, however it is typed, and abbreviations that they may follow. */
function begins(text: string, at: number): boolean {
  beginning.lastIndex = at
  return beginning.test(text)
}
const beginning = new RegExp(
  `(?:${[
    "oh|also|btw|always|never|dont|don['’]t|please|pls|from (?:now|here) on|going forward|ab (?:jetzt|sofort|heute)",
    "à partir de maintenant|dorénavant|de ahora en adelante|a partir de (?:ahora|agora)|d['’]ora in poi|vanaf nu|från och med nu",
  ].join("|")})(?![\\p{L}-])`,
  "uy",
)
const shortened =
  /(?:^|[^\p{L}])(?:min|max|avg|fig|eq|ca|al|misc|tel|ext|vol|dept|usw|bzw|evtl|ggf|inkl|zzgl|approx|resp|incl)$/iu

/** A number of a ticket or a year, or a bracket: no ordinal, behind which a stop ends nothing. */
const endsInNumber = /(?:\d{3}|[a-zA-Z]-?\d{1,2}|[)\]])$/

/** A line end that is written out, as in "\\n". */
const isEscapedBlank = (text: string, at: number): boolean => {
  const next = text.charCodeAt(at + 1)
  return text.charCodeAt(at) === 0x5c && (next === 0x6e || next === 0x72)
}

/** Signs of the longest abbreviation, without its stop. */
const maxShortened = 6

/** Can `noEnd` stand before a stop? Only numbers and short words can: a longer word is told from them by its letters alone. */
function mayShorten(text: string, start: number, at: number): boolean {
  if (at - start <= maxShortened) return true
  for (let back = at - 1; back >= at - maxShortened - 1; back--) if (!isAsciiLetter(text.charCodeAt(back))) return true
  return false
}

/** Does the line end its sentence, or was it wrapped? */
function endsLine(text: string, lineStart: number, at: number, next: number): boolean {
  const before = text.slice(Math.max(lineStart, at - 400), at).trim()
  const after = text.slice(next, next + 60).trimStart()
  if (/[:;]$/.test(before) || before.length > maxWrapLength) return true
  if (/^[a-z(`'"]/.test(after) && !/^[a-z]\w{0,20}: /.test(after)) return before.length < 24
  if (before.endsWith(",") && isSentence(text.slice(next, next + 400))) return true
  const wide = /[\u2e80-\u9fff]/.test(before)
  return before.length < (wide ? wrapLength / 2 : wrapLength) || labelled.test(after)
}

/** Is the first line of a text a sentence by itself? */
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
  /** Is what stands at a place an end? `start` is where the stretch began. */
  readonly isEnd?: (signs: string, at: number, start: number) => boolean
  readonly maxLength?: number
}

/** A text cut behind each end: for what is no prose, such as a folded text or a line of a list. Longer stretches are cut again. */
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
