/** Below this length a byte loop is faster than another native comparison. */
const nearBy = 64

/** The length of the common prefix, found by bisecting with native comparisons. */
export function commonPrefix(one: Buffer, other: Buffer): number {
  let low = 0
  let high = Math.min(one.length, other.length)
  if (one.compare(other, 0, high, 0, high) === 0) return high
  while (high - low > nearBy) {
    const middle = (low + high) >>> 1
    if (one.compare(other, low, middle, low, middle) === 0) low = middle
    else high = middle
  }
  while (low < high && one[low] === other[low]) low++
  return low
}
