/** Prices for reading a prompt, in dollars per million tokens. */
type CachePrices = { readonly cacheRead: number; readonly cacheWrite: number }

type RewriteCost = {
  /** The beginning that stays the same bytes and so stays cached. */
  readonly keptTokens: number
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly expectedCalls: number
}

/** What a rewrite costs and saves over the expected calls, and after how many of them it has paid off. */
export type Weighing = {
  readonly leaveDollars: number
  readonly rewriteDollars: number
  readonly breakEvenCalls: number
  readonly pays: boolean
}

const perMillion = 1_000_000

/**
 * Compares the cost of rewriting a cached context with leaving it. Left alone, every call reads all of it from the cache. Rewritten, the
 * first call writes everything after the kept beginning to the cache, and every later call reads less.
 */
export function weighRewrite(
  { keptTokens, beforeTokens, afterTokens, expectedCalls }: RewriteCost,
  { cacheRead, cacheWrite }: CachePrices,
): Weighing {
  const written = Math.max(0, afterTokens - keptTokens)
  const kept = afterTokens - written
  const leave = expectedCalls * beforeTokens * cacheRead
  const rewrite = kept * cacheRead + written * cacheWrite + (expectedCalls - 1) * afterTokens * cacheRead
  const saved = (beforeTokens - afterTokens) * cacheRead
  const breakEvenCalls = saved > 0 ? (written * (cacheWrite - cacheRead)) / saved : Number.POSITIVE_INFINITY
  return {
    leaveDollars: leave / perMillion,
    rewriteDollars: rewrite / perMillion,
    breakEvenCalls: Math.max(0, breakEvenCalls),
    pays: rewrite < leave,
  }
}

const minuteMs = 60_000
/** Writing a cache entry that is kept for an hour costs twice the input price, in Anthropic's price list of prompt caching. */
const hourWriteFactor = 2

/** Returns how long cached prefixes should be kept: an hour if earlier calls were so far apart that five minutes would cost more. */
export function lifetimeThatPays(
  gapsMs: readonly number[],
  expectedCalls: number,
  { input, cacheRead, cacheWrite }: CachePrices & { readonly input: number },
): "5m" | "1h" {
  if (gapsMs.length === 0) return "5m"
  const costOf = (lifetimeMs: number, write: number): number => {
    const lost = gapsMs.filter((gap) => gap > lifetimeMs).length / gapsMs.length
    return write + expectedCalls * (lost * write + (1 - lost) * cacheRead)
  }
  return costOf(60 * minuteMs, hourWriteFactor * input) < costOf(5 * minuteMs, cacheWrite) ? "1h" : "5m"
}
