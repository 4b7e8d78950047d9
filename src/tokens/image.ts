import type { Media } from "../message/part.ts"
import type { Family } from "./family.ts"
import type { Size } from "./image-size.ts"

/** How a model turns a picture into tokens. `unknown` stands for a picture whose size nobody told us: the most that is usual. */
type Rule =
  | {
      readonly type: "patches"
      readonly edge: number
      readonly longEdge: number
      readonly most: number
      readonly factor: number
      readonly unknown: number
    }
  | { readonly type: "tiles"; readonly base: number; readonly tile: number; readonly unknown: number }
  | { readonly type: "gemini-tiles"; readonly unknown: number }
  | {
      readonly type: "fixed"
      readonly tokens: number
      readonly low: number
      readonly medium: number
      readonly ultra: number
    }

const patches = (edge: number, longEdge: number, most: number, factor: number, unknown: number): Rule => ({
  type: "patches",
  edge,
  longEdge,
  most,
  factor,
  unknown,
})

/**
 * By family and beginning of the model's id; the first that fits holds.
 * - anthropic: (w x h) / 750, at most about 1,600, long edge 1,568 (Anthropic vision guide, 2025). Measured, it is patches of 28
 *   pixels; since 4.7 the long edge is 2,000 (public dataset "image-token-cost", 2026-10).
 * - openai: tiles of 512 pixels after fitting 2,048 and a short edge of 768, or patches of 32 pixels with a factor (OpenAI
 *   images and vision guide, 2026); GPT-5.4 and later measured at 1.2 a patch (same dataset).
 * - gemini: 258 up to 384 pixels, then 258 a tile of 768 (Gemini image guide, 2025); Gemini 3 takes a fixed number by media
 *   resolution: 280, 560, 1,120, 2,240 (Gemini 3 guide, 2026).
 */
const rules: readonly (readonly [family: Family, model: RegExp, rule: Rule])[] = [
  [
    "anthropic",
    /^claude-(?:3|opus-4(?:-[0-6])?(?!-?\d)|sonnet-4|haiku-[34]|2|instant)/,
    patches(28, 1568, 1610, 1, 1610),
  ],
  ["anthropic", /^/, patches(28, 2000, 5224, 1, 3930)],
  ["openai", /^(?:gpt-4o-mini)/, { type: "tiles", base: 2833, tile: 5667, unknown: 48169 }],
  ["openai", /^(?:gpt-4\.1-mini|gpt-5-mini)/, patches(32, 2048, 1536, 1.62, 2489)],
  ["openai", /^(?:gpt-4\.1-nano|gpt-5-nano)/, patches(32, 2048, 1536, 2.46, 3779)],
  ["openai", /^o4-mini/, patches(32, 2048, 1536, 1.72, 2642)],
  ["openai", /^(?:gpt-4|chatgpt-4o)/, { type: "tiles", base: 85, tile: 170, unknown: 1445 }],
  ["openai", /^o\d/, { type: "tiles", base: 75, tile: 150, unknown: 1275 }],
  ["openai", /^gpt-5(?:$|-|\.[0-3])/, { type: "tiles", base: 70, tile: 140, unknown: 1190 }],
  ["openai", /^/, patches(32, 6000, 12000, 1.2, 3000)],
  ["gemini", /^gemini-[12]/, { type: "gemini-tiles", unknown: 1548 }],
  ["gemini", /^/, { type: "fixed", tokens: 1120, low: 280, medium: 560, ultra: 2240 }],
  ["open", /^/, patches(28, 4096, 4096, 1, 1600)],
]

const ceil = (value: number, step: number): number => Math.ceil(value / step)

function shrink({ width, height }: Size, factor: number): Size {
  return factor >= 1 ? { width, height } : { width: Math.ceil(width * factor), height: Math.ceil(height * factor) }
}

function tileCount(size: Size): number {
  const fitted = shrink(size, 2048 / Math.max(size.width, size.height))
  const small = shrink(fitted, 768 / Math.min(fitted.width, fitted.height))
  return ceil(small.width, 512) * ceil(small.height, 512)
}

function applyRule(rule: Rule, size: Size | undefined, detail: string): number {
  if (rule.type === "fixed") {
    if (detail.includes("ultra")) return rule.ultra
    if (detail.includes("low")) return rule.low
    return detail.includes("medium") ? rule.medium : rule.tokens
  }
  if (rule.type === "tiles" && detail === "low") return rule.base
  if (size === undefined) return rule.unknown
  if (rule.type === "tiles") return rule.base + rule.tile * tileCount(size)
  if (rule.type === "gemini-tiles") {
    return size.width <= 384 && size.height <= 384 ? 258 : 258 * ceil(size.width, 768) * ceil(size.height, 768)
  }
  const fitted = shrink(size, rule.longEdge / Math.max(size.width, size.height))
  return Math.ceil(Math.min(rule.most, ceil(fitted.width, rule.edge) * ceil(fitted.height, rule.edge)) * rule.factor)
}

/** How many tokens a picture takes, by the provider's own rule. */
export function imageTokens(family: Family, model: string, media: Media, size: Size | undefined): number {
  const found = rules.find(([of, pattern]) => of === family && pattern.test(model))
  return found === undefined ? 0 : applyRule(found[2], size, (media.detail ?? "").toLowerCase())
}
