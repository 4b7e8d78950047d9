type Kind = "other" | "space" | "newline" | "number" | "upper" | "lower" | "letter" | "mark"

/** The character kinds of the o200k pattern, one bit each. */
export const kinds: Readonly<Record<Kind, number>> = {
  other: 1,
  space: 2,
  newline: 4,
  number: 8,
  upper: 16,
  lower: 32,
  /** A letter without case: modifiers, and most of the world's scripts. */
  letter: 64,
  mark: 128,
}

const { other, space, newline, number, upper, lower, letter, mark } = kinds

/** The pattern's own character classes, so that the kinds follow the Unicode tables of the runtime. */
const tests: readonly (readonly [kind: number, test: RegExp])[] = [
  [newline, /^[\r\n]$/u],
  [space, /^\s$/u],
  [number, /^\p{N}$/u],
  [upper, /^[\p{Lu}\p{Lt}]$/u],
  [lower, /^\p{Ll}$/u],
  [letter, /^[\p{Lm}\p{Lo}]$/u],
  [mark, /^\p{M}$/u],
]

function kindOf(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  for (const [kind, test] of tests) if (test.test(character)) return kind
  return other
}

const pageBits = 7
const pageSize = 1 << pageBits
const codePoints = 0x110000

function readPage(page: number): Uint8Array {
  return Uint8Array.from({ length: pageSize }, (_, index) => kindOf(page * pageSize + index))
}

/** Gives the same as the patterns for ASCII, which no Unicode version changes, without compiling them at startup. */
function kindOfAscii(code: number): number {
  if (code === 10 || code === 13) return newline
  if (code === 32 || (code >= 9 && code <= 12)) return space
  if (code >= 48 && code <= 57) return number
  if (code >= 65 && code <= 90) return upper
  return code >= 97 && code <= 122 ? lower : other
}

/** The kinds of the ASCII bytes; 0 for a byte of a longer character. */
export const asciiKinds: Uint8Array = new Uint8Array(256)
for (let code = 0; code < 128; code++) asciiKinds[code] = kindOfAscii(code)

/** The kinds of all other code points, computed page by page when a text first needs them. */
const pages: (Uint8Array | undefined)[] = new Array(codePoints >> pageBits)

/** Returns the kind of the 2- to 4-byte character at `at`. The bytes must be valid UTF-8. */
export function wideKind(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0
  let codePoint = ((lead & 0x1f) << 6) | ((bytes[at + 1] ?? 0) & 0x3f)
  if (lead >= 0xe0) codePoint = ((codePoint & 0x3ff) << 6) | ((bytes[at + 2] ?? 0) & 0x3f)
  if (lead >= 0xf0) codePoint = ((codePoint & 0x7fff) << 6) | ((bytes[at + 3] ?? 0) & 0x3f)
  let page = pages[codePoint >> pageBits]
  if (page === undefined) {
    page = readPage(codePoint >> pageBits)
    pages[codePoint >> pageBits] = page
  }
  return page[codePoint & (pageSize - 1)] ?? other
}

/** Returns the length in bytes of the character that starts with `lead`. */
export const widthOf = (lead: number): number => (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4)
