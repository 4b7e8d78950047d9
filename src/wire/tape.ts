import { HoldfastError } from "../message/errors.ts"

/** Deeper JSON is refused: no model API nests a tenth as deep, and every walk over it would have to fear for its stack. */
export const maxJsonDepth = 512

/**
 * Where each value of a valid JSON text stands, found in one pass: value n is `text.slice(starts[n], ends[n])`, and the first
 * value after it and all it contains is `next[n]`. A container's children follow it directly; an object's are key, value, key, value.
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

/** Quotes and escapes that are near are found character by character: a search for each of them would take fifty times as long. */
const nearUnits = 64

/** The position after the string that opens at `start`. Long stretches without a quote are crossed by a native search. */
function endOfString(text: string, start: number): number {
  let from = start + 1
  for (;;) {
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
}

const isGap = (code: number): boolean => code === comma || code === colon || code <= 0x20

/** Lay out `text`, which must have been parsed successfully before: nothing is validated here. */
export function layTape(text: string): Tape {
  const starts: number[] = []
  const ends: number[] = []
  const next: number[] = []
  const open: number[] = []
  const length = text.length
  let at = 0
  while (at < length) {
    const code = text.charCodeAt(at)
    if (isGap(code)) {
      at++
    } else if (code === closeBrace || code === closeBracket) {
      const container = open.pop() ?? 0
      ends[container] = ++at
      next[container] = starts.length
    } else {
      const value = starts.length
      starts.push(at)
      if (code === openBrace || code === openBracket) {
        if (open.push(value) > maxJsonDepth)
          throw new HoldfastError({ code: "json-too-deep", offset: at, limit: maxJsonDepth })
        ends.push(0)
        next.push(0)
        at++
      } else {
        at = code === quote ? endOfString(text, at) : endOfBare(text, at)
        ends.push(at)
        next.push(value + 1)
      }
    }
  }
  return { starts, ends, next }
}

/** The position after the number or word that starts at `start`. */
function endOfBare(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isGap(code) || code === closeBrace || code === closeBracket) break
  }
  return at
}

/** Where the list closes that `at` stands in, or the end of a text that is broken off: whoever parses the rest will say so. */
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

/** Messages stand in a list of the body, and their parts in a list of theirs. */
const messageDepth = 3
const partDepth = 5

/**
 * Has a body more than `limit` messages and parts? Told without parsing it, and no further than it takes: of a flood of them only the first
 * are looked at. Tools count too, which are few.
 */
export function hasMorePieces(text: string, limit: number): boolean {
  let depth = 0
  let pieces = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      continue
    }
    if (code === openBrace || code === openBracket) {
      depth++
      if (code === openBrace && (depth === messageDepth || depth === partDepth) && ++pieces > limit) return true
    } else if (code === closeBrace || code === closeBracket) depth--
    at++
  }
  return false
}
