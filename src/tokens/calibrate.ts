import type { Tokens } from "../message/message.ts"

/**
 * The tokens of the last request by our count and by the provider's. Not usable if the provider has part of the history, because we saw
 * only its end.
 */
export type UsageSample = { readonly estimated: Tokens; readonly reported: Tokens }

/**
 * Corrects our counts for one model. The ratio depends on the model and its texts and outlives a compaction; the anchor is the size of one
 * exact prefix, and is void once that prefix is rewritten.
 */
export type Calibration = { readonly ratio: number; readonly anchor?: UsageSample }

export const uncalibrated: Calibration = { ratio: 1 }

/** Bounds of the ratio: real vocabularies lie within them; beyond them the request contained something that we cannot see. */
const ratioBounds: { readonly least: number; readonly most: number } = { least: 0.5, most: 2 }
/** Minimum size of a request for learning the ratio: in smaller ones the framing outweighs the text. */
const sampleTokens = 500

const clampRatio = (ratio: number): number => Math.min(ratioBounds.most, Math.max(ratioBounds.least, ratio))

/** Learns from the last request alone: providers report each request as a whole, so sums would count the prefix repeatedly. */
export function calibrate(calibration: Calibration, sample: UsageSample): Calibration {
  if (sample.estimated === 0 || sample.reported === 0) return calibration
  const telling = sample.estimated >= sampleTokens
  return { ratio: telling ? clampRatio(sample.reported / sample.estimated) : calibration.ratio, anchor: sample }
}

/** Drops the anchor after a compaction, since its prefix is gone; the ratio stays. */
export const voidAnchor = ({ ratio }: Calibration): Calibration => ({ ratio })

/** Predicts the reported size of the next request: that of the last one, plus what was added at the learned ratio. */
export function predict({ ratio, anchor }: Calibration, estimated: number): number {
  if (anchor === undefined || estimated < anchor.estimated) return Math.ceil(estimated * ratio)
  return anchor.reported + Math.ceil((estimated - anchor.estimated) * ratio)
}
