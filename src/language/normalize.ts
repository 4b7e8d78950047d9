import type { Span } from "../message/message.ts"
import { isAsciiLetter, lowered } from "./letters.ts"

/** Pairs of a look-alike letter of another script and the Latin letter that it imitates. */
const lookAlikeLetters =
  "аaвbсcԁdеeєeһhіiїiјjкkӏlмmнhоoрpԛqгrѕsтtуyѵvԝwхxүyпnԍgαaβbεeηnιiκkνvοoρpσoτtυuχxγyωwμuϲcϳjհhոnսuօoցgքpտsաwɡgɩiılʟlɑaɪiɴnʀrꜱsᴏoᴄcᴅdᴇeᴋkᴍmᴘpᴛtᴜuᴠvᴡwᴢzøođdłlħhŧtƒf"

const latinOf: ReadonlyMap<string, string> = new Map(
  [...lookAlikeLetters].flatMap((sign, at, all) => (at % 2 === 0 ? [[sign, all[at + 1] ?? sign] as const] : [])),
)

/** Cyrillic letters that are not used in Russian: in a Latin text they are there to deceive. */
const telltales = "іїјѕԁԛԝһӏѵүԍє"
const telltale = new RegExp(`[${telltales}]`)
const telltaleCodes: readonly number[] = [...telltales].map((sign) => sign.charCodeAt(0))

/** Returns the Latin word that a mixed-script or deceptive word imitates. */
export const foldWord = (word: string): string => [...word].map((sign) => latinOf.get(sign) ?? sign).join("")

const isDeceptive = (word: string): boolean => /[a-z]/.test(word) || telltale.test(word)

const invisible = /^[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0\u2800]$/u

/** Normalizes one character for matching: lower case, no accent, no decoration, nothing invisible; tag characters become their letter. */
export function foldCharacter(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  if (code >= 0xe0020 && code <= 0xe007e) return String.fromCodePoint(code - 0xe0000).toLowerCase()
  if (invisible.test(sign) || code >= 0xe0000) return ""
  // Unicode has no compatibility form for squared, circled-negative and regional letters.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return String.fromCodePoint(code - 0x1f1e6 + 97)
  if (code >= 0x1f130 && code <= 0x1f189) return String.fromCodePoint(((code - 0x1f130) % 32) + 97)
  if (code >= 0x2018 && code <= 0x201b) return "'"
  if (code >= 0x201c && code <= 0x201f) return '"'
  return sign
    .normalize("NFKD")
    .replace(/[\p{Mn}\p{Cf}]/gu, "")
    .toLowerCase()
}

const entityNames: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " }

/** Decodes an HTML character reference or \u escape. */
function resolveReference(reference: string): string {
  const name = reference.replace(/^\\u|[&;]/g, "")
  const code = /^#x/i.test(name)
    ? Number.parseInt(name.slice(2), 16)
    : name.startsWith("#")
      ? Number.parseInt(name.slice(1), 10)
      : Number.parseInt(reference.startsWith("\\") ? name : "", 16)
  if (Number.isNaN(code)) return entityNames[name.toLowerCase()] ?? reference
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ""
}

const leetLetters: Readonly<Record<string, string>> = {
  0: "o",
  1: "i",
  3: "e",
  4: "a",
  5: "s",
  7: "t",
  $: "s",
  "@": "a",
}

const unleet = (sign: string): string => leetLetters[sign] ?? sign

type Step = readonly [pattern: RegExp, replace: (match: string) => string]

const lookAlikes = /[\u0250-\u02af\u0370-\u058f\u1d00-\u1d7f\ua730-\ua7fføđłħŧƒ]/

/** Replaces letters of other Latin-based alphabets that imitate plain ones by themselves. */
const foldLetters: Step = [/[\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff]|[øđłħŧƒ]/g, foldWord]

