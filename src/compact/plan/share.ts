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
/** In a small context a digest of this size is worth more than any message. */
const smallTokens = 280

/**
 * What is held back for the digest of what is free for old material: the less may stay of it, the larger the share that the digest is
 * worth. While the digest may say all that it needs to (`mostOfCovered`), it grows with the room, and so does what it leaves to messages.
 */
export function digestReserve(freeTokens: number, oldTokens: number): number {
  const old = Math.max(1, oldTokens)
  const kept = freeTokens / old
  const grown = Math.min(kept, 0.4)
  const usual = Math.min(0.75 * grown, grown * (0.8 - grown)) + Math.max(0, kept - 0.4) * 0.25
  const most = (mostOfCovered / (1 - mostOfCovered)) * Math.max(0, 1 - kept)
  return Math.max(Math.min(0.9 * freeTokens, smallTokens), old * Math.min(usual, most))
}

/**
 * What a digest is left where results that the model has not read do not fit whole: a page at most; of a very small context, in which
 * such a result says little anyway, most of it.
 */
export const leastDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(1200, Math.max(limitTokens * 0.04, Math.min(limitTokens * 0.75, 350))))

/** A digest without content needs little. */
export const bareDigestShare = 0.1
