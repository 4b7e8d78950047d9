import { createHash } from "node:crypto"
import type { Format } from "../../src/message/message.ts"
import { type RequestPiece, tokensIn } from "./request-pieces.ts"

/** What a provider's prompt cache would have done with one request. It is a simulation: no provider was asked. */
export type CacheReading = {
  readonly readTokens: number
  readonly writtenTokens: number
  readonly uncachedTokens: number
  /** Which share of the stack, system and tools, was read from the cache. */
  readonly stackReadShare: number
}

/** A prompt cache without clock and limit: what was written once is there for ever. */
export type SimulatedCache = {
  readonly read: (format: Format, model: string, pieces: readonly RequestPiece[]) => CacheReading
}

/** No provider caches less than this. */
const leastTokens = 1024
/** Automatic caches count in such steps. */
const stepTokens = 128
/** Anthropic looks for an earlier write at this many blocks up to a breakpoint. */
const lookBack = 20
/** Continuations kept for each beginning, to tell how far the next piece is the same. */
const maxNext = 8

/** A prefix of a request: its digest, and how many tokens it has. */
type Prefix = { readonly key: string; readonly tokens: number }

function prefixesOf(scope: string, pieces: readonly RequestPiece[]): readonly Prefix[] {
  const out: Prefix[] = []
  let [key, tokens] = [scope, 0]
  for (const piece of pieces) {
    key = createHash("sha256").update(`${key}\n${piece.content}`).digest("base64")
    tokens += piece.tokens
    out.push({ key, tokens })
  }
  return out
}

/** Anthropic: read up to the last write that lies close enough before a breakpoint, and write at every breakpoint. */
function marked(written: Set<string>, prefixes: readonly Prefix[], pieces: readonly RequestPiece[]) {
  const places = pieces.flatMap(({ isBreakpoint }, n) => (isBreakpoint ? [n] : []))
  const hits = places.flatMap((place) =>
    prefixes.slice(Math.max(0, place + 1 - lookBack), place + 1).filter(({ key }) => written.has(key)),
  )
  const readTokens = Math.max(0, ...hits.map(({ tokens }) => tokens))
  const ends = places.flatMap((place) => prefixes[place] ?? []).filter(({ tokens }) => tokens >= leastTokens)
  for (const { key } of ends) written.add(key)
  const writtenTokens = Math.max(0, Math.max(0, ...ends.map(({ tokens }) => tokens)) - readTokens)
  return { readTokens, writtenTokens }
}

/** How much of a text is the beginning of another, from 0 to 1. */
function sharedShare(text: string, others: readonly string[]): number {
  if (text === "") return 0
  const shared = others.map((other) => {
    let n = 0
    while (n < text.length && text[n] === other[n]) n++
    return n
  })
  return Math.max(0, ...shared) / text.length
}

/** OpenAI and Gemini: read the longest beginning that any earlier request had too. */
function automatic(
  next: Map<string, string[]>,
  scope: string,
  prefixes: readonly Prefix[],
  pieces: readonly RequestPiece[],
) {
  let at = scope
  let shared = 0
  let isShared = true
  for (const [n, piece] of pieces.entries()) {
    const known = next.get(at) ?? []
    if (isShared) {
      const isWhole = known.includes(piece.content)
      shared += isWhole ? piece.tokens : Math.floor(piece.tokens * sharedShare(piece.content, known))
      isShared = isWhole
    }
    if (!known.includes(piece.content)) next.set(at, [...known, piece.content].slice(-maxNext))
    at = prefixes[n]?.key ?? at
  }
  const steps = Math.floor(shared / stepTokens) * stepTokens
  return { readTokens: steps < leastTokens ? 0 : steps, writtenTokens: 0 }
}

export function createSimulatedCache(): SimulatedCache {
  const written = new Set<string>()
  const next = new Map<string, string[]>()
  return {
    read: (format, model, pieces) => {
      const scope = `${format}/${model}`
      const prefixes = prefixesOf(scope, pieces)
      const done =
        format === "anthropic-messages" ? marked(written, prefixes, pieces) : automatic(next, scope, prefixes, pieces)
      const stackTokens = tokensIn(pieces.filter(({ isStack }) => isStack))
      return {
        ...done,
        uncachedTokens: tokensIn(pieces) - done.readTokens - done.writtenTokens,
        stackReadShare: stackTokens === 0 ? 0 : Math.min(1, done.readTokens / stackTokens),
      }
    },
  }
}
