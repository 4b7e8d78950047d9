import { argumentsText } from "../message/arguments-text.ts"
import {
  type Media,
  type Message,
  type ModelRequest,
  type Part,
  type ReasoningPart,
  type Tokens,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
  tokens,
} from "../message/message.ts"
import type { Steps } from "../message/steps.ts"
import { type Counter, o200k } from "./counter.ts"
import { type ImageSize, inlineImageSize } from "./image-size.ts"
import { framings, type ModelFamily, type ModelInfo, type TokenFraming, vocabularyFactors } from "./model-table.ts"
import { findModel } from "./models.ts"

/** Counts what a model charges for. Never throws, and counts each object only once. */
export type Meter = {
  readonly model: ModelInfo
  readonly text: (text: string) => Tokens
  /** Returns the longest prefix of a text with at most `budget` tokens of this model. */
  readonly truncate: (text: string, budget: Tokens) => string
  readonly part: (part: Part) => Tokens
  readonly message: (message: Message) => Tokens
  /** The same, with long texts counted in steps of some kilobytes. */
  readonly messageSteps: (message: Message) => Steps<Tokens>
  readonly tool: (tool: Tool) => Tokens
  /** Everything except the messages: framing, system and tools. */
  readonly overhead: (request: Pick<ModelRequest, "system" | "tools">) => Tokens
  readonly request: (request: Pick<ModelRequest, "system" | "tools" | "messages">) => Tokens
}

export type MeterOptions = {
  /** A model's id as the client sends it, or its entry in the model table. */
  readonly model?: string | ModelInfo
  /** The counter to use; by default the shared o200k counter. */
  readonly counter?: Counter
}

/** Caches counts by object: the same message, part or tool is never measured twice. */
function remembered<Item extends object>(
  measure: (item: Item) => number,
  known = new WeakMap<Item, Tokens>(),
): (item: Item) => Tokens {
  return (item) => {
    const found = known.get(item)
    if (found !== undefined) return found
    const counted = tokens(Math.ceil(measure(item)))
    known.set(item, counted)
    return counted
  }
}

const sum = <Item>(items: readonly Item[], measure: (item: Item) => number): number => {
  let total = 0
  for (const item of items) total += measure(item)
  return total
}

export function createMeter({ model: asked, counter = o200k() }: MeterOptions = {}): Meter {
  const model = typeof asked === "object" ? asked : findModel(asked ?? "")
  const framing = framings[model.family]
  const factor = vocabularyFactors[model.vocabulary]
  const text = (value: string): Tokens => tokens(Math.ceil(counter.count(value) * factor))
  const part: Meter["part"] = remembered((item) => measurePart(item, { model, framing, text, part }))
  // A call in the old `function_call` member has no wire text of its own: its arguments are in the message's.
  const within = ({ wire }: Message, item: Part): number =>
    item.type === "tool-call" && item.wire === undefined && wire !== undefined
      ? framing.call + text(item.tool) + text(argumentsText(item, wire))
      : part(item)
  const counted = new WeakMap<Message, Tokens>()
  const message = remembered((item: Message) => framing.message + sum(item.parts, (one) => within(item, one)), counted)
  function* messageSteps(item: Message): Steps<Tokens> {
    const known = counted.get(item)
    if (known !== undefined) return known
    const texts: string[] = []
    const collect: MeasureContext = {
      model,
      framing,
      text: (value) => (value.length > longUnits ? texts.push(value) : 0),
      part: (one) => measurePart(one, collect),
    }
    for (const one of item.parts) measurePart(one, collect)
    for (const value of texts) yield* counter.countSteps(value)
    return message(item)
  }
  const tool = remembered((item: Tool) => framing.tool + text(item.wire))

  const overhead: Meter["overhead"] = ({ system, tools }) => {
    const preamble = tools.length > 0 ? framing.toolPreamble : 0
    const opening = system.length > 0 ? framing.message : 0
    return tokens(framing.request + opening + sum(system, part) + preamble + sum(tools, tool))
  }
  return {
    model,
    text,
    truncate: (value, budget) => counter.truncate(value, tokens(Math.floor(budget / factor))),
    part,
    message,
    messageSteps,
    tool,
    overhead,
    request: (request) => tokens(overhead(request) + sum(request.messages, message)),
  }
}

