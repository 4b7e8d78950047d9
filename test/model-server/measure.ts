import type { Format } from "../../src/message/message.ts"
import { type CacheUse, createPromptCache, tokensOfPieces } from "../../src/tokens/prompt-cache.ts"
import { requestPieces } from "./request-pieces.ts"
import type { FailureKind } from "./wire.ts"

/** What a provider's prompt cache would have done with one request, and which share of system and tools it had. */
export type CacheReading = CacheUse & { readonly stackReadShare: number }

/** What one request was found to be. */
export type Measured = {
  /** By an honest count: system, tools and framing included. */
  readonly inputTokens: number
  /** It is more than the model takes, and was refused. */
  readonly tooLong?: Extract<FailureKind, { readonly type: "context-length" }>
  /** A simulation; there is none of a request that was refused. */
  readonly cache?: CacheReading
}

export type MeasureOptions = {
  readonly windowTokens?: number
  readonly tokenScale?: number
  readonly simulateCache?: boolean
}

/** Measures a request, as a call or only as a question for its size; nothing where nobody wants to know, or it cannot be read. */
export type Measure = (
  format: Format,
  model: string,
  body: Uint8Array,
  purpose?: "call" | "count",
) => Measured | undefined

export function createMeasure({ windowTokens, tokenScale = 1, simulateCache = false }: MeasureOptions): Measure {
  const cache = createPromptCache()
  return (format, model, body, purpose = "call") => {
    if (windowTokens === undefined && !simulateCache) return undefined
    const pieces = requestPieces(format, body, model, tokenScale)
    if (pieces === undefined) return undefined
    const inputTokens = tokensOfPieces(pieces)
    if (purpose === "count") return { inputTokens }
    if (windowTokens !== undefined && inputTokens > windowTokens) {
      return { inputTokens, tooLong: { type: "context-length", tokens: inputTokens, limit: windowTokens } }
    }
    if (!simulateCache) return { inputTokens }
    const use = cache.read(format, model, pieces)
    const stackTokens = tokensOfPieces(pieces.filter(({ isStack }) => isStack))
    const stackReadShare = stackTokens === 0 ? 0 : Math.min(1, use.readTokens / stackTokens)
    return { inputTokens, cache: { ...use, stackReadShare } }
  }
}
