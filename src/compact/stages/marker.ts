import { cutMiddle } from "../../language/cut-text.ts"

type LeftOutNoun = "line" | "character" | "item" | "field"

/** What stands in place of what was left out. No bracket and no line break may stand in `why`. */
export const leftOut = (count: number, noun: LeftOutNoun, why = ""): string =>
  `[… ${count} ${noun}${count === 1 ? "" : "s"} left out${why === "" ? "" : `: ${why}`}]`

/** As long as a marker of ours usually is, in characters. */
export const usualMarkerLength = 24

/** The marker for a text as a whole. */
export function wholeMarker(text: string, why = ""): string {
  let lines = 1
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++
  return lines === 1 ? leftOut(text.length, "character", why) : leftOut(lines, "line", why)
}

/** A marker of ours with its handle is shorter than this; a longer text is not taken for one. */
const maxMarkerLength = 600

/** Is this text nothing but a marker? Such a text is left as it is: there is nothing more to leave out. */
export const isMarker = (text: string): boolean =>
  text.length <= maxMarkerLength && /^\[[^[\]\n]*\bleft out\b[^[\]\n]*\]$/.test(text)

/** A bracket that opens what reads like a marker of ours, and has not been called a quotation yet. */
const lookalike = /[[［【⟦](?!quoted )(?=[\s\p{Cf}]{0,8}…|[^[\]［］\n]{0,160}?left out)/giu

/** What a tool wrote cannot pass for a marker of ours: it is called a quotation. Escaping twice is escaping once. */
export const escapeMarkers = (text: string): string =>
  text.includes("…") || /left out/i.test(text) ? text.replace(lookalike, "$&quoted ") : text

/** Say in the last marker of a text, whose own words were escaped, how to get what it left out; a text without marker stays as it is. */
export function nameHandle(text: string, handle: string | undefined, advice?: string): string {
  const start = text.lastIndexOf("[… ")
  const end = start < 0 ? -1 : text.indexOf("]", start)
  const words = `${advice === undefined ? "" : `: ${advice}`}${handle === undefined ? "" : `; recall ${handle}`}`
  return end < 0 || words === "" ? text : `${text.slice(0, end)}${words}${text.slice(end)}`
}

/** Words of others inside a marker: on one line, without brackets, and short. */
export function quoteInMarker(words: string, maxLength = 80): string {
  const line = words
    .slice(0, 4 * maxLength)
    .replace(/[[\]［］…\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
  return line.length <= maxLength ? line : `${line.slice(0, maxLength).toWellFormed().trimEnd()}..`
}

/** The longest marker that stands inside a line: eleven digits of characters. */
const markerLength = usualMarkerLength + 16

/** Head and tail of a text of at most `maxLength` characters, two to one, with what lies between counted; no character is cut in two. */
export function headAndTail(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const marked = cutMiddle(text, maxLength - markerLength, (count) => leftOut(count, "character"))
  return marked.length < text.length ? marked : text
}

/** Share out room: each gets what it needs up to an equal share of what is left, so the small ones stay whole. */
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
