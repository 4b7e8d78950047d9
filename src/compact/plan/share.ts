/** How the room of a compacted context is shared out, each piece with its most and, where it needs one, its least. */
type SharePolicy = {
  /** Below this a digest goes without its headings and its sentence on what it is. */
  readonly briefTokens: number
  /** While so much of what there is may stay, the newest rounds stay whole, and shortening results may be enough. */
  readonly easyShare: number
  /** No single result of the newest rounds takes more than this share of what may stay. */
  readonly largestShare: number
}

export const defaultShares: SharePolicy = {
  briefTokens: 500,
  easyShare: 0.65,
  largestShare: 0.25,
}

/** A handoff of two pages says what a person would read; a larger context is better spent on the messages themselves, and a little on it. */
const softMost = 3150
const furtherShare = 0.01
const hardMost = 20_000

export const mostDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(hardMost, softMost + limitTokens * furtherShare))

/** A digest takes at most this share of what it stands for: where little has to go, little has to be said about it. */
const mostOfCovered = 0.35

/**
 * The digest's share of what is free for old material: the less may stay, of the whole or at all, the more of it the digest is worth.
 * `limitTokens` is the whole context's; `freeTokens` and `oldTokens` are what old material may take, and what it takes.
 */
export function digestShare(limitTokens: number, freeTokens: number, oldTokens: number): number {
  const kept = freeTokens / Math.max(1, oldTokens)
  const most = (mostOfCovered / (1 - mostOfCovered)) * Math.max(0, 1 / Math.max(0.01, kept) - 1)
  const usual = Math.min(0.75, Math.max(0.35, 0.8 - kept))
  return Math.min(1, Math.max(1.1 - limitTokens / 1000, Math.min(usual, most)))
}

/**
 * What a digest is left where results that the model has not read do not fit whole: a page at most; of a very small context, in which
 * such a result says little anyway, most of it.
 */
export const leastDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(1200, Math.max(limitTokens * 0.04, Math.min(limitTokens * 0.75, 350))))

/** A digest without content needs little. */
export const bareDigestShare = 0.1
