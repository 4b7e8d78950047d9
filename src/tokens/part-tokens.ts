import { argumentsText } from "../message/arguments-text.ts"
import type { Media, Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../message/part.ts"
import type { Framing } from "./family.ts"
import { imageTokens } from "./image.ts"
import { inlineImageSize } from "./image-size.ts"
import type { Model } from "./models.ts"

/** What measuring a part takes from its meter. */
export type Gauge = {
  readonly model: Model
  readonly framing: Framing
  readonly text: (text: string) => number
  readonly part: (part: Part) => number
}

/** Four bytes of text make a token and base64 adds a third: a sealed thought of n characters hides about n / 5.3 tokens. */
const sealedUnitsPerToken = 5
/** A PDF page of mostly text; scans are larger and so counted as several, which errs to the safe side. */
const bytesPerPage = 25_000
/** For a document that we cannot see at all. The next reported usage corrects it. */
const unseenPages = 10
/** No provider reads more pages than this of one document (Gemini document guide, 2025: 1,000). */
const mostPages = 1000
/** Prose in UTF-8, on the safe side of the usual four. */
const bytesPerToken = 3

type WithWire = Pick<Part, "wire">

/** What is sealed stands in the wire alone, with a summary in `text` at most; without a wire `text` is the seal itself. */
function measureReasoning(part: ReasoningPart & WithWire, { text }: Gauge): number {
  const sealed = part.sealed === true ? (part.wire ?? part.text) : ""
  const hidden = Math.max(part.signature?.length ?? 0, sealed.length)
  const isSeal = part.sealed === true && part.wire === undefined
  return Math.max(isSeal ? 0 : text(part.text), Math.ceil(hidden / sealedUnitsPerToken))
}

/** A call whose input stands in a member that we do not know counts as the JSON it came in. */
function measureCall(part: ToolCallPart & WithWire, { framing, text }: Gauge): number {
  if (part.kind === "other" && part.input === undefined) return framing.call + text(part.wire ?? part.tool)
  return framing.call + text(part.tool) + text(argumentsText(part))
}

/** A result whose output stands in a member that we do not know counts as the JSON it came in. */
function measureResult(part: ToolResultPart & WithWire, { framing, text, part: measure }: Gauge): number {
  if (part.kind === "other" && part.content.length === 0) return framing.call + text(part.wire ?? "")
  return part.content.reduce((total, inner) => total + measure(inner), framing.call)
}

function measureImage(media: Media, wire: string | undefined, { model }: Gauge): number {
  const { width, height } = media
  const told = width !== undefined && height !== undefined && width > 0 && height > 0 ? { width, height } : undefined
  const size = told ?? (media.held === "inline" && wire !== undefined ? inlineImageSize(wire) : undefined)
  return imageTokens(model.family, model.id, media, size)
}

function measureMedia(media: Media, { framing }: Gauge): number {
  const bytes = media.inlineLength === undefined ? undefined : Math.ceil((media.inlineLength * 3) / 4)
  if (bytes === undefined) return unseenPages * framing.documentPage
  if (media.mediaType?.startsWith("text/") === true) return Math.ceil(bytes / bytesPerToken)
  return Math.min(mostPages, Math.ceil(bytes / bytesPerPage)) * framing.documentPage
}

/** How many tokens a part takes. What we do not know counts as the JSON it came in. */
export function measurePart(part: Part, gauge: Gauge): number {
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
