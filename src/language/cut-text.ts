/** A place in a text that does not split a character in two: this one, or the one before it. */
const characterEdge = (text: string, at: number): number =>
  at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at

/** The start of a text, at most `max` characters. */
export const startOfText = (text: string, max: number): string =>
  text.length <= max ? text : text.slice(0, characterEdge(text, Math.max(0, max)))

/** A text of at most `max` characters: its start, with `…` behind it where something is left out. */
export const clipText = (text: string, max: number): string =>
  text.length <= max ? text : `${startOfText(text, max - 1).trimEnd()}…`

/**
 * Head and tail of a text, `keep` characters together, with a note between them on how many are left out. `headShare` of what is kept is
 * the head.
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
