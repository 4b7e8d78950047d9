import { lazy } from "../language/lazy.ts"
import { isStopWord, stemOf } from "../language/word-forms.ts"
import { present } from "../message/present.ts"
import type { MemoryHit, MemoryOwner, MemoryQuery, MemoryRow } from "./store.ts"

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

/** Terms of a row that can be searched: PostgreSQL indexes up to 1 MB and 16,383 positions of a row. */
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

/** A word of a query: terms in sequence, or one term in any of its forms. */
export type QueryWord = { readonly terms: readonly string[]; readonly stem?: string }

/** The words of a query: all quoted ones must occur, and any of the others; a row with more and rarer ones comes first. */
type QueryWords = { readonly quoted: readonly QueryWord[]; readonly words: readonly QueryWord[] }

/**
 * Reads the words of a query. Quoted text is one phrase, and so is text between spaces: a path or address is found as a whole. Words of
 * grammar are left out unless there are no others. Scripts without spaces are split by dictionary. There are no operators.
 */
export function readQuery(query: string): QueryWords {
  const quoted: QueryWord[] = []
  const words = new Map<string, QueryWord>()
  let left = TERMS_PER_QUERY
  const take = (text: string, isQuoted: boolean): void => {
    const terms = searchTerms(text, Math.max(0, left))
    left -= terms.length
    if (terms.length === 0) return
    if (isQuoted) quoted.push({ terms })
    else words.set(terms.join(" "), wordOf(terms))
  }
  for (const { text, isQuoted } of piecesOf(query.slice(0, QUERY_CHARACTERS))) {
    if (isQuoted || !UNSPACED.test(text)) take(text, isQuoted)
    else for (const segment of segmentsOf(text)) take(segment, false)
  }
  const telling = [...words.values()].filter(({ terms }) => !isStopWord(terms.join("")))
  return { quoted, words: telling.length === 0 && quoted.length === 0 ? [...words.values()] : telling }
}

function wordOf(terms: readonly string[]): QueryWord {
  const [only = ""] = terms
  return { terms, ...present({ stem: terms.length === 1 ? stemOf(only) : undefined }) }
}

type QueryPiece = { readonly text: string; readonly isQuoted: boolean }

/** A quote without a closing one is plain punctuation. */
function piecesOf(query: string): readonly QueryPiece[] {
  const spans = query.replace(/[“”„]/g, '"').split('"')
  return spans.flatMap((span, at): readonly QueryPiece[] =>
    at % 2 === 1 && at < spans.length - 1
      ? [{ text: span, isQuoted: true }]
      : span.split(/\s+/).map((text) => ({ text, isQuoted: false })),
  )
}

/** Matches a character of a script without spaces between words. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const HIRAGANA = /^\p{Script=Hiragana}+$/u

/** Korean particles after a noun. */
const PARTICLE = /(?<=\p{Script=Hangul}{2})(?:에서|으로|까지|부터|에게|을|를|이|가|은|는|의|에|로|와|과|도|만)$/u

/** Creating one takes as long as loading half of the package. */
const segmenter = lazy(() => new Intl.Segmenter(undefined, { granularity: "word" }))

/**
 * Splits a text in a script without spaces into words, without single characters and endings, which say little. If nothing else is there,
 * returns the whole text.
 */
export function segmentsOf(text: string): readonly string[] {
  const segments = [...segmenter().segment(text)].flatMap(({ segment, isWordLike }) => {
    const bare = segment.replace(PARTICLE, "")
    return isWordLike && bare.length >= 2 && !HIRAGANA.test(bare) ? [bare] : []
  })
  return segments.length === 0 ? [text] : segments
}

function fold(word: string): string {
  const plain = word.normalize("NFKD").replace(ACCENTS, "").toLowerCase()
  return plain.replaceAll("ß", "ss").replaceAll("ς", "σ").normalize("NFC")
}

/** Maximum number of hits read per word; a more common word is represented by its newest rows. */
const HITS_PER_WORD = 200

/** Number of overly common words that are also searched in pairs. */
const PAIRED_WORDS = 4

/** Maximum number of words searched; further ones only add to the score. */
const SEARCHED_WORDS = 16

const DEFAULT_HITS = 20

/** Limit on the hits of one search, so that no query reads a whole memory. */
const MOST_HITS = 1000

/** Returns the rows that have all of these words, newest first, at most `limit`. */
type FindRows = (words: readonly QueryWord[], limit: number) => Promise<readonly MemoryRow[]>

/**
 * Answers a query, the same in every store, using only `find`. Rows are found by each word alone, and by several together if one alone is
 * too common; the best come first, of equal ones the newest.
 */
