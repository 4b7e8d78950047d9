import { leftOut, usualMarkerLength } from "./marker.ts"

/** The longest marker that stands inside a line: eleven digits of characters. */
const markerLength = usualMarkerLength + 16

const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Head and tail of a text of at most `maxLength` characters, two to one, with what lies between counted; no character is cut in two. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const room = Math.max(0, maxLength - markerLength)
  let head = Math.ceil((room * 2) / 3)
  let tail = text.length - (room - head)
  if (head > 0 && isLow(text.charCodeAt(head))) head--
  if (tail < text.length && isLow(text.charCodeAt(tail))) tail++
  const marked = `${text.slice(0, head)}${leftOut(tail - head, "character")}${text.slice(tail)}`
  return marked.length < text.length ? marked : text
}
