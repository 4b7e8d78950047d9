import { asciiWords, foldCharacter, foldWord, normalize } from "../../language/normalize.ts"
import type { Span } from "../../message/message.ts"
import { createRecent } from "../../message/recall.ts"

/** Splits a name or text into words: `auditLogging`, `AUDIT_LOGGING` and `audit-logging` give the same two. */
export const wordsOf = (text: string): readonly string[] => {
  const parted = spelledApart(text)
  return parted.match(isAscii(parted) ? /[a-z\d]+/g : /[\p{L}\p{N}]+/gu) ?? []
}

/** True if a pattern matches one of the words. */
export const anyWord = (words: readonly string[], pattern: RegExp): boolean => words.some((word) => pattern.test(word))

/** Lower-cases a text, with a blank where a capital began a word: `auditLogging` becomes `audit logging`. */
export const spelledApart = (text: string): string =>
  (/[A-Z]/.test(text) ? text.replace(/([a-z\d])([A-Z])/g, "$1 $2") : text).toLowerCase()

/** Reduces a text to words with one blank between and around them, for rules that search it: disguises undone, punctuation removed. */
export const searchable = (text: string): string => {
  const words = asciiWords(text)
  if (words !== undefined) return words
  const seen = normalize(text).text
  return ` ${seen.replace(isAscii(seen) ? /[^A-Za-z\d]+/g : /[^\p{L}\p{N}]+/gu, " ").trim()} `
}

/** The last two long texts found to be plain ASCII, because several readers ask about the same text: a text, and its lower-case form. */
const lastPlain = ["", ""]
const minRemembered = 500

const plain = /^[\t\n\r\x20-\x7e]*$/
function isPlain(text: string): boolean {
  if (text.length < minRemembered) return plain.test(text)
  if (lastPlain.includes(text)) return true
  const found = plain.test(text)
  if (found) remember(text)
  return found
}

function remember(text: string): void {
  lastPlain.pop()
  lastPlain.unshift(text)
}

/** Unicode classes take far longer to match than ASCII ones, and most texts are ASCII. */
const ascii = /^[\0-\x7f]*$/
export const isAscii = (text: string): boolean => isPlain(text) || ascii.test(text)

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]|(?![\t\n\r])\p{Cc}/gu
const tagged = /[\u{e0020}-\u{e007e}]/gu

/** Characters that readers and parsers take for plain ones, and that NFKC leaves alone. */
const lookAlikes: readonly (readonly [RegExp, string])[] = [
  [/[\u3002\uff61\u2024]/g, "."],
  [/[\u2010-\u2015\u2212\ufe58\ufe63]/g, "-"],
  [/[\u2044\u2215\u29f8]/g, "/"],
  [/[\u2236\ua789]/g, ":"],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
]

const zeros: readonly number[] = [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xd66, 0xe50]

/** Converts a decimal digit of any script to an ASCII digit. */
function plainDigit(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  const zero = zeros.find((start) => code >= start && code < start + 10)
  return zero === undefined ? sign : String(code - zero)
}

/**
 * Removes invisible characters from a text and replaces others by their plain forms; letters of other scripts stay. `hidden`: something
 * invisible was removed.
 */
export function clean(text: string): { readonly text: string; readonly hidden: boolean } {
  if (isPlain(text)) return { text, hidden: false }
  const shown = text
    .toWellFormed()
    .replace(tagged, (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) - 0xe0000))
    .replace(invisible, "")
  const forms = lookAlikes.reduce((before, [pattern, sign]) => before.replace(pattern, sign), shown.normalize("NFKC"))
  const visible = forms.replace(invisible, "").replace(/[^\P{Nd}\d]/gu, plainDigit)
  return { text: visible, hidden: shown.length !== text.length }
}

/** Cache of folded characters, which repeat and are slow to fold; limited in size. */
const folded = new Map<number, string>()
const maxFolded = 20_000

