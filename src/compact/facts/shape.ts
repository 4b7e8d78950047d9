/** The sorts of characters that a word may have, one bit each. */
export const sorts = {
  lower: 1,
  upper: 2,
  digit: 4,
  underscore: 8,
  dash: 16,
  dot: 32,
  colon: 64,
  slash: 128,
  backslash: 256,
  at: 512,
  equals: 1024,
  /** Any other sign of ASCII. */
  sign: 2048,
  /** Anything beyond ASCII: letters of other scripts, currencies. */
  beyond: 4096,
} as const

/** The signs that open, close or part things in prose, code and markup of any script; blanks and controls do too. */
const parting = "\"'`<>(){}[],;|*，。；：、！？「」『』（）【】《》“”‘’«»№\u2028\u2029\ufeff\u3000"

/** One look per character, because every text goes through here; 0 parts words. */
export const sortOf: Uint16Array = new Uint16Array(0x10000).fill(sorts.beyond)

const assign = (characters: string, sort: number): void => {
  for (let at = 0; at < characters.length; at++) sortOf[characters.charCodeAt(at)] = sort
}
sortOf.fill(sorts.sign, 0x21, 0x7f)
sortOf.fill(sorts.lower, 0x61, 0x7b)
sortOf.fill(sorts.upper, 0x41, 0x5b)
sortOf.fill(sorts.digit, 0x30, 0x3a)
sortOf.fill(0, 0, 0x21)
sortOf.fill(0, 0x7f, 0xa1)
sortOf.fill(0, 0x2000, 0x200b)
assign("_", sorts.underscore)
assign("-", sorts.dash)
assign(".", sorts.dot)
assign(":", sorts.colon)
assign("/", sorts.slash)
assign("\\", sorts.backslash)
assign("@", sorts.at)
assign("=", sorts.equals)
assign(parting, 0)

/** Which sorts of characters stand in a text. */
export function shapeOf(text: string): number {
  let shape = 0
  for (let at = 0; at < text.length; at++) shape |= sortOf[text.charCodeAt(at)] ?? 0
  return shape
}
