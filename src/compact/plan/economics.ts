/** Dollars per million tokens, as far as reading a prompt goes. */
type CachePrices = { readonly cacheRead: number; readonly cacheWrite: number }

type RewriteCost = {
  /** The beginning that stays byte for byte, and so stays cached. */
  readonly keptTokens: number
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly expectedCalls: number
}

/** What a rewrite costs and saves over the calls that are still expected, and after how many of them it has paid for itself. */
export type Weighing = {
  readonly leaveDollars: number
  readonly rewriteDollars: number
  readonly breakEvenCalls: number
  readonly pays: boolean
}

const perMillion = 1_000_000

/**
 * Is it worth rewriting a cached context? Left alone, every call reads all of it from the cache. Rewritten, the first call writes all
 * behind the kept beginning anew, and every later one reads less.
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
/** What Anthropic keeps for an hour costs twice the input price to write, in its price list of prompt caching. */
const hourWriteFactor = 2

/** How long the provider is to keep what is marked: an hour where calls so far came so far apart that five minutes cost more. */
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
