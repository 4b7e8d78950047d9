import type { Span } from "../message/message.ts"
import { isAsciiLetter, lowered } from "./letters.ts"

/** Letters of other scripts that look like Latin ones, paired: a look-alike, then what it passes for. */
const lookAlikeLetters =
  "аaвbсcԁdеeєeһhіiїiјjкkӏlмmнhоoрpԛqгrѕsтtуyѵvԝwхxүyпnԍgαaβbεeηnιiκkνvοoρpσoτtυuχxγyωwμuϲcϳjհhոnսuօoցgքpտsաwɡgɩiılʟlɑaɪiɴnʀrꜱsᴏoᴄcᴅdᴇeᴋkᴍmᴘpᴛtᴜuᴠvᴡwᴢzøođdłlħhŧtƒf"

const latinOf: ReadonlyMap<string, string> = new Map(
  [...lookAlikeLetters].flatMap((sign, at, all) => (at % 2 === 0 ? [[sign, all[at + 1] ?? sign] as const] : [])),
)

/** Cyrillic letters that no Russian word has: in a Latin text they are there to deceive. */
const telltales = "іїјѕԁԛԝһӏѵүԍє"
const telltale = new RegExp(`[${telltales}]`)
const telltaleCodes: readonly number[] = [...telltales].map((sign) => sign.charCodeAt(0))

/** The Latin word that a mixed-script or deceiving word passes for. */
export const foldWord = (word: string): string => [...word].map((sign) => latinOf.get(sign) ?? sign).join("")

const deceives = (word: string): boolean => /[a-z]/.test(word) || telltale.test(word)

const invisible = /^[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0\u2800]$/u

/** One character as matching sees it: lower case, no accent, no decoration, nothing invisible; tag characters show their letter. */
export function foldCharacter(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  if (code >= 0xe0020 && code <= 0xe007e) return String.fromCodePoint(code - 0xe0000).toLowerCase()
  if (invisible.test(sign) || code >= 0xe0000) return ""
  // Squared, circled-negative and regional letters have no compatibility form in Unicode.
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

/** HTML character references and \u escapes as the characters they stand for. */
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

const digits: Readonly<Record<string, string>> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", $: "s", "@": "a" }

const unleet = (sign: string): string => digits[sign] ?? sign

type Step = readonly [pattern: RegExp, replace: (match: string) => string]

const lookAlikes = /[\u0250-\u02af\u0370-\u058f\u1d00-\u1d7f\ua730-\ua7fføđłħŧƒ]/

/** Letters of other alphabets that pass for Latin ones by themselves. */
const foldLetters: Step = [/[\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff]|[øđłħŧƒ]/g, foldWord]

/** Letters of other scripts and alphabets that pass for Latin ones. */
const foldLookAlikes: readonly Step[] = [
  [
    /(?<![a-z\u0370-\u058f])[a-z\u0370-\u058f]*[\u0370-\u058f][a-z\u0370-\u058f]*/g,
    (word) => (deceives(word) ? foldWord(word) : word),
  ],
  foldLetters,
]

const undressed = (sign: string): string => (sign.startsWith("\\") ? "\n " : /--/.test(sign) ? "\n" : "")

/** What is written around and between letters: escaped line ends, comments, inline tags, emphasis. */
const undress: Step = [
  /\\[nrt]|<!--|-->|<\/?(?:b|i|u|s|em|strong|span|font|mark|code|sub|sup|a|wbr)(?: [^<>\n]{0,120})?>|\*+|~~+/g,
  undressed,
]
const unspace: Step = [/(?<![a-z\d])[a-z](?:[ ._\-|/,][a-z](?![a-z\d])){2,}/g, (run) => run.replace(/[^a-z]/g, "")]
/**
 * The text as a reader's eye takes it, for matching only: compatibility forms, look-alikes, invisible characters, entities, inline
 * markup, spaced-out letters and mild leetspeak are undone, and case is gone. Every step is one linear pass.
 */
export const normalize = (text: string, found: Survey = survey(text)): NormalizedText => runFolds(text, found, rewrite)

/** The same text for whoever does not ask where its characters came from. */
export const normalizedText = (text: string, found: Survey = survey(text)): string =>
  runFolds(text, found, rewriteText).text

function runFolds(
  text: string,
  { foreign, escaped, dressed, spaced, respelt }: Survey,
  by: typeof rewrite,
): NormalizedText {
  const applySteps = (view: NormalizedText, steps: readonly Step[]): NormalizedText =>
    steps.reduce((before, [pattern, replace]) => by(before, pattern, replace), view)
  const resolved = escaped ? by(viewOf(text), references, resolveReference) : viewOf(text)
  const folds = foreign || resolved.starts !== undefined
  const [signs, foldThem] = by === rewrite ? [foldable, fold] : [foldableRuns, foldRun]
  const plain = folds ? by(resolved, signs, foldThem) : resolved
  const small = { ...plain, text: lowered(plain.text) }
  const latin = folds && lookAlikes.test(small.text) ? applySteps(small, foldLookAlikes) : small
  const bare = dressed || folds ? applySteps(latin, [undress]) : latin
  const moved = bare.starts !== undefined
  const joined = spaced || moved ? applySteps(bare, [unspace]) : bare
  return respelt || moved || joined.starts !== undefined ? respelled(joined) : joined
}

const references = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,5});|\\u[\da-f]{4}/gi

