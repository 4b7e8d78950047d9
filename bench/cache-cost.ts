import { findModel } from "../src/tokens/models.ts"
import { type CacheUse, promptDollars } from "../src/tokens/prompt-cache.ts"

/** Prompt tokens by what a provider charges for them, as a simulation of its cache classified them. */
export type Charged = {
  readonly requests: number
  readonly readTokens: number
  readonly writtenTokens: number
  readonly uncachedTokens: number
  readonly dollars: number
}

export const nothingCharged: Charged = { requests: 0, readTokens: 0, writtenTokens: 0, uncachedTokens: 0, dollars: 0 }

/** Returns the cost of reading one prompt, at the model's prices. */
export const charge = (model: string, use: CacheUse): Charged => ({
  requests: 1,
  readTokens: use.readTokens,
  writtenTokens: use.writtenTokens,
  uncachedTokens: use.uncachedTokens,
  dollars: promptDollars(findModel(model), use),
})

export const added = (one: Charged, other: Charged): Charged => ({
  requests: one.requests + other.requests,
  readTokens: one.readTokens + other.readTokens,
  writtenTokens: one.writtenTokens + other.writtenTokens,
  uncachedTokens: one.uncachedTokens + other.uncachedTokens,
  dollars: one.dollars + other.dollars,
})

/** Share of all prompt tokens that came from the cache. */
export const readShare = ({ readTokens, writtenTokens, uncachedTokens }: Charged): number =>
  readTokens / Math.max(1, readTokens + writtenTokens + uncachedTokens)