/** Replaces letters of other scripts and alphabets that imitate Latin ones. */
const foldLookAlikes: readonly Step[] = [
  [
    /(?<![a-z\u0370-\u058f])[a-z\u0370-\u058f]*[\u0370-\u058f][a-z\u0370-\u058f]*/g,
    (word) => (isDeceptive(word) ? foldWord(word) : word),
  ],
  foldLetters,
]

const withoutMarkup = (sign: string): string => (sign.startsWith("\\") ? "\n " : /--/.test(sign) ? "\n" : "")

/** Removes what is written around and between letters: escaped line ends, comments, inline tags, emphasis. */
const removeMarkup: Step = [
  /\\[nrt]|<!--|-->|<\/?(?:b|i|u|s|em|strong|span|font|mark|code|sub|sup|a|wbr)(?: [^<>\n]{0,120})?>|\*+|~~+/g,
  withoutMarkup,
]
const joinSpacedLetters: Step = [
  /(?<![a-z\d])[a-z](?:[ ._\-|/,][a-z](?![a-z\d])){2,}/g,
  (run) => run.replace(/[^a-z]/g, ""),
]
/**
 * Normalizes a text to what a reader sees, for matching only: compatibility forms, look-alikes, invisible characters, entities, inline
 * markup, spaced-out letters and mild leetspeak are undone, and case is removed. Every step is one linear pass.
 */
export const normalize = (text: string, found: Survey = survey(text)): NormalizedText =>
  normalizeWith(text, found, rewrite)

/** The same text for callers that do not need original offsets. */
export const normalizedText = (text: string, found: Survey = survey(text)): string =>
  normalizeWith(text, found, rewriteText).text

function normalizeWith(
  text: string,
  { foreign, escaped, dressed, spaced, respelt }: Survey,
  by: typeof rewrite,
): NormalizedText {
  const applySteps = (view: NormalizedText, steps: readonly Step[]): NormalizedText =>
    steps.reduce((before, [pattern, replace]) => by(before, pattern, replace), view)
  const resolved = escaped ? by(viewOf(text), references, resolveReference) : viewOf(text)
  const folds = foreign || resolved.starts !== undefined
  const [pattern, foldThem] = by === rewrite ? [foldable, fold] : [foldableRuns, foldRun]
  const plain = folds ? by(resolved, pattern, foldThem) : resolved
  const small = { ...plain, text: lowered(plain.text) }
  const latin = folds && lookAlikes.test(small.text) ? applySteps(small, foldLookAlikes) : small
  const bare = dressed || folds ? applySteps(latin, [removeMarkup]) : latin
  const moved = bare.starts !== undefined
  const joined = spaced || moved ? applySteps(bare, [joinSpacedLetters]) : bare
  return respelt || moved || joined.starts !== undefined ? withoutLeet(joined) : joined
}

const references = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,5});|\\u[\da-f]{4}/gi

/** Matches all but ASCII and Chinese characters, which need no normalization. */
const foldable = /[^\0-\x7f\u4e00-\u9fff]/gu
/** The same in runs, if original offsets are not needed: matching single characters takes three times as long. */
const foldableRuns = /[^\0-\x7f\u4e00-\u9fff]+/g

/** Normalizes single characters and nothing else. */
export const foldSigns = (text: string): string => text.replace(foldableRuns, foldRun)

/** Cache: the normalized code of each character, 0 if not known yet, or `notSingle`. */
const foldedCodes = new Uint16Array(1 << 16)
const notSingle = 0xffff

/** Matches characters that cannot be normalized one by one: surrogates, blanks, marks, and single Korean letters, which may combine. */
const combining = /[\ud800-\udfff\p{M}\u1100-\u11ff]|[^\S ]/u
const isSyllable = (code: number): boolean => code >= 0xac00 && code <= 0xd7a3

function learnFolded(code: number): number {
  const sign = String.fromCharCode(code)
  const result = isSyllable(code) ? sign : lowered(fold(sign))
  const latin = result.replace(foldLetters[0], foldWord)
  const known = latin.length === 1 && latin !== "\0" && !combining.test(latin) ? latin.charCodeAt(0) : notSingle
  foldedCodes[code] = known
  return known
}

