import { type Message, type Part, type Span, textOf } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createPause } from "../../store/pace.ts"
import { payloadsOf } from "../../store/reserved-log.ts"
import { hasWord, isHit, type QueryWord, rankTexts, readQuery, searchTerms } from "../../store/search-terms.ts"
import type { SessionRow, Store } from "../../store/store.ts"
import { readBody } from "./chain.ts"
import { entryId, thaw } from "./entry.ts"

/** A message that matches a search query, with its best excerpt. */
export type FoundText = {
  readonly session: string
  readonly entry: string
  readonly atMs: number
  readonly role: Message["role"]
  /** The part of the message that matches: text, a tool call, or a tool result. */
  readonly kind: "text" | "call" | "result"
  readonly tool?: string
  /** The excerpt on one line, split into pieces where words of the query begin and end. */
  readonly pieces: readonly FoundPiece[]
}

/** A piece of an excerpt. `isUsed`: it is a word of the query. */
type FoundPiece = { readonly text: string; readonly isUsed: boolean }

export type LogSearch = {
  readonly found: readonly FoundText[]
  readonly sessions: number
  /** The character limit was reached: the oldest sessions were not searched. */
  readonly cut: boolean
}

type SearchOptions = {
  /** Maximum number of messages in the result. */
  readonly limit: number
  /** Maximum number of characters searched, over all sessions, newest sessions first. */
  readonly maxCharacters?: number
}

type LogStore = Pick<Store, "read" | "payloads">

/** Default limit on characters searched: some seconds of work for 15 million tokens, the logs of some weeks of daily use. */
const defaultCharacters = 60_000_000
/** Number of entries read at once. */
const pageEntries = 200
/** Limits on the lines and characters of a section, which is matched as a unit; in a text without line breaks, a screen. */
const passageLines = 20
const passageCharacters = 2000
/** Limit on sections kept for ranking: those with the most query words, then the newest. */
const maxCandidates = 2000
const excerptCharacters = 320

type Candidate = Omit<FoundText, "pieces"> & { readonly text: string; readonly words: number }

/**
 * Searches the texts, tool calls and tool results of sessions, including those that are no longer shown to a model. A message matches if it
 * has any of the words, in any inflected form; words in double quotes are required. Messages with more and rarer words come first.
 */
export async function searchLogs(
  store: LogStore,
  rows: readonly SessionRow[],
  query: string,
  { limit, maxCharacters = defaultCharacters }: SearchOptions,
): Promise<LogSearch> {
  const asked = readQuery(query)
  const words = [...asked.quoted, ...asked.words]
  if (words.length === 0) return { found: [], sessions: 0, cut: false }
  const pause = createPause()
  const mayMatch = createFilter(words)
  const candidates: Candidate[] = []
  let left = maxCharacters
  let sessions = 0
  for (const row of rows) {
    if (left <= 0) break
    sessions += 1
    const tools = new Map<string, string>()
    for (let from = 1; from <= row.head.seq && left > 0; from += pageEntries) {
      for await (const section of sectionsOf(store, row.id, from, tools)) {
        left -= section.text.length
        const terms = mayMatch(section.text) ? searchTerms(section.text) : []
        if (isHit(terms, asked)) candidates.push({ ...section, words: wordsIn(terms, words) })
        await pause()
      }
      if (candidates.length > 2 * maxCandidates) keepBest(candidates)
    }
  }
  keepBest(candidates)
  return { found: bestOf(candidates, query, words, limit), sessions, cut: left <= 0 }
}

const notAscii = /[^\0-\x7f]/

/**
 * Creates a fast test of whether a text may match, because splitting it into terms takes most of the time. All forms of a word begin with
 * its stem, so an ASCII text without the stem, or else the first term, of any word does not match.
 */
function createFilter(words: readonly QueryWord[]): (text: string) => boolean {
  const starts = words.map(({ terms: [first = ""], stem }) => stem ?? first)
  return (text) => {
    if (notAscii.test(text)) return true
    const lower = text.toLowerCase()
    return starts.some((start) => lower.includes(start))
  }
}

const wordsIn = (terms: readonly string[], words: readonly QueryWord[]): number =>
  words.filter((word) => hasWord(terms, word)).length

function keepBest(candidates: Candidate[]): void {
  candidates.sort((one, other) => other.words - one.words || other.atMs - one.atMs)
  candidates.length = Math.min(candidates.length, maxCandidates)
}

/** The best section of each message. */
function bestOf(
  candidates: readonly Candidate[],
  query: string,
  words: readonly QueryWord[],
  limit: number,
): readonly FoundText[] {
  const seen = new Set<string>()
  const found: FoundText[] = []
  const texts = candidates.map(({ text }) => text)
  for (const at of rankTexts(texts, query)) {
    const candidate = candidates[at]
    if (candidate === undefined || found.length >= limit) break
    const { text, words: _words, ...about } = candidate
    const name = JSON.stringify([about.session, about.entry])
    if (seen.has(name)) continue
    seen.add(name)
    found.push({ ...about, pieces: excerptOf(text, words) })
  }
  return found
}

