import type { CompactionPolicy } from "../../compact/plan/policy.ts"

/** A token is rarely shorter than two bytes. If it is, the exact count of this request corrects the estimate for the next one. */
const leastBytesPerToken = 2
/** Safety margin below the compaction threshold, because counts are slightly off. */
const nearShare = 0.95

/**
 * Is a request certainly small enough that its session would not change it? For the part that is not counted yet, only its size in bytes
 * and an upper bound for its largest piece are known.
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
