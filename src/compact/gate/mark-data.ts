import { fence } from "../../message/fence.ts"
import type { Channel, Span } from "../../message/message.ts"

/** Stands for each space in marked data, before each line, and behind each ideographic stop. */
export const dataMark = "^"

const stops = "。！？，、；："

/**
 * Datamarking: the mark runs through the whole text, so that a model can tell at every word that it reads data and not a request.
 * A space becomes the mark, a line starts with it, and an ideographic stop is followed by it; values without spaces stay as they are.
 * A caret of the text gets a backslash, and backslashes right before a mark or caret are doubled. So the text can be had back.
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

/** Data for a summarizer: marked, so that nothing in it reads as a request, and fenced with where it came from. */
export function fenceData(
  text: string,
  { source, channel }: { readonly source: string; readonly channel: Channel },
): string {
  return fence(dataFence, markData(text), { source, channel })
}

/** What stands in place of a dangerous stretch: it says nothing that a rule listens to. */
export const withheldMark = "[withheld]"

/** Spans in order, with those that touch or overlap made one. */
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

/** The text with a mark in place of each span; everything outside them verbatim. The spans must be merged. */
export function withhold(text: string, spans: readonly Span[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { start, end } of spans) {
    pieces.push(text.slice(at, start), withheldMark)
    at = end
  }
  return pieces.length === 0 ? text : pieces.join("") + text.slice(at)
}

/** Where a stretch of the withheld text stands in the original; one that touches a mark takes in all that the mark hides. */
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
