import type { MemoryHit, MemoryRow } from "./memory-row.ts"
import { termsOf } from "./search-terms.ts"

/** More hits than this are not ranked but come newest first: a word that common says nothing about which row is meant. */
export const RANKED_HITS = 200

/** How many are found if nobody says how many. */
const DEFAULT_HITS = 20

/** The most that one search returns, so that no question reads a whole memory. */
const MOST_HITS = 1000

/** How many rows to show, and how many to fetch so that `rankHits` can tell whether they are few enough to rank. */
export function hitLimits(limit: number = DEFAULT_HITS): { readonly show: number; readonly fetch: number } {
  const show = Math.max(0, Math.min(limit, MOST_HITS))
  return { show, fetch: Math.max(show, RANKED_HITS + 1) }
}

/** The best `show` of the rows that were found, which come newest first; with more than `RANKED_HITS` of them or nothing asked, the newest. */
export function rankHits(
  found: readonly MemoryRow[],
  phrases: readonly (readonly string[])[],
  show: number,
): readonly MemoryHit[] {
  if (phrases.length === 0 || found.length > RANKED_HITS) return found.slice(0, show).map((row) => ({ row, score: 0 }))
  const hits = found.map((row) => ({ row, score: scoreOf(termsOf(row.text), phrases) }))
  return hits.sort((one, other) => other.score - one.score).slice(0, show)
}

/** Whether a row with these words is found by a question. */
export function isHit(terms: readonly string[], phrases: readonly (readonly string[])[]): boolean {
  const text = ` ${terms.join(" ")} `
  return phrases.every((phrase) => text.includes(` ${phrase.join(" ")} `))
}

/** The usual saturation of BM25 (k1 1.2, b 0.75) against a row of 30 words; every hit has every phrase, so rarity says nothing. */
function scoreOf(terms: readonly string[], phrases: readonly (readonly string[])[]): number {
  const text = ` ${terms.join("  ")} `
  const room = 1.2 * (0.25 + (0.75 * terms.length) / 30)
  const scores = phrases.map((phrase) => {
    const times = text.split(` ${phrase.join("  ")} `).length - 1
    return times / (times + room)
  })
  return scores.reduce((sum, score) => sum + score, 0)
}
