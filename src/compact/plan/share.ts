/** How the room of a compacted context is shared out, each piece with its most and, where it needs one, its least. */
type SharePolicy = {
  /** Below this a digest goes without its headings and its sentence on what it is. */
  readonly briefTokens: number
  /** While so much of what there is may stay, shortening results may be enough. */
  readonly easyShare: number
}

export const defaultShares: SharePolicy = {
  briefTokens: 500,
  easyShare: 0.65,
}

/** A handoff of two pages says what a person would read; a larger context is better spent on the messages themselves, and a little on it. */
const softMost = 3150
const furtherShare = 0.01
const hardMost = 20_000

export const mostDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(hardMost, softMost + limitTokens * furtherShare))

/** A digest takes at most this share of all old material. */
const mostOfOld = 0.21
/** In a small context a digest of this size is worth more than any message. */
const smallTokens = 280

/** Where what must be told needs it, a digest takes so much of the room; the rest shows where the work stopped. */
const essentialShare = 0.85

/**
 * What is held back for the digest of what is free for old material: the less may stay of it, the larger the share that the digest is
 * worth, and in any case what it takes to tell what the user said, what was done and what became of files. It grows with the room, and so
 * does what it leaves to messages; what it does not need goes to messages as well.
 */
export function digestReserve(freeTokens: number, oldTokens: number, essentialTokens = 0): number {
  const old = Math.max(1, oldTokens)
  const kept = freeTokens / old
  const grown = Math.min(kept, 0.4)
  const usual = Math.min(0.75 * grown, grown * (0.8 - grown)) + Math.max(0, kept - 0.4) * 0.25
  const essential = Math.min(essentialTokens, freeTokens * essentialShare)
  return Math.max(Math.min(0.9 * freeTokens, smallTokens), old * Math.min(usual, mostOfOld), essential)
}

/**
 * What a digest is left where results that the model has not read do not fit whole: a page at most; of a very small context, in which
 * such a result says little anyway, most of it.
 */
export const leastDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(1200, Math.max(limitTokens * 0.04, Math.min(limitTokens * 0.75, 350))))

/**
 * What a record of the work is left beside a long message of the user that leaves it less: the middle of the message gives way to it. A
 * reader who gets the message and no word of the work would begin again.
 */
export const leastRecordTokens = (limitTokens: number): number =>
  Math.floor(Math.min(600, Math.max(100, limitTokens * 0.25)))

/** A digest without content needs little. */
export const bareDigestShare = 0.1
