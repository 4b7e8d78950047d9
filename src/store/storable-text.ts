/** Stands before the four hex digits of a character that a database cannot keep; a real one is written the same way. */
const ESCAPE = "\u0010"

/** Text that every database keeps to the letter: NUL and lone surrogates are written as escapes. Most text comes back as it is. */
export function toStorable(text: string): string {
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text
  return text
    .replaceAll(ESCAPE, escaped)
    .replaceAll("\0", escaped)
    .replace(/\p{Surrogate}/gu, escaped)
}

/** The text that `toStorable` was given. */
export function fromStorable(stored: string): string {
  if (!stored.includes(ESCAPE)) return stored
  const [first = "", ...rest] = stored.split(ESCAPE)
  const pieces = rest.map((piece) => String.fromCharCode(Number.parseInt(piece.slice(0, 4), 16)) + piece.slice(4))
  return first + pieces.join("")
}

function escaped(character: string): string {
  return ESCAPE + character.charCodeAt(0).toString(16).padStart(4, "0")
}
