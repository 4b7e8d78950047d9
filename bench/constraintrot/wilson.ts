/** A share with its Wilson interval at 95 %, which is valid for few episodes and for shares of 0 or 1. */
export type Share = {
  readonly hits: number
  readonly of: number
  readonly rate: number
  readonly low: number
  readonly high: number
}

/** Normal quantile of a 95 % interval. */
const z = 1.96

export function shareOf(hits: number, of: number): Share {
  if (of === 0) return { hits, of, rate: 0, low: 0, high: 1 }
  const rate = hits / of
  const centre = (rate + (z * z) / (2 * of)) / (1 + (z * z) / of)
  const half = (z / (1 + (z * z) / of)) * Math.sqrt((rate * (1 - rate)) / of + (z * z) / (4 * of * of))
  return {
    hits,
    of,
    rate,
    low: hits === 0 ? 0 : Math.max(0, centre - half),
    high: hits === of ? 1 : Math.min(1, centre + half),
  }
}
