import type { MemoryHit, MemoryRow } from "./store.ts"

/**
 * How text becomes words to search by. Every store cuts rows and questions with these two functions, so that all of them find the same.
 * A word of a script that writes without spaces (Chinese, Japanese, Thai), or that hangs its particles on (Korean), is cut into its
 * characters: whoever looks for a part of it finds it as characters in a row. Any other word is cut at 64 characters: no name is that
 * long, and the letters of an encoded file must not become one giant term.
 */
const SEGMENT =
  /[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]|[[\p{L}\p{N}\p{M}]--[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]{1,64}/gv

/** A character with its marks, up to eight at a time: putting a longer run of marks in order takes the square of its length. */
const MARKED = /.[\p{M}ﾞﾟ]{1,8}/gu

/** Marks over Latin, Greek and Cyrillic letters: `Müller` and `Muller` are the same word to whoever searches. */
const ACCENTS = /[\u0300-\u036f]/g

/** The words beyond are kept, not searched. A memory row is a line; PostgreSQL indexes up to 1 MB and 16,383 places of a row. */
export const TERMS_PER_ROW = 4000

/** What lies beyond could not become a term anyway, with 64 characters for each. */
const ROW_CHARACTERS = TERMS_PER_ROW * 64

/** The words beyond are not looked for: nobody asks with that many. */
const TERMS_PER_QUERY = 64
const QUERY_CHARACTERS = 10_000

/** The words of a text, in order: only letters, numbers and marks, in lower case, without accents. */
export function searchTerms(text: string, most: number = TERMS_PER_ROW): readonly string[] {
  const terms: string[] = []
  const composed = text.slice(0, ROW_CHARACTERS).replace(MARKED, (marked) => marked.normalize("NFKC"))
  for (const [segment] of composed.matchAll(SEGMENT)) {
    terms.push(...(fold(segment).match(SEGMENT) ?? []))
    if (terms.length >= most) break
  }
  return terms.slice(0, most)
}

/**
 * What a question looks for: lists of words, each list to be found in a row, all lists in any order. What stands in quotes is a list,
 * and so is what stands between spaces: a path or an address is found whole. Nothing in it is an operator. Empty if it has no words.
 */
export function phrasesOf(query: string): readonly (readonly string[])[] {
  const phrases: (readonly string[])[] = []
  let left = TERMS_PER_QUERY
  for (const piece of piecesOf(query.slice(0, QUERY_CHARACTERS))) {
    const terms = searchTerms(piece, left)
    if (terms.length > 0) phrases.push(terms)
    left -= terms.length
    if (left <= 0) break
  }
  return phrases
}

/** A quote without its partner is plain punctuation. */
function piecesOf(query: string): readonly string[] {
  const spans = query.replace(/[“”„]/g, '"').split('"')
  const quoted = (at: number): boolean => at % 2 === 1 && at < spans.length - 1
  return spans.flatMap((span, at) => (quoted(at) ? [span] : span.split(/\s+/)))
}

function fold(word: string): string {
  const plain = word.normalize("NFKD").replace(ACCENTS, "").toLowerCase()
  return plain.replaceAll("ß", "ss").replaceAll("ς", "σ").normalize("NFC")
}

/** More hits than this are not ranked but come newest first: a word that common says nothing about which row is meant. */
const RANKED_HITS = 200

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
  const hits = found.map((row) => ({ row, score: scoreOf(searchTerms(row.text), phrases) }))
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