/**
 * Normalizes codes in place like `normalizedText`, if each becomes one code and no word of another script imitates a Latin one. Other steps
 * are left to the caller, who checks the ASCII characters. If it returns false, the codes are only partly normalized.
 */
export function foldInPlace(codes: Uint16Array, length: number): boolean {
  // Bit flags of the scripts in the current word: Latin letters, and letters that may imitate them.
  let scripts = 0
  for (let at = 0; at < length; at++) {
    const code = codes[at] ?? 0
    if (code < 0x80) {
      scripts = isAsciiLetter(code) ? scripts | latinLetter : 0
    } else {
      const folded = foldedCodes[code] || learnFolded(code)
      if (folded === notSingle) return false
      codes[at] = folded
      if (folded < 0x80) scripts = isAsciiLetter(folded) ? scripts | latinLetter : 0
      else if (folded < 0x370 || folded > 0x58f) scripts = 0
      else {
        if (telltaleCodes.includes(folded)) return false
        scripts |= likeLatin
      }
    }
    if (scripts === (latinLetter | likeLatin)) return false
  }
  return true
}
const [latinLetter, likeLatin] = [1, 2]

function foldRun(run: string): string {
  if (run.length === 1) return fold(run)
  let result = ""
  for (const sign of run) result += fold(sign)
  return result
}

/** Normalizes a character, with a cache, because texts repeat their characters. The cache is cleared when it is full. */
function fold(sign: string): string {
  const known = folded.get(sign)
  if (known !== undefined) return known
  const result = foldCharacter(sign)
  if (folded.size >= maxFolded) folded.clear()
  folded.set(sign, result)
  return result
}
const folded = new Map<string, string>()
const maxFolded = 4096

/** Result of a quick scan of a text: which normalization steps it needs. */
export type Survey = {
  /** The text has characters beyond ASCII. */
  readonly foreign: boolean
  /** Characters that represent others: entities and escapes. */
  readonly escaped: boolean
  /** Characters around or between letters: escapes, tags, emphasis. */
  readonly dressed: boolean
  /** Single letters, one after another. */
  readonly spaced: boolean
  /** Digits and other characters next to a letter that may imitate letters. */
  readonly respelt: boolean
  /** Starts of runs of at least twenty base64 characters. */
  readonly runs: readonly number[]
}

const dress = 1
const standIn = 32
const letter = 2
const underscore = 4
const blob = 8
const digit = 16
const lookAlike = 64
const plainLetter = letter | blob
const dot = 128

const classes: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code)
  return (
    (/[\\<>*~]/.test(sign) ? dress : 0) |
    (/[&\\]/.test(sign) ? standIn : 0) |
    (/[a-z]/i.test(sign) ? letter : 0) |
    (sign === "_" ? underscore : 0) |
    (sign === "." ? dot : 0) |
    (/[A-Za-z\d+/_-]/.test(sign) ? blob : 0) |
    (/\d/.test(sign) ? digit : 0) |
    (Object.hasOwn(leetLetters, sign) ? lookAlike : 0)
  )
})

/** Replaces digits and other characters by the letters that they imitate, one for one, so that offsets stay the same. */
function withoutLeet(view: NormalizedText): NormalizedText {
  const { text } = view
  const result = text.replace(besideLetters, (sign, at: number) => (passesForLetter(text, at) ? unleet(sign) : sign))
  return result === text ? view : { ...view, text: result }
}
/** Matches leetspeak characters next to a letter, or next to another one that is. */
const besideLetters = /(?<=[A-Za-z])[013457$@]|[013457$@](?=[013457$@]?[A-Za-z])/g

/** Returns the character class at an offset; 0 outside the text. */
function classAt(text: string, at: number): number {
  const code = at < 0 || at >= text.length ? 0 : text.charCodeAt(at)
  return code < 0x80 ? (classes[code] ?? 0) : 0
}
const wordClasses = letter | digit | underscore

