/** Signs of the weights: a gap to the next feature that weighs something, then its level; a backslash is left out of them. */
const [firstSign, leftOut, farSign] = [35, 92, 125]
/** The level that weighs nothing, and the most there are on either side of it. */
export const zeroLevel = 45
/** The last sign of a gap; a gap that is longer starts with signs for so many. */
const longestGap = farSign - firstSign - 1

const levelOf = (sign: number): number => sign - firstSign - (sign > leftOut ? 1 : 0)

/** The levels of the weights of all features: a byte for each, so that the table stays in the cache of a processor. */
export function readLevels(signs: string, features: number): Int8Array {
  const levels = new Int8Array(features)
  let id = -1
  for (let at = 0; at < signs.length; at++) {
    const gap = levelOf(signs.charCodeAt(at))
    id += gap
    if (gap === longestGap) continue
    levels[id] = levelOf(signs.charCodeAt(++at)) - zeroLevel
  }
  return levels
}

/** The weight of each level. The roots of the weights are written, so that small ones keep their difference. */
export const weightsOfLevels = (step: number): Float32Array =>
  Float32Array.from({ length: 2 * zeroLevel + 1 }, (_, at) => {
    const level = at - zeroLevel
    return Math.sign(level) * level * level * step
  })
