import type { CompactionPolicy } from "../../compact/plan/policy.ts"

/** A token is rarely less than two bytes. Where it is, the count that is taken of every request makes up for it in the next. */
const leastBytesPerToken = 2
/** Of what may be there before a request is compacted: counts are a little off. */
const nearShare = 0.95

/**
 * Would a session surely leave a request as it is, as far as its size goes? Of what was not counted yet one knows only how many bytes it
 * has at most in one piece.
 */
export function leavesSize(
  { toolOutputTokens = Number.POSITIVE_INFINITY, toolRounds }: CompactionPolicy,
  { countedTokens, moreBytes, pieceBytes }: RequestSize,
  compactAtTokens: number,
): boolean {
  const most = countedTokens + Math.max(0, moreBytes) / leastBytesPerToken
  const isSmall = most <= compactAtTokens * nearShare && pieceBytes / leastBytesPerToken <= toolOutputTokens
  return isSmall && toolRounds === undefined
}

type RequestSize = { readonly countedTokens: number; readonly moreBytes: number; readonly pieceBytes: number }
