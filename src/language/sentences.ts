import type { Span } from "../message/message.ts"
import { capitals, letters, smalls } from "./letters.ts"

/** Signs that may end a sentence, with what closes behind them; the full-width ones end it whatever follows. */
const stops = /[.!?…]+["')*”’»`\]]{0,8}|[。！？][”’」』）]{0,8}|\\r\\n|\\n|\r?\n/g
/** Those that end a line start with one of these. */
const lineSigns: ReadonlySet<number> = new Set([..."\\\r\n"].map((sign) => sign.charCodeAt(0)))

/** A stop behind these is no end: single letters, usual abbreviations, German ordinals, and a number that the sentence starts with. */
const noEnd = new RegExp(
  `^\\W*\\d{1,3}$|\\b(?:am|vom|zum|der|den|dem|die|das|bis|im|seit) \\d{1,2}$|(?:^|[\\s(])(?:[${capitals}]|e\\.?g|i\\.?e|etc|vs|cf|Mr|Ms|Mrs|Dr|No|Inc|approx|incl|resp|p\\. ?ej|z\\. ?B|Sr|Sra)$`,
)

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
  const own = text.slice(span.start, span.end)
  let typed: boolean | undefined
  const take = (end: number): void => {
    for (; start < end; start += maxSentence) {
      const found = trimmed(text, { start, end: Math.min(end, start + maxSentence) })
      if (found !== undefined) sentences.push(found)
    }
    start = end
  }
  stops.lastIndex = 0
  for (let found = stops.exec(own); found !== null; found = stops.exec(own)) {
    const [signs] = found
    const at = span.start + found.index
    const end = at + signs.length
    // The last sentence ends here in any case.
    if (end === span.end) break
    if (lineSigns.has(signs.charCodeAt(0))) {
      if (endsLine(text, lineStart, at, end)) take(end)
      lineStart = end
    } else {
      typed ??= isTyped(own)
      if (endsSentence(text, start, at, signs, typed)) take(end)
    }
  }
  take(span.end)
  return sentences
}

/** Someone who types without capital letters ends a sentence with a stop all the same. */
const isTyped = (text: string): boolean => smallFirst.test(text) && !capitalBehindStop.test(text)
const smallFirst = new RegExp(`^\\W{0,4}[${smalls}]`)
const capitalBehindStop = new RegExp(`[.!?]\\s+[${capitals}]`)

const isSmall = (sign: string): boolean => sign !== sign.toUpperCase()

function endsSentence(text: string, start: number, at: number, signs: string, typed: boolean): boolean {
  if (signs.charCodeAt(0) > 0x2fff) return true
  const after = text.slice(at + signs.length, at + signs.length + 3)
  if (after !== "" && !/^(?:\s|\\[nr])/.test(after)) return false
  if (signs.startsWith(".") && noEnd.test(text.slice(Math.max(start, at - 8), at))) return false
  if (typed && signs === "." && at - start >= 3 && [1, 2, 3].every((back) => isSmall(text.charAt(at - back))))
    return true
  return !signs.startsWith(".") || !/^\s/.test(after) || !isSmall(after.charAt(1))
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
