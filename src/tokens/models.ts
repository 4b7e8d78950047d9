import { tokens } from "../message/message.ts"
import { type ModelFamily, type ModelInfo, modelTable, type Prices, type VocabularyName } from "./model-table.ts"

/** A user's own figures for a model, or for all whose id goes on from this one. */
export type ModelOverride = { readonly id: string } & Partial<Omit<ModelInfo, "id" | "known">>

/** What the suffix `[1m]` asks for. */
const millionWindow = 1_000_000
/** Every model that agents use today has at least this much. */
const guessedWindow = 128_000
const guessedOutput = 8192
/** Proportions that are usual: reads at a tenth, writes at five quarters, output at five times the input. */
const guessedPrices: Prices = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }

const vendorPrefix = /^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|meta|qwen|deepseek|moonshotai?|zai|mistral|amazon)\./

/** As in `gpt-oss-120b-1:0` on Amazon Bedrock. */
const cloudRevision = /-\d+:\d+$/

/** An id as our table writes it: small letters, no vendor, path or region, and hyphens inside a Claude version. */
export function plainId(id: string): string {
  const small = id
    .trim()
    .toLowerCase()
    .replace(/\[1m\]$/, "")
  const name = small
    .slice(small.lastIndexOf("/") + 1)
    .replace(vendorPrefix, "")
    .replace(cloudRevision, "")
  const claude = name.indexOf("claude-")
  return claude < 0 ? name : name.slice(claude).replaceAll(".", "-")
}

/** Does `id` name this model: the same, or with a date, a variant or a revision behind it, but not another version? */
function goesOnFrom(id: string, start: string): boolean {
  if (!id.startsWith(start)) return false
  const rest = id.slice(start.length)
  return rest === "" || (/^[-@:_]/.test(rest) && !/^[-.]\d{1,2}(?!\d)/.test(rest))
}

/** Longest id first, so that the first match is the most specific. */
const rows: readonly ModelInfo[] = modelTable
  .flatMap((block) => block.rows)
  .sort((one, other) => other.id.length - one.id.length)

const families: readonly (readonly [start: RegExp, family: ModelFamily, vocabulary: VocabularyName])[] = [
  [/^claude/, "anthropic", "claude-4.7"],
  [/^gpt-(?:3|4(?:$|-))/, "openai", "cl100k"],
  [/^(?:gpt|chatgpt|codex|o\d)/, "openai", "o200k"],
  [/^gem(?:ini|ma)/, "gemini", "gemini"],
]

function guessed(id: string): ModelInfo {
  const [, family, vocabulary] = families.find(([start]) => start.test(id)) ?? [undefined, "open", "open"]
  const caching = modelTable.find((block) => block.family === family)?.caching
  return {
    id,
    known: false,
    family,
    vocabulary,
    windowTokens: tokens(guessedWindow),
    outputTokens: tokens(guessedOutput),
    prices: guessedPrices,
    caching: caching ?? { leastTokens: 1024, breakpoints: 0, lifetimeSeconds: 300 },
    source: "not in the table: assumed",
  }
}

/** The model that an id means, however a client or a cloud writes it. Overrides go over what the table says. */
export function findModel(id: string, overrides: readonly ModelOverride[] = []): ModelInfo {
  const plain = plainId(id)
  const base = rows.find((row) => goesOnFrom(plain, row.id)) ?? guessed(plain)
  const wide = id.trim().toLowerCase().endsWith("[1m]")
  const model = wide ? { ...base, windowTokens: tokens(Math.max(base.windowTokens, millionWindow)) } : base
  const override = overrides
    .filter((candidate) => goesOnFrom(plain, plainId(candidate.id)))
    .sort((one, other) => other.id.length - one.id.length)[0]
  if (override === undefined) return model
  const { id: _id, ...figures } = override
  return { ...model, ...figures, known: model.known || figures.windowTokens !== undefined }
}
