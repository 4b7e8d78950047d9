/** Kinds of a character, as bits. */
export const charKind = {
  known: 1,
  small: 2,
  capital: 4,
  letter: 8,
  digit: 16,
  blank: 32,
  quote: 64,
  /** A single consonant may be a name. */
  consonant: 128,
} as const

export const quotes: RegExp = /["“”«»„「『‹›‚‘＂″]/

/**
 * Kinds of each character by its UTF-16 code; 0 if not computed yet, because evaluating the Unicode patterns for all codes takes long. Read
 * it as `kindTable[code] || learnKind(code)`.
 */
export const kindTable: Uint8Array = new Uint8Array(1 << 16)

export function learnKind(code: number): number {
  const char = String.fromCharCode(code)
  const kinds =
    charKind.known |
    (/\p{Ll}/u.test(char) ? charKind.small : 0) |
    (/\p{Lu}/u.test(char) ? charKind.capital : 0) |
    (/\p{L}/u.test(char) ? charKind.letter : 0) |
    (/\p{N}/u.test(char) ? charKind.digit : 0) |
    (/\s/.test(char) ? charKind.blank : 0) |
    (quotes.test(char) ? charKind.quote : 0) |
    (/[b-df-hj-np-tv-xz]/.test(char) ? charKind.consonant : 0)
  kindTable[code] = kinds
  return kinds
}

/** A letter or a digit of any script. */
export const ofWords: number = charKind.letter | charKind.digit

/**
 * Buffer for the character codes of the text being read: reading a slice of a string character by character is slow, and it is done several
 * times.
 */
let scratch = new Uint16Array(4096)

/** Returns the shared buffer with room for `length` codes. The next call reuses it and may replace it by a longer one. */
export function scratchBuffer(length: number): Uint16Array {
  if (scratch.length < length) scratch = new Uint16Array(2 * length)
  return scratch
}

/** Writes the character codes of a part of a text into the shared buffer and returns it. */
export function scratchCodes(text: string, start: number, end: number): Uint16Array {
  const codes = scratchBuffer(end - start)
  for (let at = start; at < end; at++) codes[at - start] = text.charCodeAt(at)
  return codes
}
