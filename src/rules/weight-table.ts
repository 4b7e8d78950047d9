/**
 * Encoding of the weights, one character for each number: the gap to the next feature that has a weight, then its level. The backslash is
 * not used.
 */
const [firstChar, skippedChar, farChar] = [35, 92, 125]
/** The level of weight zero, and the number of levels on either side of it. */
export const zeroLevel = 45
/** Last character of a gap; a longer gap starts with characters of this value. */
const longestGap = farChar - firstChar - 1

const levelOf = (code: number): number => code - firstChar - (code > skippedChar ? 1 : 0)

/** Decodes the levels of the weights of all features: one byte each, so that the table fits into the cache of a processor. */
export function readLevels(encoded: string, features: number): Int8Array {
  const levels = new Int8Array(features)
  let id = -1
  for (let at = 0; at < encoded.length; at++) {
    const gap = levelOf(encoded.charCodeAt(at))
    id += gap
    if (gap === longestGap) continue
    levels[id] = levelOf(encoded.charCodeAt(++at)) - zeroLevel
  }
  return levels
}

/** Returns the weight of each level. Levels are square roots of weights, so that small weights stay distinct. */
export const weightsOfLevels = (step: number): Float32Array =>
  Float32Array.from({ length: 2 * zeroLevel + 1 }, (_, at) => {
    const level = at - zeroLevel
    return Math.sign(level) * level * level * step
  })