/** All but ASCII and Chinese characters, which are what they look like. */
const foldable = /[^\0-\x7f\u4e00-\u9fff]/gu
/** The same in runs, for whoever does not ask where each came from: looking for whole characters takes three times as long. */
const foldableRuns = /[^\0-\x7f\u4e00-\u9fff]+/g

/** The text with each sign as the plain ones that it looks like, and nothing else undone. */
export const foldSigns = (text: string): string => text.replace(foldableRuns, foldRun)

/** What each sign folds into: zero as long as nobody asked, the code of a sign, or that it is no single one. */
const foldedCodes = new Uint16Array(1 << 16)
const notSingle = 0xffff

/** Signs that nobody can fold one by one: halves, blanks, marks, and letters of Korean that stand alone, which may be put together. */
const together = /[\ud800-\udfff\p{M}\u1100-\u11ff]|[^\S ]/u
const isSyllable = (code: number): boolean => code >= 0xac00 && code <= 0xd7a3

function learnFolded(code: number): number {
  const sign = String.fromCharCode(code)
  const made = isSyllable(code) ? sign : lowered(fold(sign))
  const latin = made.replace(foldLetters[0], foldWord)
  const known = latin.length === 1 && latin !== "\0" && !together.test(latin) ? latin.charCodeAt(0) : notSingle
  foldedCodes[code] = known
  return known
}

/**
 * Folds signs in their place as `normalizedText` does, if each becomes one sign and no word of another script passes for a Latin one. What
 * else there is to undo is left to whoever looks at the signs of ASCII. If it is false, the signs are left half folded.
 */
export function foldInPlace(signs: Uint16Array, length: number): boolean {
  // Whether the word has Latin letters, and others that may pass for such.
  let scripts = 0
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    if (code < 0x80) {
      scripts = isAsciiLetter(code) ? scripts | latinLetter : 0
    } else {
      const folded = foldedCodes[code] || learnFolded(code)
      if (folded === notSingle) return false
      signs[at] = folded
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
  let made = ""
  for (const sign of run) made += fold(sign)
  return made
}

/** Folds a character, and remembers: texts repeat their characters. All are let go when there are so many. */
function fold(sign: string): string {
  const known = folded.get(sign)
  if (known !== undefined) return known
  const made = foldCharacter(sign)
  if (folded.size >= maxFolded) folded.clear()
  folded.set(sign, made)
  return made
}
const folded = new Map<string, string>()
const maxFolded = 4096

/** What a glance at a text tells: which of the closer looks it needs. */
export type Survey = {
  readonly foreign: boolean
  /** Signs that stand for others: entities and escapes. */
  readonly escaped: boolean
  /** Signs that stand around or between letters: escapes, tags, emphasis. */
  readonly dressed: boolean
  /** Letters that stand alone, one after another. */
  readonly spaced: boolean
  /** Digits and signs that pass for letters, beside a letter. */
  readonly respelt: boolean
  /** Runs of twenty letters, digits and the like without a blank: where each starts. */
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
    (Object.hasOwn(digits, sign) ? lookAlike : 0)
  )
})

/** Digits and signs as the letters that they pass for, sign for sign, so that nothing moves. */
function respelled(view: NormalizedText): NormalizedText {
  const { text } = view
  const made = text.replace(besideLetters, (sign, at: number) => (passesForLetter(text, at) ? unleet(sign) : sign))
  return made === text ? view : { ...view, text: made }
}
/** Only beside a letter, or beside another of them that is, one can pass for a letter. */
const besideLetters = /(?<=[A-Za-z])[013457$@]|[013457$@](?=[013457$@]?[A-Za-z])/g

/** What the sign at a place is; behind either end nothing. */
function classAt(text: string, at: number): number {
  const code = at < 0 || at >= text.length ? 0 : text.charCodeAt(at)
  return code < 0x80 ? (classes[code] ?? 0) : 0
}
const ofWord = letter | digit | underscore

