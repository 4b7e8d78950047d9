import type { Format } from "../../src/message/message.ts"
import { type CacheUse, createPromptCache, tokensOfPieces } from "../../src/tokens/prompt-cache.ts"
import { requestPieces } from "./request-pieces.ts"
import type { FailureKind } from "./wire.ts"

/** What a provider's prompt cache would have done with one request, and which share of system and tools it contained. */
export type CacheReading = CacheUse & { readonly stackReadShare: number }

/** Measured size of one request. */
export type Measured = {
  /** Exact count, system, tools and framing included. */
  readonly inputTokens: number
  /** Set if the request exceeds the model's window and was refused. */
  readonly tooLong?: Extract<FailureKind, { readonly type: "context-length" }>
  /** A simulation; absent if the request was refused. */
  readonly cache?: CacheReading
}

export type MeasureOptions = {
  readonly windowTokens?: number
  readonly tokenScale?: number
  readonly simulateCache?: boolean
}

/** Measures a request, either a call or a request for its token count; undefined if measuring is off or the body cannot be read. */
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
