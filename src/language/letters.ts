/**
 * Letters as a few ranges, for use inside a character class: `\p{L}` stands for six hundred ranges, and one pattern with it and the flags
 * `iu` takes tens of milliseconds to compile in every process. A few other characters between the letters of a script are included.
 */
export const letters =
  "A-Za-z\\u00aa\\u00b5\\u00ba\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u1fff\\u2c00-\\u2dff\\u3041-\\ud7ff\\uf900-\\ufdff"

/** Capital letters of the scripts that have them; accented Latin letters beyond the first block are included in either case. */
export const capitals = "A-Z\\u00c0-\\u00d6\\u00d8-\\u00de\\u0100-\\u024f\\u0386-\\u03ab\\u0400-\\u042f"

/** Small letters, in the same way. */
export const smalls = "a-z\\u00df-\\u00f6\\u00f8-\\u024f\\u03ac-\\u03ce\\u0430-\\u045f"

/** True for the char code of an ASCII letter. Setting bit 0x20 turns a capital into its small letter. */
export const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a

/** Converts to lower case without changing the length: the few letters that would become two stay unchanged. */
export function lowered(text: string): string {
  const low = text.toLowerCase()
  return low.length === text.length ? low : text.replace(/[A-Z]+/g, (run) => run.toLowerCase())
}

/**
 * Arrays of char codes by length, reused for every text of that length: `String.fromCharCode` takes a plain array many times faster than a
 * typed one, and an array that changes its length would be copied.
 */
const lists: (number[] | undefined)[] = []
const maxListed = 256

function listOf(length: number): number[] {
  if (length > maxListed) return new Array<number>(length).fill(0)
  const known = lists[length]
  if (known !== undefined) return known
  const list = new Array<number>(length).fill(0)
  lists[length] = list
  return list
}

/**
 * Returns the string of a range of char codes: a copy, not a slice that would keep a longer string in memory. For a few thousand codes at
 * most, because each is an argument of one call.
 */
export function textOfCodes(codes: Uint16Array, start: number, end: number): string {
  const list = listOf(end - start)
  for (let at = start; at < end; at++) list[at - start] = codes[at] ?? 0
  return String.fromCharCode.apply(null, list)
}