function foldSign(code: number): string {
  const known = folded.get(code)
  if (known !== undefined) return known
  const made = foldWord(foldCharacter(String.fromCodePoint(code)))
  if (folded.size < maxFolded) folded.set(code, made)
  return made
}

/** Normalizes a cleaned text to what a reader sees: lower case, no accents, look-alikes as the Latin letters that they imitate. */
export function fold(text: string): string {
  const lowered = text.toLowerCase()
  if (!isPlain(text)) return plain.test(lowered) ? lowered : lowered.replace(/[^\0-\x7f]+/gu, foldRun)
  if (text.length >= minRemembered && lowered !== text) remember(lowered)
  return lowered
}

/** Folds a run of other characters. Most do not change, so unchanged stretches are copied as a whole. */
function foldRun(run: string): string {
  let made = ""
  let from = 0
  for (let at = 0; at < run.length; ) {
    const code = run.codePointAt(at) ?? 0
    const next = at + (code > 0xffff ? 2 : 1)
    const sign = foldSign(code)
    if (sign.length !== next - at || sign.codePointAt(0) !== code) {
      made += run.slice(from, at) + sign
      from = next
    }
    at = next
  }
  return from === 0 ? run : made + run.slice(from)
}

/** Lookup table of the ASCII characters that a pattern matches, by their code. */
export const signSet = (signs: RegExp): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => Number(signs.test(String.fromCharCode(code))))

/**
 * Spans of at least `least` consecutive characters of a set, in order. A window of that length is read from its end: a character outside
 * the set rules out all before it, so that most characters of a text of short words are never examined.
 */
export function runsIn(text: string, signs: Uint8Array, least: number): readonly Span[] {
  const isOne = (at: number): boolean => {
    const code = text.charCodeAt(at)
    return code < 128 && signs[code] === 1
  }
  const runs: Span[] = []
  let start = 0
  while (start + least <= text.length) {
    let at = start + least - 1
    while (at >= start && isOne(at)) at--
    if (at >= start) start = at + 1
    else {
      let end = start + least
      while (end < text.length && isOne(end)) end++
      runs.push({ start, end })
      start = end + 1
    }
  }
  return runs
}

/**
 * True if a glob of `*`, `**`, `?` and `[…]` matches a path. `*` stays within one name, `**` does not. Linear except for backtracking to
 * the last star.
 */
export const globMatches = (pattern: string, path: string): boolean => globExpression(pattern).test(path)

/** Maximum number of stars in one pattern; each can backtrack over the path once, and paths are short. */
const maxStars = 6

const globExpression = createRecent((pattern) => new RegExp(`^${translate(pattern)}$`, "s"), 500)

function translate(pattern: string): string {
  let stars = 0
  return pattern.slice(0, 1_000).replace(/\*\*\/|\*+|\?|\[[!^]?[\w-]{1,40}\]|[^*?[]+|\[/g, (piece) => {
    if (piece === "?") return "[^/]"
    if (piece.startsWith("*")) {
      stars++
      if (stars > maxStars) return ".*"
      return piece === "**/" ? "(?:.*/)?" : piece.length > 1 ? ".*" : "[^/]*"
    }
    if (/^\[.+\]$/.test(piece)) return piece.replace(/^\[!/, "[^")
    return piece.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")
  })
}

/** Expands braces: `{a,b}c` becomes `ac` and `bc`. At most 64 words. */
export function expandBraces(word: string): readonly string[] {
  let words: readonly string[] = [word]
  for (let round = 0; round < 6; round++) {
    const next = words.flatMap((each) => {
      const match = /\{([^{}]*,[^{}]*)\}/.exec(each)
      if (match === null) return [each]
      const [whole, list = ""] = match
      const before = each.slice(0, match.index)
      const after = each.slice(match.index + whole.length)
      return list.split(",").map((item) => `${before}${item}${after}`)
    })
    if (next.length > 64) return words
    if (next.length === words.length) return next
    words = next
  }
  return words
}
