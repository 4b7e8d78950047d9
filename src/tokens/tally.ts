import { type Message, type Tokens, type Transcript, tokens } from "../message/message.ts"
import type { Meter } from "./meter.ts"

/** Sums that only grow. Every tally of one history reads its own beginning of them and never past it. */
type Sums = { values: Float64Array; messages: Message[]; filled: number }

/** The sizes of a transcript as running sums: any stretch of it in O(1), one more message in O(1). A value; extending makes a new one. */
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

/** The sums with room for more behind the first `length` messages; a copy if another tally already went on from there. */
function sumsFor(tally: Tally, more: number): Sums {
  const { sums, length } = tally
  const needed = length + 1 + more
  if (sums.filled === length + 1 && needed <= sums.values.length) return sums
  const values = new Float64Array(Math.max(needed, 2 * sums.values.length))
  values.set(sums.values.subarray(0, length + 1))
  return { values, messages: sums.messages.slice(0, length), filled: length + 1 }
}

/** The tally of this history and what came after it. Costs what is new, not what was there. */
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

/** The tally of a whole transcript: sums are carried on from the last message that it has in common with `tally`, object for object. */
export function tallyTranscript(tally: Tally, messages: Transcript): Tally {
  const { meter, sums } = tally
  let common = 0
  while (common < tally.length && common < messages.length && sums.messages[common] === messages[common]) common++
  const shared =
    common === tally.length ? tally : { meter, length: common, total: tokens(sums.values[common] ?? 0), sums }
  return extendTally(shared, messages.slice(common))
}

/** The tokens of messages `from` up to but not including `end`. */
export function tokensBetween(tally: Tally, from: number, end: number): Tokens {
  const at = (index: number): number => tally.sums.values[Math.min(Math.max(index, 0), tally.length)] ?? 0
  return tokens(Math.max(0, at(end) - at(from)))
}

/** Where the longest end of the transcript begins that takes at most `budget` tokens, in O(log n). */
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
