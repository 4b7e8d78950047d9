import type { Tokens } from "../message/message.ts"

/** What the last request took by our count, and by the provider's. One whose history the provider holds tells nothing: we saw only its end. */
export type UsageSample = { readonly estimated: Tokens; readonly reported: Tokens }

/**
 * How far our counts are off for one model. The ratio is a property of the model and its texts and outlives a compaction; the
 * anchor says what one very prefix took, so it is void as soon as that prefix is rewritten.
 */
export type Calibration = { readonly ratio: number; readonly anchor?: UsageSample }

export const uncalibrated: Calibration = { ratio: 1 }

/** Real vocabularies lie within these of our estimate; more means that the request held something that we cannot see. */
const ratioBounds: { readonly least: number; readonly most: number } = { least: 0.5, most: 2 }
/** Below this the framing outweighs the text, and the ratio says nothing of the vocabulary. */
const sampleTokens = 500

const clampRatio = (ratio: number): number => Math.min(ratioBounds.most, Math.max(ratioBounds.least, ratio))

/** Learn from the last request alone: providers report each request whole, so sums over several would count the prefix again. */
export function calibrate(calibration: Calibration, sample: UsageSample): Calibration {
  if (sample.estimated === 0 || sample.reported === 0) return calibration
  const telling = sample.estimated >= sampleTokens
  return { ratio: telling ? clampRatio(sample.reported / sample.estimated) : calibration.ratio, anchor: sample }
}

/** After a compaction: the prefix that was reported is gone, what we learned of the model is not. */
export const voidAnchor = ({ ratio }: Calibration): Calibration => ({ ratio })

/** What the next request will be reported as: what the last one was, and what came since at the learned ratio. */
export function predict({ ratio, anchor }: Calibration, estimated: number): number {
  if (anchor === undefined || estimated < anchor.estimated) return Math.ceil(estimated * ratio)
  return anchor.reported + Math.ceil((estimated - anchor.estimated) * ratio)
}
