import { fence } from "../../message/fence.ts"
import type { Channel, Span } from "../../message/message.ts"

/** Replaces each space in marked data, and is inserted before each line and after each ideographic punctuation mark. */
export const dataMark = "^"

const stops = "。！？，、；："

/**
 * Datamarking: the mark runs through the whole text, so that a model can tell at every word that it reads data and not a request. Spaces
 * become marks, each line starts with one, and ideographic punctuation is followed by one; values without spaces stay unchanged. A caret in
 * the text gets a backslash, and backslashes right before a mark or caret are doubled, so the text can be restored.
 */
export function markData(text: string): string {
  const marked = text.replace(/\\+[ ^]?|[ ^]|[\n。！？，、；：]/g, (match) => {
    if (match === " ") return dataMark
    if (match === "^") return "\\^"
    if (match === "\n" || stops.includes(match)) return `${match}${dataMark}`
    if (match.endsWith(" ")) return `${"\\".repeat(2 * (match.length - 1))}${dataMark}`
    if (match.endsWith("^")) return `${"\\".repeat(2 * (match.length - 1) + 1)}^`
    return match
  })
  return `${dataMark}${marked}`
}

/** The tag around data that a summarizer reads. */
export const dataFence = "untrusted-data"

/** Returns data for a summarizer: marked, so that nothing in it reads like a request, and fenced with its source. */
export function fenceData(
  text: string,
  { source, channel }: { readonly source: string; readonly channel: Channel },
): string {
  return fence(dataFence, markData(text), { source, channel })
}

/** Replaces a dangerous span. Chosen so that no rule matches it. */
export const withheldMark = "[withheld]"

/** Sorts spans and merges those that touch or overlap. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = []
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = merged.at(-1)
    if (last !== undefined && span.start <= last.end)
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    else merged.push({ start: span.start, end: span.end })
  }
  return merged
}

/** Replaces each span by a mark; everything else stays verbatim. The spans must be merged. */
export function withhold(text: string, spans: readonly Span[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { start, end } of spans) {
    pieces.push(text.slice(at, start), withheldMark)
    at = end
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(at)
}

/** Maps a span of the withheld text back to the original. If it touches a mark, it includes all that the mark hides. */
export function spanBeforeWithholding(spans: readonly Span[], { start, end }: Span): Span {
  let shift = 0
  let from: number | undefined
  let to: number | undefined
  for (const span of spans) {
    const mark = span.start - shift
    const markEnd = mark + withheldMark.length
    if (from === undefined && start < markEnd) from = start <= mark ? start + shift : span.start
    if (end <= mark) {
      to = end + shift
      break
    }
    shift += span.end - span.start - withheldMark.length
    if (end <= markEnd) {
      to = span.end
      break
    }
  }
  return { start: from ?? start + shift, end: to ?? end + shift }
}