/** Does a digit or sign stand for a letter: before letters if a word goes on or starts with it, or at the end of a word? */
function passesForLetter(text: string, at: number): boolean {
  const [before, next] = [classAt(text, at - 1), classAt(text, at + 1)]
  const isInside = (before & letter) !== 0 || ((before & lookAlike) !== 0 && (classAt(text, at - 2) & letter) !== 0)
  const isFirst = (before & (ofWord | lookAlike | dot)) === 0
  if (isInside || isFirst) {
    if ((next & letter) !== 0 || ((next & lookAlike) !== 0 && (classAt(text, at + 2) & letter) !== 0)) return true
  }
  if ((before & letter) === 0 || (classAt(text, at - 2) & (letter | digit)) === 0) return false
  const goesOn = (next & (ofWord | lookAlike)) !== 0 || ((next & dot) !== 0 && (classAt(text, at + 2) & ofWord) !== 0)
  return !goesOn
}

const blank = 0x20

/** Each letter as a small one, by its code; nothing for what is none. */
const smallLetters: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  ((classes[code] ?? 0) & letter) !== 0 ? code | 0x20 : 0,
)

/**
 * The words of a text in ASCII as `normalizedText` spells them, with one blank between two and round them all. One pass over its bytes;
 * undefined for a text that has more to undo than digits that pass for letters.
 */
export function asciiWords(text: string): string | undefined {
  // Behind the text stands a zero, which is no letter.
  const bytes = new Uint8Array(text.length + 2)
  // A character outside of ASCII takes two bytes or more.
  if (new TextEncoder().encodeInto(text, bytes).written !== text.length) return undefined
  const made = new Uint8Array(text.length + 2)
  made[0] = blank
  let length = 1
  let alone = 0
  let gap = 0
  for (let at = 0; at < text.length; ) {
    const kind = classes[bytes[at] ?? 0] ?? 0
    if ((kind & (letter | digit)) === 0) {
      if ((kind & (dress | standIn)) !== 0) return undefined
      if ((kind & lookAlike) !== 0 && passesForLetter(text, at)) made[length++] = unleet(text.charAt(at)).charCodeAt(0)
      else if (made[length - 1] !== blank) made[length++] = blank
      gap++
      at++
      continue
    }
    // Letters that stand alone, one sign from another: `survey` counts them the same way.
    const start = at
    for (;;) {
      for (let small = smallLetters[bytes[at] ?? 0] ?? 0; small !== 0; small = smallLetters[bytes[at] ?? 0] ?? 0) {
        made[length++] = small
        at++
      }
      const code = bytes[at] ?? 0
      if (((classes[code] ?? 0) & digit) === 0) break
      made[length++] = passesForLetter(text, at) ? unleet(text.charAt(at)).charCodeAt(0) : code
      at++
    }
    alone = at - start > 1 ? 0 : gap === 1 && (kind & letter) !== 0 ? alone + 1 : 1
    if (alone >= minSpaced) return undefined
    gap = 0
  }
  if (made[length - 1] !== blank || length === 1) made[length++] = blank
  return asciiText.decode(made.subarray(0, length))
}
const asciiText = new TextDecoder("latin1")

/** A blob is at least this long. */
const minRun = 20
/** So many letters alone, each one sign from the next, are one word spaced out. */
const minSpaced = 3

/** One pass, and no pattern. */
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
    // Within a word of letters, which most of a text is, nothing but its length can change.
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

/** A text rewritten for matching; every character knows where in the original it came from. */
export type NormalizedText = {
  readonly text: string
  readonly originalLength: number
  /** Where each character starts in the original; absent while nothing has moved. */
  readonly starts?: Uint32Array
}

export const viewOf = (text: string): NormalizedText => ({ text, originalLength: text.length })

/** Where a stretch of the view stands in the original; whatever was dropped right behind it belongs to it. */
export function originalSpan(view: NormalizedText, { start, end }: Span): Span {
  const { starts, originalLength } = view
  if (starts === undefined) return { start, end }
  const from = starts[start] ?? originalLength
  let after = end
  while (after < starts.length && end > 0 && starts[after] === starts[end - 1]) after++
  return { start: from, end: Math.max(from, starts[after] ?? originalLength) }
}

/** As `rewrite`, without the map: `starts` only tells that something moved. */
function rewriteText(view: NormalizedText, pattern: RegExp, replace: (match: string) => string): NormalizedText {
  let moved = false
  const text = view.text.replace(pattern, (match) => {
    const made = replace(match)
    moved ||= made !== match
    return made
  })
  return moved ? { text, originalLength: view.originalLength, starts: noStarts } : view
}
const noStarts = new Uint32Array(0)

/** Replace each match and keep the map. A view without a match comes back as the same object. */
export function rewrite(view: NormalizedText, pattern: RegExp, replace: (match: string) => string): NormalizedText {
  // Most patterns are not in a text, and walking over matches costs more than looking for the first.
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
    // A replacement of another length is laid over its match evenly: spans are cut at sentences, so nearer is not needed.
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
