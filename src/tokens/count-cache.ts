import type { Utf8 } from "./utf8.ts"

export type CountBytes = (text: Utf8, from: number, end: number) => number

/** Slots that one stretch may stand in; with four words each they share a cache line. */
const ways = 4
const wordsPerSlot = 4
const wordsPerSet = ways * wordsPerSlot

/** Multipliers without a pattern in their bits, of MurmurHash3 and xxHash; two of them, so that the halves of a hash fail independently. */
const firstFactor = 0xcc9e2d51
const secondFactor = 0x85ebca77
const setFactor = 0x9e3779b1
/** Keeps the first n bytes of a little-endian word. */
const tailMasks = Int32Array.of(0, 0xff, 0xffff, 0xffffff)

/**
 * Remembers counts in a table of 2^`slotBits` slots of 16 bytes. A stretch of text is known by a 64-bit hash and its length,
 * never by a string that would keep a whole request alive; when its four slots are taken, the oldest gives way.
 */
export function createCountCache(slotBits: number, count: CountBytes): CountBytes {
  const slots = new Int32Array((1 << slotBits) * wordsPerSlot)
  const setShift = 32 - slotBits + 2

  const insert = (at: number, first: number, second: number, length: number, counted: number): number => {
    slots.copyWithin(at + wordsPerSlot, at, at + wordsPerSet - wordsPerSlot)
    slots[at] = first
    slots[at + 1] = second
    slots[at + 2] = length
    slots[at + 3] = counted
    return counted
  }

  return (text, from, end) => {
    const { view } = text
    let first = end - from
    let second = first
    for (let at = from; at < end; at += 4) {
      const word = end - at >= 4 ? view.getInt32(at, true) : view.getInt32(at, true) & (tailMasks[end - at] ?? 0)
      first = Math.imul(first ^ word, firstFactor)
      first ^= first >>> 15
      second = Math.imul(second + word, secondFactor)
      second ^= second >>> 13
    }
    const start = (Math.imul(first ^ second, setFactor) >>> setShift) * wordsPerSet
    for (let at = start; at < start + wordsPerSet; at += wordsPerSlot) {
      if (slots[at] === first && slots[at + 1] === second && slots[at + 2] === end - from) return slots[at + 3] ?? 0
    }
    return insert(start, first, second, end - from, count(text, from, end))
  }
}
