import type { Span } from "../message/request.ts"

/** A text rewritten for matching; every character knows where in the original it came from. */
export type View = {
  readonly text: string
  readonly originalLength: number
  /** Where each character starts in the original; absent while nothing has moved. */
  readonly starts?: Uint32Array
}

export const viewOf = (text: string): View => ({ text, originalLength: text.length })

/** Where a stretch of the view stands in the original; whatever was dropped right behind it belongs to it. */
export function originalSpan(view: View, { start, end }: Span): Span {
  const { starts, originalLength } = view
  if (starts === undefined) return { start, end }
  const from = starts[start] ?? originalLength
  let after = end
  while (after < starts.length && end > 0 && starts[after] === starts[end - 1]) after++
  return { start: from, end: Math.max(from, starts[after] ?? originalLength) }
}

/** Replace each match and keep the map. A view without a match comes back as the same object. */
export function rewrite(view: View, pattern: RegExp, replace: (match: string) => string): View {
  const edits: { readonly at: number; readonly length: number; readonly text: string }[] = []
  for (const match of view.text.matchAll(pattern)) {
    const text = replace(match[0])
    if (text !== match[0]) edits.push({ at: match.index, length: match[0].length, text })
  }
  if (edits.length === 0) return view
  const pieces: string[] = []
  const growth = edits.reduce((sum, edit) => sum + edit.text.length - edit.length, 0)
  const starts = new Uint32Array(view.text.length + growth)
  let read = 0
  let written = 0
  const copy = (end: number): void => {
    pieces.push(view.text.slice(read, end))
    if (view.starts !== undefined) starts.set(view.starts.subarray(read, end), written)
    else for (let at = read; at < end; at++) starts[written + at - read] = at
    written += end - read
  }
  for (const { at, length, text } of edits) {
    copy(at)
    pieces.push(text)
    // A replacement of another length is laid over its match evenly: spans are cut at sentences, so nearer is not needed.
    for (let n = 0; n < text.length; n++) {
      const from = at + Math.floor((n * length) / text.length)
      starts[written + n] = view.starts?.[from] ?? from
    }
    written += text.length
    read = at + length
  }
  copy(view.text.length)
  return { text: pieces.join(""), originalLength: view.originalLength, starts }
}