/** True if a digit or other character imitates a letter: before letters within or at the start of a word, or at the end of a word. */
function passesForLetter(text: string, at: number): boolean {
  const [before, next] = [classAt(text, at - 1), classAt(text, at + 1)]
  const isInside = (before & letter) !== 0 || ((before & lookAlike) !== 0 && (classAt(text, at - 2) & letter) !== 0)
  const isFirst = (before & (wordClasses | lookAlike | dot)) === 0
  if (isInside || isFirst) {
    if ((next & letter) !== 0 || ((next & lookAlike) !== 0 && (classAt(text, at + 2) & letter) !== 0)) return true
  }
  if ((before & letter) === 0 || (classAt(text, at - 2) & (letter | digit)) === 0) return false
  const goesOn =
    (next & (wordClasses | lookAlike)) !== 0 || ((next & dot) !== 0 && (classAt(text, at + 2) & wordClasses) !== 0)
  return !goesOn
}

const blank = 0x20

/** The small letter for each code of a letter; 0 for other codes. */
const smallLetters: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  ((classes[code] ?? 0) & letter) !== 0 ? code | 0x20 : 0,
)

/**
 * Returns the words of an ASCII text as `normalizedText` spells them, with one blank between and around them. One pass over its bytes.
 * Undefined for a text that needs more than leetspeak undone.
 */
export function asciiWords(text: string): string | undefined {
  // After the text there is a zero byte, which is no letter.
  const bytes = new Uint8Array(text.length + 2)
  // A character beyond ASCII takes two bytes or more.
  if (new TextEncoder().encodeInto(text, bytes).written !== text.length) return undefined
  const result = new Uint8Array(text.length + 2)
  result[0] = blank
  let length = 1
  let alone = 0
  let gap = 0
  for (let at = 0; at < text.length; ) {
    const kind = classes[bytes[at] ?? 0] ?? 0
    if ((kind & (letter | digit)) === 0) {
      if ((kind & (dress | standIn)) !== 0) return undefined
      if ((kind & lookAlike) !== 0 && passesForLetter(text, at))
        result[length++] = unleet(text.charAt(at)).charCodeAt(0)
      else if (result[length - 1] !== blank) result[length++] = blank
      gap++
      at++
      continue
    }
    // Counts single letters that are one character apart, in the same way as `survey`.
    const start = at
    for (;;) {
      for (let small = smallLetters[bytes[at] ?? 0] ?? 0; small !== 0; small = smallLetters[bytes[at] ?? 0] ?? 0) {
        result[length++] = small
        at++
      }
      const code = bytes[at] ?? 0
      if (((classes[code] ?? 0) & digit) === 0) break
      result[length++] = passesForLetter(text, at) ? unleet(text.charAt(at)).charCodeAt(0) : code
      at++
    }
    alone = at - start > 1 ? 0 : gap === 1 && (kind & letter) !== 0 ? alone + 1 : 1
    if (alone >= minSpaced) return undefined
    gap = 0
  }
  if (result[length - 1] !== blank || length === 1) result[length++] = blank
  return asciiText.decode(result.subarray(0, length))
}
const asciiText = new TextDecoder("latin1")

/** Minimum length of a run. */
const minRun = 20
/** Minimum number of single letters, each one character apart, that are one spaced-out word. */
const minSpaced = 3

