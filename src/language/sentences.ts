import type { Span } from "../message/message.ts"
import { capitals, letters, smalls } from "./letters.ts"

/** Signs that may end a sentence, with what closes behind them; the full-width ones end it whatever follows. */
const stops = /[.!?…]+["')*”’»`\]]{0,8}|[。！？][”’」』）]{0,8}|\\r\\n|\\n|\r?\n/g

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
  const typed = isTyped(text.slice(span.start, span.end))
  const take = (end: number): void => {
    for (; start < end; start += maxSentence) {
      const found = trimmed(text, { start, end: Math.min(end, start + maxSentence) })
      if (found !== undefined) sentences.push(found)
    }
    start = end
  }
  for (const match of text.slice(span.start, span.end).matchAll(stops)) {
    const at = span.start + match.index
    const end = at + match[0].length
    if (/^(?:\\[rn]|[\r\n])/.test(match[0])) {
      if (endsLine(text, lineStart, at, end)) take(end)
      lineStart = end
    } else if (endsSentence(text, start, at, match[0], typed)) take(end)
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
  if (/^[。！？]/.test(signs)) return true
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
  const wide = /[\u2e80-\u9fff]/.test(before)
  return before.length < (wide ? wrapLength / 2 : wrapLength) || labelled.test(after)
}

const labelled = new RegExp(`^[${capitals}][${letters} ]{1,24}: `)

function trimmed(text: string, { start, end }: Span): Span | undefined {
  const lead = /^(?:\s|\\[nr]|\*\*(?=\s))*/.exec(text.slice(start, end))?.[0].length ?? 0
  let last = end
  while (last > start + lead && /[\s]/.test(text.charAt(last - 1))) last--
  if (text.slice(start + lead, last).endsWith("\\n")) last -= 2
  const from = start + lead
  return last > from && letter.test(text.slice(from, last)) ? { start: from, end: last } : undefined
}
const letter = new RegExp(`[${letters}]`)
