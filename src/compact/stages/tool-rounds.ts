import { newestThatFit, type Strategy, tokensOf } from "./strategy.ts"

/** Keep what people and model said and the newest tool rounds; the older rounds go first, and only then the oldest words. */
export const toolRounds: Strategy = (choice) => {
  const { groups, roomTokens, options } = choice
  const rounds = [...groups.keys()].filter((at) => groups[at]?.group.type === "tool-round")
  const old = new Set(rounds.slice(0, Math.max(0, rounds.length - options.keepRounds)))
  const kept = new Set([...groups.keys()].filter((at) => !old.has(at)))
  if (tokensOf(groups, kept) <= roomTokens) return kept
  const without = groups.map((sized, at) => (old.has(at) ? { ...sized, tokens: 0 } : sized))
  const newest = newestThatFit({ groups: without }, roomTokens)
  return new Set([...newest].filter((at) => !old.has(at)))
}