/** Texts up to this length are counted in one step: a few milliseconds. */
const longUnits = 32_768

/** What measuring a part needs from its meter. */
type MeasureContext = {
  readonly model: ModelInfo
  readonly framing: TokenFraming
  readonly text: (text: string) => number
  readonly part: (part: Part) => number
}

/** Four bytes of text make a token and base64 adds a third, so encrypted reasoning of n characters has about n / 5.3 tokens. */
const sealedUnitsPerToken = 5
/** A PDF page of mostly text; a scanned page is larger and counts as several, which errs on the safe side. */
const bytesPerPage = 25_000
/** Pages assumed for a document of unknown size. The next reported usage corrects it. */
const unseenPages = 10
/** Maximum number of pages: no provider reads more of one document (Gemini document guide, 2025: 1,000). */
const mostPages = 1000
/** For text in UTF-8, on the safe side of the usual four. */
const bytesPerToken = 3

type WithWire = Pick<Part, "wire">

/** Encrypted reasoning is only in `wire`, with at most a summary in `text`; without `wire`, `text` itself is the encrypted data. */
function measureReasoning(part: ReasoningPart & WithWire, { text }: MeasureContext): number {
  const sealed = part.sealed === true ? (part.wire ?? part.text) : ""
  const hidden = Math.max(part.signature?.length ?? 0, sealed.length)
  const isSeal = part.sealed === true && part.wire === undefined
  return Math.max(isSeal ? 0 : text(part.text), Math.ceil(hidden / sealedUnitsPerToken))
}

/** A call whose input is in an unknown member counts as its JSON. */
function measureCall(part: ToolCallPart & WithWire, { framing, text }: MeasureContext): number {
  if (part.kind === "other" && part.input === undefined) return framing.call + text(part.wire ?? part.tool)
  return framing.call + text(part.tool) + text(argumentsText(part))
}

/** A result whose output is in an unknown member counts as its JSON. */
function measureResult(part: ToolResultPart & WithWire, { framing, text, part: measure }: MeasureContext): number {
  if (part.kind === "other" && part.content.length === 0) return framing.call + text(part.wire ?? "")
  return part.content.reduce((total, inner) => total + measure(inner), framing.call)
}

function measureImage(media: Media, wire: string | undefined, { model }: MeasureContext): number {
  const { width, height } = media
  const told = width !== undefined && height !== undefined && width > 0 && height > 0 ? { width, height } : undefined
  const size = told ?? (media.held === "inline" && wire !== undefined ? inlineImageSize(wire) : undefined)
  return imageTokens(model.family, model.id, media, size)
}

function measureMedia(media: Media, { framing }: MeasureContext): number {
  const bytes = media.inlineLength === undefined ? undefined : Math.ceil((media.inlineLength * 3) / 4)
  if (bytes === undefined) return unseenPages * framing.documentPage
  if (media.mediaType?.startsWith("text/") === true) return Math.ceil(bytes / bytesPerToken)
  return Math.min(mostPages, Math.ceil(bytes / bytesPerPage)) * framing.documentPage
}

/** Counts the tokens of a part. Unknown parts count as their JSON. */
function measurePart(part: Part, gauge: MeasureContext): number {
  const { text } = gauge
  switch (part.type) {
    case "text":
      return text(part.text)
    case "reasoning":
      return measureReasoning(part, gauge)
    case "tool-call":
      return measureCall(part, gauge)
    case "tool-result":
      return measureResult(part, gauge)
    case "image":
      return measureImage(part.media, part.wire, gauge)
    case "document":
      return text(part.title ?? "") + (part.text === undefined ? measureMedia(part.media, gauge) : text(part.text))
    case "opaque":
    case "unknown":
      return text(part.wire)
  }
}

/** Converts an image's size to tokens. An image of unknown size counts as the usual maximum. */
type ImageRule = (size: ImageSize | undefined, detail: string) => number

const ceil = (value: number, step: number): number => Math.ceil(value / step)

