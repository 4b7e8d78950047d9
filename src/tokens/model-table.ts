import { assert } from "../message/assert.ts"
import { type Tokens, tokens } from "../message/message.ts"
import blocks from "./models.json" with { type: "json" }

/** Dollars per million tokens. */
export type Prices = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  /** Writing to the shortest-lived cache; the input price if writing costs nothing extra. */
  readonly cacheWrite: number
}

/** How a provider caches prompts, and for how long. */
export type Caching = {
  /** A shorter prefix is never cached. */
  readonly leastTokens: number
  /** Number of places that the client may mark; 0 if the provider finds the prefix by itself. */
  readonly breakpoints: number
  readonly lifetimeSeconds: number
}

/** Models with the same message framing and image pricing. */
export type ModelFamily = "openai" | "anthropic" | "gemini" | "open"

/** The vocabulary of a model. Only o200k is public and exact here; the others are o200k times a factor. */
export type VocabularyName = "o200k" | "cl100k" | "claude-3" | "claude-4.7" | "gemini" | "open"

/**
 * Tokens of the vocabulary per o200k token, chosen so as not to under-count; calibration corrects the excess.
 * - cl100k: within 0.3 % of o200k on four agent traces (measured here, 2026-11); more in Asian scripts, so a margin.
 * - claude-3, up to Opus 4.6: the vocabulary published in 2024 takes 1.06 (JSON) to 1.21 (Chinese) times o200k (measured here), and
 *   the APIs of Claude 4 and 4.5 report 1.1 times that (ai-tokenizer 1.0.6, measured by its authors): 1.17 to 1.33.
 * - claude-4.7, since Opus 4.7: up to 1.35 times as many as before (Anthropic migration guide, 2026-04), so 1.3 x 1.35.
 * - gemini: 1.08 (ai-tokenizer 1.0.6, measured on Gemini 2.5 and 3).
 * - open: DeepSeek and GLM 1.0, Kimi K2 and Llama 3.3 up to 1.2 (same source).
 */
export const vocabularyFactors: Readonly<Record<VocabularyName, number>> = {
  o200k: 1,
  cl100k: 1.1,
  "claude-3": 1.3,
  "claude-4.7": 1.75,
  gemini: 1.1,
  open: 1.2,
}

/** What a provider adds around the text, in its own tokens. */
export type TokenFraming = {
  /** Once per request: what opens the prompt and the model's answer. */
  readonly request: number
  /** Once per message: its role and delimiters. */
  readonly message: number
  /** Around a tool call or result, besides its name and text. */
  readonly call: number
  /** Around one declared tool, besides its JSON. */
  readonly tool: number
  /** Once if there are tools: the provider's instructions on using them. */
  readonly toolPreamble: number
  /** One page of a document, which the model sees as an image and as text. */
  readonly documentPage: number
}

/**
 * `request`, `message`, `tool` and `toolPreamble` are the largest of a family that were measured against the APIs (ai-tokenizer
 * 1.0.6); Anthropic's preamble, 549, is taken 1.35 times for the vocabulary of 4.7. `call` is not published: the markup of a call
 * as text. A page is 1,500 to 3,000 tokens of text and its picture on Anthropic (PDF guide, 2025), 258 on Gemini 2 and 560 on
 * Gemini 3 (document guide, 2026), text and a high-detail picture on OpenAI.
 */
export const framings: Readonly<Record<ModelFamily, TokenFraming>> = {
  openai: { request: 6, message: 4, call: 8, tool: 12, toolPreamble: 24, documentPage: 1800 },
  anthropic: { request: 8, message: 4, call: 12, tool: 30, toolPreamble: 740, documentPage: 4500 },
  gemini: { request: 3, message: 2, call: 8, tool: 4, toolPreamble: 4, documentPage: 560 },
  open: { request: 34, message: 4, call: 12, tool: 30, toolPreamble: 230, documentPage: 1800 },
}

/** The figures of a model that planning needs. */
export type ModelInfo = {
  /** Without vendor, date and variant if it is in the table; otherwise as it came, in lower case. */
  readonly id: string
  /** False if nothing matched: the figures are then conservative guesses, and the prices only proportions. */
  readonly known: boolean
  readonly family: ModelFamily
  readonly vocabulary: VocabularyName
  readonly windowTokens: Tokens
  readonly outputTokens: Tokens
  readonly prices: Prices
  readonly long?: { readonly aboveTokens: number; readonly prices: Prices }
  readonly caching: Caching
  /** Where the figures are from, and their date. */
  readonly source: string
}

/** Models that share a provider and a source. */
type ModelBlock = { readonly family: ModelFamily; readonly caching: Caching; readonly rows: readonly ModelInfo[] }

/**
 * The current models. Every figure is its provider's; source and date are stated per block. A row has the id, then window, longest answer
 * and shortest cached prefix in tokens, then the prices; after `above`, the prices of a request with a longer input.
 */
export const modelTable: readonly ModelBlock[] = blocks.map(({ family, vocabulary, caching, source, date, rows }) => {
  assert(isFamily(family) && isVocabulary(vocabulary), `not known: ${family}, ${vocabulary}`)
  const common = { known: true, family, vocabulary, source: `${source}, ${date}` }
  return { family, caching, rows: rows.map((row) => ({ ...common, ...readRow(row, caching) })) }
})

function readRow(row: string, caching: Caching) {
  const [usual = "", above = ""] = row.split(" above ")
  const [id = "", ...figures] = usual.split(" ")
  const [window = 0, output = 0, leastTokens = 0, ...prices] = figures.map(Number)
  const [aboveTokens = 0, ...longPrices] = above.split(" ").map(Number)
  return {
    id,
    windowTokens: tokens(window),
    outputTokens: tokens(output),
    prices: readPrices(prices),
    ...(above === "" ? {} : { long: { aboveTokens, prices: readPrices(longPrices) } }),
    caching: { ...caching, leastTokens },
  }
}

function readPrices([input = 0, output = 0, cacheRead = 0, cacheWrite = 0]: readonly number[]): Prices {
  return { input, output, cacheRead, cacheWrite }
}

function isFamily(name: string): name is ModelFamily {
  return Object.hasOwn(framings, name)
}

function isVocabulary(name: string): name is VocabularyName {
  return Object.hasOwn(vocabularyFactors, name)
}
