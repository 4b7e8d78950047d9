import type { Part, ToolResultPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { failureOf, hasFailed } from "./failure.ts"
import { escapeMarkers, isMarker, nameHandle, wholeMarker } from "./marker.ts"
import { mediaHandle } from "./media-handle.ts"
import { shareOut } from "./share-out.ts"
import { shortenText, type TextSource } from "./shorten-text.ts"

export type Counting = { readonly count: (text: string) => number; readonly partTokens: (part: Part) => number }

export type Target = {
  readonly budget: number
  /** Pictures and documents go in any case. */
  readonly withoutMedia: boolean
}

/** Below this a text is better left out whole: a marker and a few words take as much. */
const minShare = 16

type TextPart = Part & { readonly type: "text" }

const withText = (part: TextPart, text: string): Part => ({
  ...{ type: "text", text },
  ...present({ breakpoint: part.breakpoint, channel: part.channel }),
})

/** What a result shows: shortened, and still telling that the run failed if nothing but its words told so. */
export function shortenContent(
  part: ToolResultPart,
  target: Target,
  source: TextSource,
  by: Counting,
): readonly Part[] {
  const content = fitContent(part, target, source, by)
  if (!source.failed || part.failed !== undefined || hasFailed({ ...part, content })) return content
  const at = part.content.findLastIndex((item) => item.type === "text" && failureOf(item.text) !== undefined)
  return content.map((item, n) => (n === at ? briefFailure(part.content[n] ?? item, source.handle) : item))
}

/** The line that tells of the failure, and a marker for the rest. */
function briefFailure(part: Part, handle: string | undefined): Part {
  if (part.type !== "text" || isMarker(part.text.slice(part.text.lastIndexOf("\n") + 1))) return part
  const line = escapeMarkers(failureOf(part.text) ?? "")
  return withText(part, `${line}\n${nameHandle(wholeMarker(part.text), handle)}`)
}

/** What a result shows in at most `budget` tokens, as far as that can be: what is neither text nor a picture or document stays as it is. */
function fitContent(part: ToolResultPart, target: Target, source: TextSource, by: Counting): readonly Part[] {
  const mediaTokens = part.content.filter(isMedia).reduce((total, item) => total + by.partTokens(item), 0)
  const swapped = target.withoutMedia || mediaTokens > target.budget
  const content = swapped
    ? part.content.map((item) => (isMedia(item) ? mediaHandle(item, source.handle) : item))
    : part.content
  const total = by.partTokens({ ...part, content })
  if (total <= target.budget) return content
  const first = shareTexts(content, total, target.budget, source, by)
  const over = by.partTokens({ ...part, content: first }) - target.budget
  if (over <= 0) return first
  // A whole may count for a little more than its parts.
  const second = shareTexts(content, total, target.budget - over, source, by)
  if (by.partTokens({ ...part, content: second }) <= target.budget) return second
  return content.map((item) => (isMedia(item) ? item : collapse(item, source.handle)))
}

const isMedia = (part: Part): part is Part & { readonly type: "image" | "document" } =>
  part.type === "image" || part.type === "document"

/** The marker in place of a text unless the text is shorter, of a picture or document; anything else stays. */
export function collapse(part: Part, handle: string | undefined, why?: string): Part {
  if (isMedia(part)) return mediaHandle(part, handle)
  if (part.type !== "text") return part
  const markers = [wholeMarker(part.text, why), wholeMarker(part.text)].map((marker) => nameHandle(marker, handle))
  const shorter = isMarker(part.text) ? undefined : markers.find(({ length }) => length < part.text.length)
  return shorter === undefined ? part : withText(part, shorter)
}

function shareTexts(
  content: readonly Part[],
  total: number,
  budget: number,
  source: TextSource,
  by: Counting,
): readonly Part[] {
  const needs = content.map((item) => (item.type === "text" ? by.partTokens(item) : 0))
  const fixed = total - needs.reduce((sum, tokens) => sum + tokens, 0)
  const shares = shareOut(needs, budget - fixed)
  return content.map((item, n) => {
    const tokens = needs[n] ?? 0
    const share = shares[n] ?? 0
    if (item.type !== "text" || tokens <= share || isMarker(item.text)) return item
    const shortened = share < minShare ? undefined : shortenText(item.text, { tokens, budget: share }, source, by.count)
    return shortened === undefined ? collapse(item, source.handle) : withText(item, shortened)
  })
}
