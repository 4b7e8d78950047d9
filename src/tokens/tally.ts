import { type Message, type Tokens, type Transcript, tokens } from "../message/message.ts"
import type { Meter } from "./meter.ts"

/** Sums that only grow. Tallies of one history share them, and each reads only its own first entries. */
type Sums = { values: Float64Array; messages: Message[]; filled: number }

/** Running sums of the sizes of a transcript: any range in O(1), one more message in O(1). A value; extending returns a new one. */
export type Tally = {
  readonly meter: Meter
  readonly length: number
  readonly total: Tokens
  readonly sums: Sums
}

const firstCapacity = 64

export function createTally(meter: Meter): Tally {
  return {
    meter,
    length: 0,
    total: tokens(0),
    sums: { values: new Float64Array(firstCapacity), messages: [], filled: 1 },
  }
}

/** Returns the sums with room for more after the first `length` messages; a copy if another tally has already been extended there. */
function sumsFor(tally: Tally, more: number): Sums {
  const { sums, length } = tally
  const needed = length + 1 + more
  if (sums.filled === length + 1 && needed <= sums.values.length) return sums
  const values = new Float64Array(Math.max(needed, 2 * sums.values.length))
  values.set(sums.values.subarray(0, length + 1))
  return { values, messages: sums.messages.slice(0, length), filled: length + 1 }
}

/** Extends a tally by new messages, at the cost of these only. */
export function extendTally(tally: Tally, added: Transcript): Tally {
  if (added.length === 0) return tally
  const sums = sumsFor(tally, added.length)
  let total: number = tally.total
  for (const message of added) {
    total += tally.meter.message(message)
    sums.values[sums.filled++] = total
    sums.messages.push(message)
  }
  return { meter: tally.meter, length: tally.length + added.length, total: tokens(total), sums }
}

/** Returns the tally of a whole transcript, continued from the last message that is the same object in `tally`. */
export function tallyTranscript(tally: Tally, messages: Transcript): Tally {
  const { meter, sums } = tally
  let common = 0
  while (common < tally.length && common < messages.length && sums.messages[common] === messages[common]) common++
  const shared =
    common === tally.length ? tally : { meter, length: common, total: tokens(sums.values[common] ?? 0), sums }
  return extendTally(shared, messages.slice(common))
}

/** Returns the tokens of messages `from` up to but not including `end`. */
export function tokensBetween(tally: Tally, from: number, end: number): Tokens {
  const at = (index: number): number => tally.sums.values[Math.min(Math.max(index, 0), tally.length)] ?? 0
  return tokens(Math.max(0, at(end) - at(from)))
}

/** Returns the start of the longest suffix of the transcript with at most `budget` tokens, in O(log n). */
export function tailStart(tally: Tally, budget: Tokens): number {
  let low = 0
  let high = tally.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (tokensBetween(tally, middle, tally.length) <= budget) high = middle
    else low = middle + 1
  }
  return low
}
