/** What a request takes of the window: read from the cache, new, and free. */
export type ContextUse = { readonly tokens: number; readonly cacheReadTokens: number; readonly windowTokens: number }

/** The signs of a bar, which tell its pieces apart without colour. */
export const barSigns = { cached: "█", fresh: "▒", free: "·" } as const

export type ContextBar = Readonly<Record<keyof typeof barSigns, string>>

/** The pieces of a bar, which has one width whatever it shows; what is there at all is seen. */
export function contextBar({ tokens, cacheReadTokens, windowTokens }: ContextUse, width: number): ContextBar {
  const cells = (count: number): number => Math.round((Math.max(0, count) / Math.max(1, windowTokens)) * width)
  const filled = Math.min(width, Math.max(tokens > 0 ? 1 : 0, cells(tokens)))
  const cached = Math.min(filled, cells(cacheReadTokens))
  return {
    cached: barSigns.cached.repeat(cached),
    fresh: barSigns.fresh.repeat(filled - cached),
    free: barSigns.free.repeat(width - filled),
  }
}
