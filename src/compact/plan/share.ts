/** How the space of a compacted context is divided. */
type SharePolicy = {
  /** Below this size a digest has no headings and no introductory sentence. */
  readonly briefTokens: number
  /** If at least this share of the context may stay, shortening results may be enough. */
  readonly easyShare: number
}

export const defaultShares: SharePolicy = {
  briefTokens: 500,
  easyShare: 0.65,
}

/**
 * Maximum size of a digest in tokens: about two pages, as a person would read, plus a little for larger contexts, which are better spent on
 * the messages themselves.
 */
const softMost = 3150
const furtherShare = 0.01
const hardMost = 20_000

export const mostDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(hardMost, softMost + limitTokens * furtherShare))

/** Maximum share of the old content for its digest. */
const mostOfOld = 0.21
/** In a small context a digest of this size is worth more than any message. */
const smallTokens = 280

/** Maximum share of the space for essential lines of a digest; the rest shows where the work stopped. */
const essentialShare = 0.85

/**
 * Returns the tokens reserved for the digest from what is free for old content: the smaller the share of it that may stay, the larger the
 * digest's share, and always enough for what the user said, what was done and what became of files. It grows with the space, and so does
 * what it leaves to messages, which also get what it does not need.
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
 * Size of a digest if unread results do not fit whole: a page at most; most of a very small context, in which such a result would say
 * little anyway.
 */
export const leastDigestTokens = (limitTokens: number): number =>
  Math.floor(Math.min(1200, Math.max(limitTokens * 0.04, Math.min(limitTokens * 0.75, 350))))

/**
 * Size of a digest next to a long user message that would leave less: the middle of the message is cut for it. A reader with the message
 * but no record of the work would start again.
 */
export const leastRecordTokens = (limitTokens: number): number =>
  Math.floor(Math.min(600, Math.max(100, limitTokens * 0.25)))

/** Share for a digest without content, which needs little. */
export const bareDigestShare = 0.1
