/** What a sign is to whoever reads a sentence sign by sign; what nobody asks for is zero. */
export const signKind = {
  known: 1,
  small: 2,
  capital: 4,
  letter: 8,
  digit: 16,
  blank: 32,
  quote: 64,
  /** It may stand alone as a name. */
  consonant: 128,
} as const

export const quotes: RegExp = /["“«„「『]/

/**
 * What each sign is, by its code; zero as long as nobody asked. Kinds are learnt as signs come, because the classes of the patterns are long:
 * `kindTable[code] || learnKind(code)` is what a sign is.
 */
export const kindTable: Uint8Array = new Uint8Array(1 << 16)

export function learnKind(code: number): number {
  const sign = String.fromCharCode(code)
  const learnt =
    signKind.known |
    (/\p{Ll}/u.test(sign) ? signKind.small : 0) |
    (/\p{Lu}/u.test(sign) ? signKind.capital : 0) |
    (/\p{L}/u.test(sign) ? signKind.letter : 0) |
    (/\p{N}/u.test(sign) ? signKind.digit : 0) |
    (/\s/.test(sign) ? signKind.blank : 0) |
    (quotes.test(sign) ? signKind.quote : 0) |
    (/[b-df-hj-np-tv-xz]/.test(sign) ? signKind.consonant : 0)
  kindTable[code] = learnt
  return learnt
}

/** A letter or a digit of any script. */
export const ofWords: number = signKind.letter | signKind.digit

/** The signs of what is being read: a part of a string is slow to go through sign by sign, and it is gone through several times. */
let scratch = new Uint16Array(4096)

/** Room for so many signs. The array is used again for the next stretch, and may be longer. */
export function signsFor(length: number): Uint16Array {
  if (scratch.length < length) scratch = new Uint16Array(2 * length)
  return scratch
}

/** The signs of a stretch of a text, in the same room. */
export function signsOf(text: string, start: number, end: number): Uint16Array {
  const signs = signsFor(end - start)
  for (let at = start; at < end; at++) signs[at - start] = text.charCodeAt(at)
  return signs
}
