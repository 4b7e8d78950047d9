import { foldCharacter, foldWord } from "../../language/fold.ts"

const plain = /^[\t\n\r\x20-\x7e]*$/
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]|(?![\t\n\r])\p{Cc}/gu
const tagged = /[\u{e0020}-\u{e007e}]/gu

/** Signs that readers and parsers take for plain ones, and that compatibility forms leave alone. */
const standIns: readonly (readonly [RegExp, string])[] = [
  [/[\u3002\uff61\u2024]/g, "."],
  [/[\u2010-\u2015\u2212\ufe58\ufe63]/g, "-"],
  [/[\u2044\u2215\u29f8]/g, "/"],
  [/[\u2236\ua789]/g, ":"],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
]

const zeros: readonly number[] = [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xd66, 0xe50]

/** A decimal digit of any script as the plain one. */
function plainDigit(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  const zero = zeros.find((start) => code >= start && code < start + 10)
  return zero === undefined ? sign : String(code - zero)
}

export type Cleaned = { readonly text: string; readonly hidden: boolean }

/** A text without what no reader sees, in plain forms of its signs; letters of other scripts stay what they are. */
export function clean(text: string): Cleaned {
  if (plain.test(text)) return { text, hidden: false }
  const shown = text
    .toWellFormed()
    .replace(tagged, (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000))
    .replace(invisible, "")
  const forms = standIns.reduce((before, [pattern, sign]) => before.replace(pattern, sign), shown.normalize("NFKC"))
  const visible = forms.replace(invisible, "").replace(/[^\P{Nd}\d]/gu, plainDigit)
  return { text: visible, hidden: shown.length !== text.length }
}

/** Characters repeat, and folding one takes long; only so many are remembered. */
const folded = new Map<string, string>()
const maxFolded = 5_000

function foldSign(sign: string): string {
  const known = folded.get(sign)
  if (known !== undefined) return known
  const made = foldWord(foldCharacter(sign))
  if (folded.size < maxFolded) folded.set(sign, made)
  return made
}

/** A cleaned text as the eye takes it: lower case, no accents, look-alikes as the Latin letters they pass for. */
export function fold(text: string): string {
  const lowered = text.toLowerCase()
  return plain.test(lowered) ? lowered : lowered.replace(/[^\0-\x7f]/gu, foldSign)
}
