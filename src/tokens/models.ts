import { tokens } from "../message/message.ts"
import { type ModelFamily, type ModelInfo, modelTable, type Prices, type VocabularyName } from "./model-table.ts"

/** A user's figures for a model, or for all models whose id starts with this one. */
export type ModelOverride = { readonly id: string } & Partial<Omit<ModelInfo, "id" | "known">>

/** The window that the suffix `[1m]` stands for. */
const millionWindow = 1_000_000
/** Minimum window of the models that agents use today. */
const guessedWindow = 128_000
const guessedOutput = 8192
/** Usual proportions: reads at a tenth, writes at 1.25 times, output at five times the input price. */
const guessedPrices: Prices = { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }

const vendorPrefix = /^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|meta|qwen|deepseek|moonshotai?|zai|mistral|amazon)\./

/** As in `gpt-oss-120b-1:0` on Amazon Bedrock. */
const cloudRevision = /-\d+:\d+$/

/** Normalizes an id as in the table: lower case, no vendor, path or region, and hyphens inside a Claude version. */
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

/** True if `id` is this model, also with a date, variant or revision after it, but not another version. */
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

/** Finds the model for an id in any client's or cloud's spelling. Overrides replace figures of the table. */
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
