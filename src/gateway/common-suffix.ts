/** Below this a loop is faster than another comparison of stretches. */
const nearBy = 64

/** How many bytes two texts have in common at their end; found by native comparison of ever smaller stretches. */
export function commonSuffix(one: Buffer, other: Buffer): number {
  const isSame = (from: number, to: number): boolean =>
    one.compare(other, other.length - to, other.length - from, one.length - to, one.length - from) === 0
  let low = 0
  let high = Math.min(one.length, other.length)
  if (isSame(0, high)) return high
  while (high - low > nearBy) {
    const middle = (low + high) >>> 1
    if (isSame(low, middle)) low = middle
    else high = middle
  }
  while (low < high && one[one.length - 1 - low] === other[other.length - 1 - low]) low++
  return low
}
