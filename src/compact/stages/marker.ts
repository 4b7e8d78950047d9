import { cutMiddle } from "../../language/cut-text.ts"

type LeftOutNoun = "line" | "character" | "item" | "field"

/** Returns the marker for something left out. `why` must not contain brackets or line breaks. */
export const leftOut = (count: number, noun: LeftOutNoun, why = ""): string =>
  `[… ${count} ${noun}${count === 1 ? "" : "s"} left out${why === "" ? "" : `: ${why}`}]`

/** Usual length of a marker in characters. */
export const usualMarkerLength = 24

/** Returns the marker for a text that is left out whole. */
export function wholeMarker(text: string, why = ""): string {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines === 1 ? leftOut(text.length, "character", why) : leftOut(lines, "line", why)
}

/** Maximum length of a marker with its handle; a longer text is not taken for one. */
const maxMarkerLength = 600

/** True if a text is nothing but a marker, so that nothing more can be left out. */
export const isMarker = (text: string): boolean =>
  text.length <= maxMarkerLength && /^\[[^[\]\n]*\bleft out\b[^[\]\n]*\]$/.test(text)

/** Matches an opening bracket of text that looks like our marker and is not labelled as quoted yet. */
const lookalike = /[[［【⟦](?!quoted )(?=[\s\p{Cf}]{0,8}…|[^[\]［］\n]{0,160}?left out)/giu

/** Labels what looks like our marker in tool output as quoted, so that it cannot pass for one. Idempotent. */
export const escapeMarkers = (text: string): string =>
  text.includes("…") || /left out/i.test(text) ? text.replace(lookalike, "$&quoted ") : text

/** Adds to the last marker of an escaped text how to recall what was left out; a text without a marker stays unchanged. */
export function nameHandle(text: string, handle: string | undefined, advice?: string): string {
  const start = text.lastIndexOf("[… ")
  const end = start < 0 ? -1 : text.indexOf("]", start)
  const words = `${advice === undefined ? "" : `: ${advice}`}${handle === undefined ? "" : `; recall ${handle}`}`
  return end < 0 || words === "" ? text : `${text.slice(0, end)}${words}${text.slice(end)}`
}

/** Makes foreign text safe inside a marker: on one line, without brackets, and short. */
export function quoteInMarker(words: string, maxLength = 80): string {
  const line = words
    .slice(0, 4 * maxLength)
    .replace(/[[\]［］…\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
  return line.length <= maxLength ? line : `${line.slice(0, maxLength).toWellFormed().trimEnd()}..`
}

/** Maximum length of a marker inside a line: up to eleven digits. */
const markerLength = usualMarkerLength + 16

/** Shortens a text to its head and tail, two to one, with a marker for what is between; no character is split. */
export function headAndTail(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const marked = cutMiddle(text, maxLength - markerLength, (count) => leftOut(count, "character"))
  return marked.length < text.length ? marked : text
}

/** Divides an amount: each gets what it needs up to an equal share of what is left, so small ones stay whole. */
export function shareOut(needs: readonly number[], room: number): readonly number[] {
  const shares = needs.map(() => 0)
  const order = needs.map((_, at) => at).sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0) || a - b)
  let left = Math.max(0, room)
  for (const [done, at] of order.entries()) {
    const share = Math.min(needs[at] ?? 0, Math.floor(left / (order.length - done)))
    shares[at] = share
    left -= share
  }
  return shares
}
