import type { Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { inlineImageSize } from "../../tokens/image-size.ts"
import { quoteInMarker } from "./marker.ts"

/** A text that says what picture or document stood here: `[image, png, 1024x768, left out]`. */
export function mediaHandle(part: Part & { readonly type: "image" | "document" }, handle?: string): Part {
  const { media } = part
  const told =
    media.width !== undefined && media.height !== undefined ? { width: media.width, height: media.height } : undefined
  const size = part.type === "document" ? undefined : (told ?? inlineImageSize(part.wire ?? ""))
  const words = [
    part.type,
    quoteInMarker(media.mediaType?.replace(/^(?:image|application|text)\//, "") ?? "", 40),
    part.type === "document" ? quoteInMarker(part.title ?? "") : "",
    size === undefined ? "" : `${size.width}x${size.height}`,
  ]
  const text = `[${words.filter((word) => word !== "").join(", ")}, left out${handle === undefined ? "" : `; recall ${handle}`}]`
  return { type: "text", text, ...present({ breakpoint: part.breakpoint, channel: part.channel }) }
}
