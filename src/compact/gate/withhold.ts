import type { Span } from "../../message/request.ts"

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
