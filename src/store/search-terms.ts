import type { MemoryHit, MemoryRow } from "./store.ts"

/**
 * How text is split into search terms. All stores split rows and queries with these functions, so that all find the same rows. Words of
 * scripts without spaces (Chinese, Japanese, Thai), or with attached particles (Korean), are split into characters: a part of a word is
 * found as consecutive characters. Other words are cut at 64 characters: no name is longer, and an encoded file must not become one giant
 * term.
 */
const SEGMENT =
  /[[\p{L}\p{N}\p{M}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]|[[\p{L}\p{N}\p{M}]--[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]{1,64}/gv

/** A character with its marks, up to eight at a time: normalizing a longer run of marks takes quadratic time. */
const MARKED = /.[\p{M}ﾞﾟ]{1,8}/gu

/** Accents of Latin, Greek and Cyrillic letters: `Müller` and `Muller` are the same search term. */
const ACCENTS = /[\u0300-\u036f]/g

/**
 * Limit on searchable terms of a row; further words are stored but not searched. PostgreSQL indexes up to 1 MB and 16,383 positions of a
 * row.
 */
export const TERMS_PER_ROW = 4000

/** Text beyond this cannot become a term, with 64 characters for each. */
const ROW_CHARACTERS = TERMS_PER_ROW * 64

/** Limit on terms of a query; people use far fewer. */
const TERMS_PER_QUERY = 64
const QUERY_CHARACTERS = 10_000

/** The terms of a text, in order: letters, numbers and marks, in lower case, without accents. */
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
 * The phrases of a query: lists of terms, each to be found in sequence, all lists in any order. Quoted text is one phrase, and so is text
 * between spaces: a path or address is found as a whole. There are no operators. Empty if there are no words.
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

/** A quote without a closing one is plain punctuation. */
function piecesOf(query: string): readonly string[] {
  const spans = query.replace(/[“”„]/g, '"').split('"')
  const quoted = (at: number): boolean => at % 2 === 1 && at < spans.length - 1
  return spans.flatMap((span, at) => (quoted(at) ? [span] : span.split(/\s+/)))
}

function fold(word: string): string {
  const plain = word.normalize("NFKD").replace(ACCENTS, "").toLowerCase()
  return plain.replaceAll("ß", "ss").replaceAll("ς", "σ").normalize("NFC")
}

/** More hits than this are not ranked but sorted newest first: such a common word says nothing about which row is meant. */
const RANKED_HITS = 200

/** Default number of hits. */
const DEFAULT_HITS = 20

/** Limit on the hits of one search, so that no query reads a whole memory. */
const MOST_HITS = 1000

/** The number of rows to return, and to fetch so that `rankHits` knows whether they are few enough to rank. */
export function hitLimits(limit: number = DEFAULT_HITS): { readonly show: number; readonly fetch: number } {
  const show = Math.max(0, Math.min(limit, MOST_HITS))
  return { show, fetch: Math.max(show, RANKED_HITS + 1) }
}

/** The best `show` rows of those found, which are sorted newest first; with more than `RANKED_HITS` rows or no phrases, the newest. */
export function rankHits(
  found: readonly MemoryRow[],
  phrases: readonly (readonly string[])[],
  show: number,
): readonly MemoryHit[] {
  if (phrases.length === 0 || found.length > RANKED_HITS) return found.slice(0, show).map((row) => ({ row, score: 0 }))
  const hits = found.map((row) => ({ row, score: scoreOf(searchTerms(row.text), phrases) }))
  return hits.sort((one, other) => other.score - one.score).slice(0, show)
}

/** Does a row with these terms match the phrases? */
export function isHit(terms: readonly string[], phrases: readonly (readonly string[])[]): boolean {
  const text = ` ${terms.join(" ")} `
  return phrases.every((phrase) => text.includes(` ${phrase.join(" ")} `))
}

/** BM25 term saturation (k1 1.2, b 0.75) against a row of 30 words. Rarity is ignored, because every hit has every phrase. */
function scoreOf(terms: readonly string[], phrases: readonly (readonly string[])[]): number {
  const text = ` ${terms.join("  ")} `
  const room = 1.2 * (0.25 + (0.75 * terms.length) / 30)
  const scores = phrases.map((phrase) => {
    const times = text.split(` ${phrase.join("  ")} `).length - 1
    return times / (times + room)
  })
  return scores.reduce((sum, score) => sum + score, 0)
}