export async function searchRows(
  query: string,
  limit: number = DEFAULT_HITS,
  find: FindRows,
): Promise<readonly MemoryHit[]> {
  const show = Math.max(0, Math.min(limit, MOST_HITS))
  const { quoted, words } = readQuery(query)
  const plain = (rows: readonly MemoryRow[]): readonly MemoryHit[] =>
    rows.slice(0, show).map((row) => ({ row, score: 0 }))
  if (quoted.length + words.length === 0) return plain(await find([], show))
  const most = Math.max(show, HITS_PER_WORD + 1)
  if (words.length <= 1) {
    const rows = await find([...quoted, ...words], most)
    if (rows.length > HITS_PER_WORD) return plain(rows)
    return ranked(
      rows,
      [...quoted, ...words].map((word) => ({ word, hits: rows.length })),
    ).slice(0, show)
  }
  const counted = await Promise.all(
    words.slice(0, SEARCHED_WORDS).map(async (word) => ({ word, rows: await find([...quoted, word], most) })),
  )
  const common = counted.filter(({ rows }) => rows.length > HITS_PER_WORD).map(({ word }) => word)
  const together = [
    ...(common.length === 0 ? [] : [words]),
    ...common
      .slice(0, PAIRED_WORDS)
      .flatMap((one, at) => common.slice(at + 1, PAIRED_WORDS).map((other) => [one, other])),
  ]
  const joint = await Promise.all(together.map((all) => find([...quoted, ...all], most)))
  const rows = new Map([...joint, ...counted.map((one) => one.rows)].flat().map((row) => [nameOf(row), row]))
  const weighed = [
    ...quoted.map((word) => ({ word, hits: HITS_PER_WORD })),
    ...counted.map((one) => ({ word: one.word, hits: one.rows.length })),
  ]
  return ranked([...rows.values()], weighed).slice(0, show)
}

/** The same over rows in memory, given newest first. */
export function searchAmong(
  rows: readonly MemoryRow[],
  { text = "", limit: most }: Pick<MemoryQuery, "text" | "limit">,
): Promise<readonly MemoryHit[]> {
  const terms = rows.map((row) => searchTerms(row.text))
  return searchRows(text, most, async (words, limit) =>
    rows.filter((_, at) => words.every((word) => hasWord(terms[at] ?? [], word))).slice(0, limit),
  )
}

const nameOf = ({ session, id }: MemoryRow): string => JSON.stringify([session, id])

type WeightedWord = { readonly word: QueryWord; readonly hits: number }

function ranked(rows: readonly MemoryRow[], words: readonly WeightedWord[]): readonly MemoryHit[] {
  const hits = rows.map((row) => ({ row, score: scoreOf(searchTerms(row.text), words) }))
  return hits.sort((one, other) => other.score - one.score || other.row.atMs - one.row.atMs)
}

/** Returns the indexes of the texts that match a question, best first. */
export function rankTexts(texts: readonly string[], question: string): readonly number[] {
  const query = readQuery(question)
  const split = texts.map((text) => searchTerms(text))
  const words = [...query.quoted, ...query.words].map((word) => ({
    word,
    hits: split.filter((terms) => hasWord(terms, word)).length,
  }))
  return split
    .flatMap((terms, at) => (words.length > 0 && isHit(terms, query) ? [{ at, score: scoreOf(terms, words) }] : []))
    .sort((one, other) => other.score - one.score || other.at - one.at)
    .map(({ at }) => at)
}

/** True if a row with these terms answers the query. */
export function isHit(terms: readonly string[], { quoted, words }: QueryWords): boolean {
  return (
    quoted.every((word) => hasWord(terms, word)) && (words.length === 0 || words.some((word) => hasWord(terms, word)))
  )
}

/** True if a row with these terms has the word, in this or another form. */
export const hasWord = (terms: readonly string[], { terms: sequence, stem }: QueryWord): boolean =>
  ` ${terms.join(" ")} `.includes(` ${sequence.join(" ")} `) ||
  (stem !== undefined && terms.some((term) => stemOf(term) === stem))

/** The stems of a row's terms, for an index. */
export const stemsOf = (terms: readonly string[]): readonly string[] => [
  ...new Set(terms.flatMap((term) => stemOf(term) ?? [])),
]

/** Weight of a hit by another form of a word, relative to the word itself. */
const FORM_WORTH = 0.7

/** Weight of a number, an address or a name of several parts, relative to a word. */
const EXACT_WORTH = 3

/** BM25 term saturation (k1 1.2, b 0.75) against a row of 30 words; rare words count more. */
function scoreOf(terms: readonly string[], words: readonly WeightedWord[]): number {
  const text = ` ${terms.join("  ")} `
  const room = 1.2 * (0.25 + (0.75 * terms.length) / 30)
  const stems = terms.map(stemOf)
  return words.reduce((sum, { word, hits }) => {
    const same = text.split(` ${word.terms.join("  ")} `).length - 1
    const forms = word.stem === undefined ? 0 : stems.filter((stem) => stem === word.stem).length - same
    const times = same + FORM_WORTH * Math.max(0, forms)
    const isExact = word.terms.length > 1 || /\d/.test(word.terms[0] ?? "")
    return sum + ((isExact ? EXACT_WORTH : 1) / Math.log2(2 + hits)) * (times / (times + room))
  }, 0)
}

/** The name of an agent in the index. */
export const ownerName = ({ tenant, agent }: MemoryOwner): string =>
  tenant === "" ? agent : JSON.stringify([tenant, agent])

/** The index names that rows of an agent may have: rows of versions without tenants have only the agent's. */
export const ownerNames = (owner: MemoryOwner): readonly string[] => [...new Set([ownerName(owner), owner.agent])]
