import type { MemoryHit, MemoryRow } from "../../store/memory-row.ts"
import type { TellingWord } from "./telling-words.ts"

/** What one word led to. */
export type Finds = { readonly word: TellingWord; readonly hits: readonly MemoryHit[] }

/** An exact word tells as much as this many plain ones. */
const exactWorth = 3

/** What somebody said who may instruct goes before data that matches as well. */
const trustedWorth = 1.5

/** Plain words that must meet in a row: one alone meets by chance. */
const minPlainWords = 2

type Match = {
  readonly row: MemoryRow
  readonly score: number
  readonly plainWords: number
  readonly exact: boolean
}

/** The rows that answer to the words, best first: more and rarer words before fewer and common ones, then the trusted, then the newest. */
export function rankRows(finds: readonly Finds[]): readonly MemoryRow[] {
  const matches = new Map<string, Match>()
  for (const { word, hits } of finds) {
    const worth = (word.exact ? exactWorth : 1) / Math.log2(2 + hits.length)
    for (const { row } of hits) {
      const { score = 0, plainWords = 0, exact = false } = matches.get(row.id) ?? {}
      matches.set(row.id, {
        row,
        score: score + (row.trusted ? worth * trustedWorth : worth),
        plainWords: plainWords + (word.exact ? 0 : 1),
        exact: exact || word.exact,
      })
    }
  }
  const needed = Math.min(minPlainWords, finds.length)
  return [...matches.values()]
    .filter(({ exact, plainWords }) => exact || plainWords >= needed)
    .toSorted((one, other) => other.score - one.score || newestFirst(one.row, other.row))
    .map(({ row }) => row)
}

const newestFirst = (one: MemoryRow, other: MemoryRow): number =>
  Number(other.trusted) - Number(one.trusted) || other.atMs - one.atMs || (one.id < other.id ? -1 : 1)
