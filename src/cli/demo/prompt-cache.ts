import { createHash } from "node:crypto"
import { type Piece, tokensOf } from "./request-pieces.ts"

/** What a request took, by what the cache had of it. */
export type CacheUse = { readonly readTokens: number; readonly writtenTokens: number; readonly freshTokens: number }

export type PromptCache = { readonly use: (pieces: readonly Piece[]) => CacheUse }

/** Prefixes that are remembered: a demo writes two for each of its calls. */
const maxPrefixes = 1000
/** So many blocks before a breakpoint are looked at for a prefix that is known, as Anthropic's API does it. */
const lookBack = 20

/**
 * A simulated prompt cache: it knows the prefixes that ended at a breakpoint in earlier requests, and of a new one reads the longest
 * that it knows. Nothing is too small for it, and nothing runs out.
 */
export function createPromptCache(): PromptCache {
  const known = new Set<string>()
  return {
    use: (pieces) => {
      const prefixes = prefixesOf(pieces)
      let read = 0
      let written = 0
      for (const [at, { marked }] of pieces.entries()) {
        if (!marked) continue
        written = at + 1
        for (let end = at; end >= Math.max(0, at - lookBack); end--)
          if (known.has(prefixes[end] ?? "")) {
            read = Math.max(read, end + 1)
            break
          }
      }
      for (const [at, { marked }] of pieces.entries()) if (marked) remember(known, prefixes[at] ?? "")
      const readTokens = tokensOf(pieces.slice(0, read))
      const writtenTokens = tokensOf(pieces.slice(read, written))
      return { readTokens, writtenTokens, freshTokens: tokensOf(pieces) - readTokens - writtenTokens }
    },
  }
}

/** A name for the request up to each of its blocks. */
function prefixesOf(pieces: readonly Piece[]): readonly string[] {
  let last = ""
  return pieces.map(({ text }) => {
    last = createHash("sha256").update(last).update("\n").update(text).digest("base64")
    return last
  })
}

function remember(known: Set<string>, prefix: string): void {
  known.delete(prefix)
  known.add(prefix)
  for (const oldest of known) {
    if (known.size <= maxPrefixes) return
    known.delete(oldest)
  }
}
