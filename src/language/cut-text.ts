/** Returns this offset, or the one before it if it is inside a surrogate pair. */
const characterEdge = (text: string, at: number): number =>
  at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at

/** Returns the start of a text, at most `max` characters. */
export const startOfText = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, characterEdge(text, Math.max(0, max)))

/** Cuts a text to at most `max` characters: its start, followed by `…` if anything is left out. */
export const clipText = (text: string, max: number): string =>
  text.length <= max ? text : `${startOfText(text, max - 1).trimEnd()}…`

/**
 * Returns head and tail of a text, `keep` characters together, with a note between them on how many are left out. `headShare` is the head's
 * share of what is kept.
 */
export function cutMiddle(
  text: string,
  keep: number,
  note: (leftOut: number) => string,
  headShare: number = 2 / 3,
): string {
  if (text.length <= keep) return text
  const room = Math.max(0, keep)
  const head = characterEdge(text, Math.ceil(room * headShare))
  const at = text.length - (room - Math.ceil(room * headShare))
  const tail = characterEdge(text, at) === at ? at : at + 1
  return `${text.slice(0, head)}${note(tail - head)}${text.slice(tail)}`
}