function shrink({ width, height }: ImageSize, factor: number): ImageSize {
  return factor >= 1 ? { width, height } : { width: Math.ceil(width * factor), height: Math.ceil(height * factor) }
}

/** Charges `factor` per square of `edge` pixels, after fitting the image into `longEdge`, for at most `most` squares. */
const patches =
  (edge: number, longEdge: number, most: number, factor: number, unknown: number): ImageRule =>
  (size) => {
    if (size === undefined) return unknown
    const fitted = shrink(size, longEdge / Math.max(size.width, size.height))
    return Math.ceil(Math.min(most, ceil(fitted.width, edge) * ceil(fitted.height, edge)) * factor)
  }

const tiles =
  (base: number, tile: number, unknown: number): ImageRule =>
  (size, detail) => {
    if (detail === "low") return base
    if (size === undefined) return unknown
    const fitted = shrink(size, 2048 / Math.max(size.width, size.height))
    const small = shrink(fitted, 768 / Math.min(fitted.width, fitted.height))
    return base + tile * ceil(small.width, 512) * ceil(small.height, 512)
  }

const geminiTiles: ImageRule = (size) => {
  if (size === undefined) return 1548
  return size.width <= 384 && size.height <= 384 ? 258 : 258 * ceil(size.width, 768) * ceil(size.height, 768)
}

const byDetail: ImageRule = (_, detail) => {
  if (detail.includes("ultra")) return 2240
  if (detail.includes("low")) return 280
  return detail.includes("medium") ? 560 : 1120
}

/**
 * Rules by family and prefix of the model id; the first match counts.
 * - anthropic: (w x h) / 750, at most about 1,600, long edge 1,568 (Anthropic vision guide, 2025). Measured, it is patches of 28
 *   pixels; since 4.7 the long edge is 2,000 (public dataset "image-token-cost", 2026-10).
 * - openai: tiles of 512 pixels after fitting 2,048 and a short edge of 768, or patches of 32 pixels with a factor (OpenAI
 *   images and vision guide, 2026); GPT-5.4 and later measured at 1.2 a patch (same dataset).
 * - gemini: 258 up to 384 pixels, then 258 a tile of 768 (Gemini image guide, 2025); Gemini 3 takes a fixed number by media
 *   resolution: 280, 560, 1,120, 2,240 (Gemini 3 guide, 2026).
 */
const rules: readonly (readonly [family: ModelFamily, model: RegExp, rule: ImageRule])[] = [
  [
    "anthropic",
    /^claude-(?:3|opus-4(?:-[0-6])?(?!-?\d)|sonnet-4|haiku-[34]|2|instant)/,
    patches(28, 1568, 1610, 1, 1610),
  ],
  ["anthropic", /^/, patches(28, 2000, 5224, 1, 3930)],
  ["openai", /^(?:gpt-4o-mini)/, tiles(2833, 5667, 48169)],
  ["openai", /^(?:gpt-4\.1-mini|gpt-5-mini)/, patches(32, 2048, 1536, 1.62, 2489)],
  ["openai", /^(?:gpt-4\.1-nano|gpt-5-nano)/, patches(32, 2048, 1536, 2.46, 3779)],
  ["openai", /^o4-mini/, patches(32, 2048, 1536, 1.72, 2642)],
  ["openai", /^(?:gpt-4|chatgpt-4o)/, tiles(85, 170, 1445)],
  ["openai", /^o\d/, tiles(75, 150, 1275)],
  ["openai", /^gpt-5(?:$|-|\.[0-3])/, tiles(70, 140, 1190)],
  ["openai", /^/, patches(32, 6000, 12000, 1.2, 3000)],
  ["gemini", /^gemini-[12]/, geminiTiles],
  ["gemini", /^/, byDetail],
  ["open", /^/, patches(28, 4096, 4096, 1, 1600)],
]

/** Returns the tokens of an image by the provider's own rule. */
export function imageTokens(family: ModelFamily, model: string, media: Media, size: ImageSize | undefined): number {
  const found = rules.find(([of, pattern]) => of === family && pattern.test(model))
  return found === undefined ? 0 : found[2](size, (media.detail ?? "").toLowerCase())
}