/** Scans a text for what has to be normalized, in one pass and without regular expressions. */
export function survey(text: string): Survey {
  const runs: number[] = []
  let foreign = false
  let dressed = false
  let escaped = false
  let spaced = false
  let respelt = false
  let before = 0
  let run = 0
  let word = 0
  let alone = 0
  let gap = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) foreign = true
    const kind = code < 0x80 ? (classes[code] ?? 0) : 0
    // Within a word of letters, which is most of a text, only its length can change.
    if (kind === plainLetter && before === plainLetter) {
      const start = at
      while (at + 1 < text.length && isAsciiLetter(text.charCodeAt(at + 1))) at++
      const more = at - start + 1
      if (run < minRun && run + more >= minRun) runs.push(start - run)
      run += more
      word += more
      alone = 0
      continue
    }
    if ((kind & (dress | standIn)) !== 0) {
      dressed ||= (kind & dress) !== 0
      escaped ||= (kind & standIn) !== 0
    }
    if (((kind | before) & lookAlike) !== 0)
      respelt ||= (kind & letter) !== 0 || ((kind & lookAlike) !== 0 && (before & letter) !== 0)
    before = kind
    run = (kind & blob) === 0 ? 0 : run + 1
    if (run === minRun) runs.push(at - minRun + 1)
    if ((kind & (letter | digit)) !== 0) {
      word++
      if (word === 1) alone = gap === 1 && (kind & letter) !== 0 ? alone + 1 : 1
      else alone = 0
      gap = 0
      if (alone >= minSpaced) spaced = true
    } else {
      word = 0
      gap++
    }
  }
  return { foreign, escaped, dressed, spaced, respelt, runs }
}

/** A text normalized for matching, with the original offset of each character. */
export type NormalizedText = {
  readonly text: string
  readonly originalLength: number
  /** Offset of each character in the original; absent while nothing has moved. */
  readonly starts?: Uint32Array
}

export const viewOf = (text: string): NormalizedText => ({ text, originalLength: text.length })

/** Maps a span of the normalized text to the original; what was removed right after it is included. */
export function originalSpan(view: NormalizedText, { start, end }: Span): Span {
  const { starts, originalLength } = view
  if (starts === undefined) return { start, end }
  const from = starts[start] ?? originalLength
  let after = end
  while (after < starts.length && end > 0 && starts[after] === starts[end - 1]) after++
  return { start: from, end: Math.max(from, starts[after] ?? originalLength) }
}

/** Like `rewrite`, without the map: `starts` only tells that something moved. */
function rewriteText(view: NormalizedText, pattern: RegExp, replace: (match: string) => string): NormalizedText {
  let moved = false
  const text = view.text.replace(pattern, (match) => {
    const result = replace(match)
    moved ||= result !== match
    return result
  })
  return moved ? { text, originalLength: view.originalLength, starts: noStarts } : view
}
const noStarts = new Uint32Array(0)

/** Replaces each match and keeps the map. A text without a match is returned as the same object. */
export function rewrite(view: NormalizedText, pattern: RegExp, replace: (match: string) => string): NormalizedText {
  // Most patterns do not match, and iterating over matches costs more than searching for the first.
  if (view.text.search(pattern) < 0) return view
  const edits: { readonly at: number; readonly length: number; readonly text: string }[] = []
  for (const match of view.text.matchAll(pattern)) {
    const text = replace(match[0])
    if (text !== match[0]) edits.push({ at: match.index, length: match[0].length, text })
  }
  if (edits.length === 0) return view
  const pieces: string[] = []
  const growth = edits.reduce((sum, edit) => sum + edit.text.length - edit.length, 0)
  const starts = new Uint32Array(view.text.length + growth)
  let read = 0
  let written = 0
  const copy = (end: number): void => {
    pieces.push(view.text.slice(read, end))
    if (view.starts !== undefined) starts.set(view.starts.subarray(read, end), written)
    else for (let at = read; at < end; at++) starts[written + at - read] = at
    written += end - read
  }
  for (const { at, length, text } of edits) {
    copy(at)
    pieces.push(text)
    // The offsets of a replacement of another length are spread evenly over its match: spans are whole sentences, so this is exact enough.
    for (let n = 0; n < text.length; n++) {
      const from = at + Math.floor((n * length) / text.length)
      starts[written + n] = view.starts?.[from] ?? from
    }
    written += text.length
    read = at + length
  }
  copy(view.text.length)
  return { text: pieces.join(""), originalLength: view.originalLength, starts }
}