/** The texts of one page of a log, in sections. `tools` has the tool of each call: in some formats a result does not name its tool. */
async function* sectionsOf(
  store: LogStore,
  session: string,
  from: number,
  tools: Map<string, string>,
): AsyncGenerator<Omit<Candidate, "words">> {
  const page = await store.read(session, { from, limit: pageEntries })
  const said = page.filter(({ type }) => type === "message-appended")
  const payloads = await store.payloads(session, [...new Set(said.flatMap(({ body }) => payloadsOf(body)))])
  for (const stored of said) {
    const body = readBody(stored, payloads, session)
    if (body.type !== "message-appended") continue
    const entry = entryId(stored.seq)
    const { role, parts } = thaw(body.message, entry)
    for (const part of parts) {
      const kind = kindOf(part)
      if (kind === undefined) continue
      const about = { session, entry, atMs: stored.atMs, role, kind, ...present({ tool: toolOf(part, tools) }) }
      for (const text of sectionsIn(textOf(part))) yield { ...about, text }
    }
  }
}

function kindOf({ type }: Part): FoundText["kind"] | undefined {
  if (type === "text" || type === "document") return "text"
  return type === "tool-call" ? "call" : type === "tool-result" ? "result" : undefined
}

function toolOf(part: Part, tools: Map<string, string>): string | undefined {
  if (part.type === "tool-call") tools.set(part.callId, part.tool)
  if (part.type === "tool-result") return part.tool ?? tools.get(part.callId)
  return part.type === "tool-call" ? part.tool : undefined
}

/** Splits a text into sections, at line ends where possible; joined, they are the whole text. */
export function sectionsIn(text: string): readonly string[] {
  const sections: string[] = []
  let start = 0
  while (start < text.length) {
    let end = start
    for (let lines = 0; lines < passageLines && end < text.length; lines++) {
      const next = text.indexOf("\n", end)
      const lineEnd = next < 0 ? text.length : next + 1
      if (lineEnd - start > passageCharacters && end > start) break
      end = lineEnd
    }
    if (end - start > passageCharacters) end = wordEdge(text, start + passageCharacters)
    sections.push(text.slice(start, end))
    start = end
  }
  return sections
}

/** The offset after the word at `at`, so that no word is cut; a word of more than 200 characters is cut at `at`. */
function wordEdge(text: string, at: number): number {
  const rest = /[\s,;]/.exec(text.slice(at, at + 200))
  if (rest !== null) return at + rest.index + 1
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at + 1 : at
}

/** Matches a word. */
const wordPattern = /[\p{L}\p{N}\p{M}]+/gu

/** The start of the range of an excerpt's length that has the most hits. */
function densestStart(hits: readonly Span[]): number {
  let best = { start: 0, held: 0 }
  for (const [n, { start }] of hits.entries()) {
    const held = hits.slice(n).filter(({ end }) => end - start < (excerptCharacters * 3) / 4).length
    if (held > best.held) best = { start, held }
  }
  return best.start
}

/** The spans of query words in a line. */
function hitsIn(line: string, words: readonly QueryWord[]): readonly Span[] {
  const single = words.flatMap(({ terms, stem }) => terms.map((term) => ({ terms: [term], ...present({ stem }) })))
  return [...line.matchAll(wordPattern)].flatMap(({ 0: word, index }) => {
    const terms = searchTerms(word)
    return single.some((one) => hasWord(terms, one)) ? [{ start: index, end: index + word.length }] : []
  })
}

/** Splits a whole text into pieces where words of a query begin and end. */
export function piecesFor(text: string, query: string): readonly FoundPiece[] {
  const { quoted, words } = readQuery(query)
  return piecesIn(text, hitsIn(text, [...quoted, ...words]), { start: 0, end: text.length })
}

/** Splits the part of a line from `start` to `end` where the hits in it begin and end. */
export function piecesIn(line: string, hits: readonly Span[], { start, end }: Span): readonly FoundPiece[] {
  const pieces: FoundPiece[] = []
  let at = start
  for (const hit of hits) {
    if (hit.start < at || hit.end > end) continue
    pieces.push(
      { text: line.slice(at, hit.start), isUsed: false },
      { text: line.slice(hit.start, hit.end), isUsed: true },
    )
    at = hit.end
  }
  return [...pieces, { text: line.slice(at, end), isUsed: false }].filter(({ text }) => text !== "")
}

/** An excerpt around the query words, in pieces. */
function excerptOf(text: string, words: readonly QueryWord[]): readonly FoundPiece[] {
  const line = text.replace(/\s+/g, " ").trim()
  const hits = hitsIn(line, words)
  const first = densestStart(hits)
  const start = first < excerptCharacters / 2 ? 0 : line.lastIndexOf(" ", first - excerptCharacters / 4) + 1
  const end = line.length - start <= excerptCharacters ? line.length : wordEdge(line, start + excerptCharacters)
  const more = (isMore: boolean, text: string): readonly FoundPiece[] => (isMore ? [{ text, isUsed: false }] : [])
  const shown = line.slice(0, end).trimEnd()
  const pieces = piecesIn(shown, hits, { start, end: shown.length })
  return [...more(start > 0, "… "), ...pieces, ...more(end < line.length, " …")]
}
