import { HoldfastError } from "../message/errors.ts"
import type { Steps } from "../message/steps.ts"

/** Characters scanned or parsed in one step: a few milliseconds. */
export const unitsAtOnce = 500_000

/** Deeper JSON is refused, so that recursion over it cannot overflow the stack. No model API nests a tenth as deep. */
export const maxJsonDepth = 512

/**
 * The positions of all values of a valid JSON text, found in one pass: value n is `text.slice(starts[n], ends[n])`, and `next[n]` is the
 * first value behind it and everything inside it. A container is followed by its children; an object's are key, value, key, value.
 */
export type Tape = {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  readonly next: readonly number[]
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

/** The first characters of a string are scanned one by one: most strings are short, and `indexOf` on each would take fifty times as long. */
const nearUnits = 64

/**
 * The position behind the string that `start` is in. If the string does not end before `until`: the bitwise complement of the position to
 * continue from. Long runs without a quote are skipped with `indexOf`.
 */
function endWithin(text: string, start: number, until: number): number {
  let from = start
  while (from < until) {
    const near = Math.min(from + nearUnits, text.length)
    while (from < near) {
      const code = text.charCodeAt(from)
      if (code === quote) return from + 1
      from += code === backslash ? 2 : 1
    }
    const close = text.indexOf('"', from)
    if (close < 0) return text.length
    let slashes = 0
    while (close - 1 - slashes >= from && text.charCodeAt(close - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return close + 1
    from = close + 1
  }
  return from >= text.length ? text.length : ~from
}

/** The position behind the string that opens at `start`. */
const endOfString = (text: string, start: number): number => endWithin(text, start + 1, text.length)

const isGap = (code: number): boolean => code === comma || code === colon || code <= 0x20

/** A tape under construction: the position reached, whether it is inside a string, the open containers, and whether brackets matched so far. */
type Laying = {
  readonly tape: { readonly starts: number[]; readonly ends: number[]; readonly next: number[] }
  readonly open: number[]
  at: number
  inString: boolean
  isWhole: boolean
}

const startLaying = (): Laying => ({
  tape: { starts: [], ends: [], next: [] },
  open: [],
  at: 0,
  inString: false,
  isWhole: true,
})

/** Extend the tape to position `until` or a little behind it. Does not validate the JSON. */
function layUntil(text: string, laying: Laying, until: number): void {
  const { tape, open } = laying
  const { starts, ends, next } = tape
  let { at } = laying
  if (laying.inString) at = endString(text, laying, at, until)
  while (at < until && !laying.inString) {
    const code = text.charCodeAt(at)
    if (isGap(code)) {
      at++
    } else if (code === closeBrace || code === closeBracket) {
      const container = open.pop()
      laying.isWhole &&= container !== undefined
      ends[container ?? 0] = ++at
      next[container ?? 0] = starts.length
    } else {
      const value = starts.push(at) - 1
      ends.push(0)
      next.push(0)
      if (code === openBrace || code === openBracket) {
        if (open.push(value) > maxJsonDepth)
          throw new HoldfastError({ code: "json-too-deep", offset: at, limit: maxJsonDepth })
        at++
      } else if (code === quote) {
        at = endString(text, laying, at + 1, until)
      } else {
        at = endOfBare(text, at)
        ends[value] = at
        next[value] = value + 1
      }
    }
  }
  laying.at = at
}

/** Continue in the newest value, a string, which may end behind `until`. */
function endString(text: string, laying: Laying, from: number, until: number): number {
  const { ends, next } = laying.tape
  const end = endWithin(text, from, until)
  laying.inString = end < 0
  if (end < 0) return ~end
  ends[ends.length - 1] = end
  next[next.length - 1] = next.length
  return end
}

/** The tape of a text that is known to be valid JSON. */
export function layTape(text: string): Tape {
  const laying = startLaying()
  layUntil(text, laying, text.length)
  return laying.tape
}

/** The same in steps, for any text; `isWhole` is false if its brackets or quotes do not match. */
export function* layTapeSteps(text: string, most: number): Steps<{ readonly tape: Tape; readonly isWhole: boolean }> {
  const laying = startLaying()
  while (laying.at < text.length) {
    layUntil(text, laying, Math.min(text.length, laying.at + most))
    yield
  }
  return { tape: laying.tape, isWhole: laying.isWhole && laying.open.length === 0 && !laying.inString }
}

/** The position behind the number or keyword that starts at `start`. */
function endOfBare(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isGap(code) || code === closeBrace || code === closeBracket) break
  }
  return at
}

/** The position of the bracket that closes the list around `from`; the end of the text if it is cut off, which the parser reports. */
export function closeOfList(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      continue
    }
    if (code === openBrace || code === openBracket) depth++
    else if (code === closeBrace || code === closeBracket) {
      if (depth === 0) return at
      depth--
    }
    at++
  }
  return at
}

/** Nesting depth of messages in a body, and of their parts. */
const messageDepth = 3
const partDepth = 5

/** Whether a body has more than `limit` messages, parts and tools, without parsing it or reading on. */
export function* hasMorePieces(text: string, limit: number, most = unitsAtOnce): Steps<boolean> {
  let depth = 0
  let pieces = 0
  let due = most
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      let end = endWithin(text, at + 1, due)
      for (; end < 0; end = endWithin(text, ~end, due)) {
        yield
        due = ~end + most
      }
      at = end - 1
    } else if (code === openBrace || code === openBracket) {
      depth++
      if (code === openBrace && (depth === messageDepth || depth === partDepth) && ++pieces > limit) return true
    } else if (code === closeBrace || code === closeBracket) depth--
    if (at >= due) {
      yield
      due = at + most
    }
  }
  return false
}
