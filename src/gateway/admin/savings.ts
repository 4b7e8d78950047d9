import { present, sumOf } from "../../message/present.ts"
import { findModel } from "../../tokens/models.ts"
import type { CompactionFigures, SessionListing } from "./answers.ts"
import { type Counted, type Profile, priceOf, pricesOf, type Turn } from "./session-profile.ts"

/**
 * What compactions saved: the cost of the same turns without compaction, minus the actual cost. All figures about savings, and the course
 * without compaction on the what-if page, are computed here.
 */
type Compactions = Pick<Profile, "turns" | "compactions" | "compactedIn" | "removedIn">

/**
 * The turns with the tokens that compactions removed from them added again, up to the model's own window. Cache hits stay the same share,
 * and a request right after a compaction hits the cache that the compaction invalidated. A turn that no compaction made smaller is returned
 * unchanged.
 */
export function withoutCompaction(profile: Compactions): readonly (Counted & { readonly dollars?: number })[] {
  const { turns, compactions, removedIn } = profile
  const isCached = turns.some(({ cacheReadTokens }) => cacheReadTokens > 0)
  const writtenShare = writtenShareOf(turns)
  const afterOne = new Set(compactions.flatMap(({ turn, undone }) => (undone ? [] : turn + 1)))
  let before = { was: 0, whole: 0 }
  return turns.map((turn) => {
    const removed = removedIn(turn.turn)
    const roomTokens = Math.max(0, findModel(turn.model).windowTokens - turn.contextTokens)
    const contextTokens = turn.contextTokens + Math.max(0, Math.min(removed, roomTokens))
    const readable = Math.min(before.whole, contextTokens)
    const wasReadable = Math.min(before.was, turn.contextTokens)
    before = { was: turn.contextTokens, whole: contextTokens }
    if (contextTokens === turn.contextTokens) return turn
    const isAfterOne = afterOne.has(turn.turn)
    const hits = isAfterOne ? Number(isCached) : Math.min(1, turn.cacheReadTokens / Math.max(1, wasReadable))
    const cacheReadTokens = Math.round(readable * hits)
    const share = isAfterOne ? writtenShare : writtenShareOf([turn])
    const cacheWriteTokens = Math.round((contextTokens - cacheReadTokens) * share)
    const counted = { contextTokens, cacheReadTokens, cacheWriteTokens, outputTokens: turn.outputTokens }
    const price = priceOf(turn.model, counted)
    return { ...counted, ...present({ dollars: price === undefined ? undefined : price * turn.calls }) }
  })
}

const removedBy = (compactions: readonly CompactionFigures[]): number =>
  sumOf(compactions, ({ beforeTokens, afterTokens }) => beforeTokens - afterTokens)

/** Share of the tokens not read from the provider's cache that were written to it. */
export function writtenShareOf(turns: readonly Turn[]): number {
  const fresh = sumOf(turns, ({ contextTokens, cacheReadTokens }) => contextTokens - cacheReadTokens)
  const written = sumOf(turns, ({ cacheWriteTokens }) => cacheWriteTokens)
  return fresh > 0 ? Math.min(1, written / fresh) : 0
}

/** Tokens and dollars saved in each turn; negative for a turn that cost more, because its cache had to be written again. */
export function savedPerTurn(profile: Compactions): readonly { readonly tokens: number; readonly dollars: number }[] {
  const { turns } = profile
  return withoutCompaction(profile).map(({ contextTokens, dollars }, n) => {
    const turn = turns[n]
    if (turn === undefined) return { tokens: 0, dollars: 0 }
    const tokens = (contextTokens - turn.contextTokens) * turn.calls
    return { tokens, dollars: dollars === undefined || turn.dollars === undefined ? 0 : dollars - turn.dollars }
  })
}

type Cost = NonNullable<SessionListing["cost"]>

export function sessionCost(profile: Compactions): Cost | undefined {
  const { turns } = profile
  const last = turns.at(-1)
  if (last === undefined || turns.some(({ dollars }) => dollars === undefined)) return undefined
  const dollars = sumOf(turns, (turn) => turn.dollars ?? 0)
  const savedDollars = sumOf(savedPerTurn(profile), (saved) => saved.dollars)
  return { dollars, savedDollars, prices: findModel(last.model).source }
}

/**
 * What one compaction saved in the calls that sent less because of it. If several compactions made a call smaller, each gets the share of
 * the tokens that it removed, so that the savings of all compactions add up to those of the session.
 */
export function savingsSince(profile: Compactions, compaction: CompactionFigures) {
  const { turns, compactedIn } = profile
  const saved = savedPerTurn(profile)
  const removed = removedBy([compaction])
  const shares = turns.slice(compaction.turn).flatMap((turn) => {
    const chain = compactedIn(turn.turn)
    if (!chain.some(({ id }) => id === compaction.id)) return []
    const all = removedBy(chain)
    return [{ turn, dollars: all === 0 ? 0 : ((saved[turn.turn - 1]?.dollars ?? 0) * removed) / all }]
  })
  const known = shares.length > 0 && shares.every(({ turn }) => turn.dollars !== undefined)
  const first = shares[0]?.turn
  const model = first && findModel(first.model)
  return {
    calls: shares.length,
    ...present({
      dollars: known ? sumOf(shares, (one) => one.dollars) : undefined,
      cachedTokens: first?.cacheReadTokens,
      writtenTokens: first && Math.max(0, first.contextTokens - first.cacheReadTokens),
      prices: first && pricesOf(first.model, first.contextTokens),
      source: model?.known ? model.source : undefined,
      model: first?.model,
    }),
  }
}
