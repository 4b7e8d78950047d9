import type { Format } from "../message/message.ts"
import type { ModelInfo } from "./model-table.ts"

/** One piece of a prompt, in the order of caching: tools, system, messages. */
export type PromptPiece = {
  /** Its content in a normalized form, without its cache breakpoint. */
  readonly content: string
  readonly tokens: number
  readonly isBreakpoint: boolean
}

/** What a provider's prompt cache would have done with one prompt. Simulated: no provider is asked. */
export type CacheUse = {
  readonly readTokens: number
  readonly writtenTokens: number
  readonly uncachedTokens: number
}

/** A prompt cache without a clock: nothing expires, as for an agent that never pauses longer than the cache lives. */
export type PromptCache = {
  readonly read: (format: Format, model: string, pieces: readonly PromptPiece[]) => CacheUse
}

/** No provider caches less than this. */
const usualLeastTokens = 1024
/** Automatic caches count in steps of this size. */
const stepTokens = 128
/** Number of positions up to and including a breakpoint at which Anthropic looks for an earlier write. */
const lookBack = 20
/** Maximum number of known next pieces that a new piece is compared with, to find how much of it is shared. */
const maxCompared = 8
/** Maximum number of remembered prefixes, after which the cache is cleared. A session of a million tokens has some thousand. */
const maxBeginnings = 200_000

/** A prefix of prompts: the pieces that followed it, and whether a breakpoint ended here. */
type Beginning = { readonly next: Map<string, Beginning>; written: boolean }

const createBeginning = (): Beginning => ({ next: new Map(), written: false })

export const tokensOfPieces = (pieces: readonly PromptPiece[]): number =>
  pieces.reduce((sum, { tokens }) => sum + tokens, 0)

/** Creates a simulated prompt cache. A prefix of fewer than `leastTokens` is never cached. */
export function createPromptCache({
  leastTokens = usualLeastTokens,
}: {
  readonly leastTokens?: number
} = {}): PromptCache {
  const scopes = new Map<string, Beginning>()
  let remembered = 0
  const follow: Follow = (from, content) => {
    const known = from.next.get(content)
    if (known !== undefined) return known
    const made = createBeginning()
    from.next.set(content, made)
    remembered++
    return made
  }
  return {
    read: (format, model, pieces) => {
      if (remembered > maxBeginnings) {
        scopes.clear()
        remembered = 0
      }
      const scope = `${format}/${model}`
      const root = scopes.get(scope) ?? createBeginning()
      scopes.set(scope, root)
      const readPrompt = format === "anthropic-messages" ? readMarked : readAutomatic
      const { readTokens, writtenTokens } = readPrompt(root, pieces, leastTokens, follow)
      return { readTokens, writtenTokens, uncachedTokens: tokensOfPieces(pieces) - readTokens - writtenTokens }
    },
  }
}

/** Returns the prefix extended by a piece, creating it if it is new. */
type Follow = (from: Beginning, content: string) => Beginning

type ReadPrompt = (
  root: Beginning,
  pieces: readonly PromptPiece[],
  leastTokens: number,
  follow: Follow,
) => Pick<CacheUse, "readTokens" | "writtenTokens">

/** Anthropic: reads up to the last write close enough before a breakpoint, and writes at every breakpoint. */
const readMarked: ReadPrompt = (root, pieces, leastTokens, follow) => {
  let at = root
  let tokens = 0
  const ends = pieces.map((piece) => {
    at = follow(at, piece.content)
    tokens += piece.tokens
    return { beginning: at, tokens }
  })
  const places = pieces.flatMap(({ isBreakpoint }, n) => (isBreakpoint ? [n] : []))
  let readTokens = 0
  let writtenTo = 0
  for (const place of places)
    for (const end of ends.slice(Math.max(0, place + 1 - lookBack), place + 1))
      if (end.beginning.written) readTokens = Math.max(readTokens, end.tokens)
  for (const place of places) {
    const end = ends[place]
    if (end === undefined || end.tokens < leastTokens) continue
    end.beginning.written = true
    writtenTo = Math.max(writtenTo, end.tokens)
  }
  return { readTokens, writtenTokens: Math.max(0, writtenTo - readTokens) }
}

/** OpenAI and Gemini: reads the longest prefix that an earlier prompt had. */
const readAutomatic: ReadPrompt = (root, pieces, leastTokens, follow) => {
  let at = root
  let shared = 0
  let isShared = true
  for (const { content, tokens } of pieces) {
    if (isShared) {
      isShared = at.next.has(content)
      shared += isShared ? tokens : Math.floor(tokens * sharedShare(content, [...at.next.keys()].slice(-maxCompared)))
    }
    at = follow(at, content)
  }
  const steps = Math.floor(shared / stepTokens) * stepTokens
  return { readTokens: steps < leastTokens ? 0 : steps, writtenTokens: 0 }
}

/** Returns the largest share of a text, from 0 to 1, that is a prefix of one of the others. */
function sharedShare(text: string, others: readonly string[]): number {
  if (text === "") return 0
  const shared = others.map((other) => {
    let n = 0
    while (n < text.length && text[n] === other[n]) n++
    return n
  })
  return Math.max(0, ...shared) / text.length
}

const perMillion = 1_000_000

/** Returns the cost of reading one prompt at the model's prices; an estimate, like the cache. */
export function promptDollars({ prices, long }: ModelInfo, use: CacheUse): number {
  const { readTokens, writtenTokens, uncachedTokens } = use
  const whole = readTokens + writtenTokens + uncachedTokens
  const { input, cacheRead, cacheWrite } = long !== undefined && whole > long.aboveTokens ? long.prices : prices
  return (readTokens * cacheRead + writtenTokens * cacheWrite + uncachedTokens * input) / perMillion
}
