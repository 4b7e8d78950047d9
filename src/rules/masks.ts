import { textOfCodes } from "../language/letters.ts"
import { anyOf } from "../language/word-lists.ts"
import { charKind as kind, kindTable, learnKind, ofWords, quotes, scratchCodes } from "./sign-kinds.ts"
import { isClassed } from "./word-classes.ts"
import { codesOf } from "./word-facts.ts"

/**
 * Masks parts of a sentence before the model reads it: code, links, addresses, quotations, and then values: identifiers, numbers and names.
 * Whether a sentence is a rule does not depend on which name or number stands in it.
 */

const code = /`{1,3}[^`\n]{1,200}`{1,3}/g
const quoted = new RegExp(
  `(^|[\\s(:,])${anyOf(
    '"[^"\\n]{1,300}"|＂[^＂\\n]{1,300}＂|″[^″\\n]{1,300}″|“[^”\\n]{1,300}”|”[^”\\n]{1,300}”|„[^“”\\n]{1,300}[“”]',
    "«[^»\\n]{1,300}»|»[^«\\n]{1,300}«|‹[^›\\n]{1,300}›|›[^‹\\n]{1,300}‹|‚[^‘’\\n]{1,300}[‘’]|‘[^‘’\\n]{1,300}’",
    "「[^」\\n]{1,200}」|『[^』\\n]{1,200}』",
  )}`,
  "g",
)
const singleQuoted = /(^|[\s(])'[^'\n]{2,200}'(?=$|[\s.,;:!?)])/g
const link = /\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)/g
const address = /\b(?:https?|ftp|s3):\/\/[^\s)>\]]{1,300}|\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g
const file = /(?<![\w/@])@?(?:[\w.-]{0,60}\/)+[\w.*-]{1,80}|(?<![\w.])[\w-]{1,60}\.(?:[a-z]{2,4}|[a-z]\d)\b(?!\.?\w)/gi

const charKindOf = (code: number): number => kindTable[code] || learnKind(code)

/** What may have to be masked in a sentence: nothing, names only, any values, or also what stands between delimiters. */
export type Maskable = "nothing" | "names" | "values" | "all"

/**
 * Tells in one pass what may have to be masked, instead of searching with each pattern: most sentences have none of the characters that
 * these need. In doubt the answer is the larger set.
 */
export function maskableIn(codes: Uint16Array, length: number): Maskable {
  let found: Maskable = "nothing"
  let before = 0
  let kindBefore: number = kind.known | kind.blank
  let kindTwoBefore = 0
  for (let at = 0; at < length; at++) {
    const code = codes[at] ?? 0
    const own = charKindOf(code)
    // Delimited text: code, quotations, addresses. Surrogate pairs are left to the patterns.
    if ((own & kind.quote) !== 0 || code === 0x60 || code === 0x40 || (code >= 0xd800 && code <= 0xdfff)) return "all"
    if (code === 0x27 && ((kindBefore & kind.blank) !== 0 || before === 0x28)) return "all"
    if (code === 0x2f && at < length - 1) return "all"
    if (code === 0x28 && before === 0x5d) return "all"
    if (before === 0x2e && code < 128 && (own & kind.letter) !== 0) return "all"
    if ((own & kind.digit) !== 0 || code === 0x5f) found = "values"
    else if ((own & kind.capital) !== 0) {
      const isInner = before === 0x20 && (kindTwoBefore & kind.blank) === 0
      if ((kindBefore & kind.small) !== 0) found = "values"
      else if (found === "nothing" && isInner && !(code === 0x49 && isAlone(codes, length, at))) found = "names"
    } else if (found === "nothing" && (own & kind.consonant) !== 0 && before === 0x20 && isAlone(codes, length, at))
      found = "names"
    kindTwoBefore = kindBefore
    kindBefore = own
    before = code
  }
  return found
}

/** True if no letter follows. */
function isAlone(codes: Uint16Array, length: number, at: number): boolean {
  if (at + 1 >= length) return true
  const next = codes[at + 1] ?? 0
  return (charKindOf(next) & kind.letter) === 0
}

/** Masks code, links, addresses, paths and quotations; each pattern runs only if its characters occur. */
export function masked(sentence: string): string {
  const bare = sentence.includes("`") ? sentence.replace(code, maskCode) : sentence
  const linked = bare.includes("](") ? bare.replace(link, " $1 ") : bare
  const addressed = /:\/\/|@/.test(linked) ? linked.replace(address, " qlink ") : linked
  const named = /[./]/.test(addressed.slice(0, -1)) ? addressed.replace(file, maskPath) : addressed
  const said = quotes.test(named) ? named.replace(quoted, "$1 qquote ") : named
  return said.includes("'") ? said.replace(singleQuoted, "$1 qquote ") : said
}
/**
 * Files with instructions for an agent, and records of conversations: they get a mask of their own, because which file it is says more than
 * that it is a file.
 */
const ruleFile =
  /(?:^|[/\\`])\.?(?:claude|agents?|gemini|rules?|conventions?|memory|guidelines?|instructions|copilot-instructions|cursorrules|windsurfrules|clinerules)(?:\.\w{2,4})?`*$/i
const talkFile = /(?:prompt|chat|conversation|dialog)[\w-]{0,30}\.\w{2,5}`*$/i
const maskFor = (text: string, plain: string): string =>
  ruleFile.test(text) ? " qrules " : talkFile.test(text) ? " qlog " : plain
const maskCode = (text: string): string => maskFor(text, " qcode ")
const maskPath = (text: string): string => maskFor(text, " qpath ")

const number = /(?<![\p{L}\p{N}_])[$€£]?\p{N}+(?:[.,:/]\p{N}+)*(?:\p{L}{1,3}|%)?(?![\p{L}\p{N}_])/gu
const identifier =
  /(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]{0,60}(?:\p{Ll}\p{Lu}|\p{L}\p{N}|\p{N}\p{L}|[\p{L}\p{N}]_[\p{L}\p{N}]))[\p{L}\p{N}_]{2,100}(?:\(\))?/gu
/** Matches a capitalized word after another word, and a single consonant. */
const name = /(?<=[\p{L}\p{N},;'’")] )(?:\p{Lu}(?:\p{Ll}[\p{L}'’-]{0,40})?|[b-df-hj-np-tv-xz])(?![\p{L}\p{N}'’])/gu

/**
 * Masks numbers, identifiers and names with patterns. A capitalized word of the word table is kept, and where most words are capitalized
 * none counts as a name.
 */
export function withoutValues(text: string): string {
  const counted = /\p{N}/u.test(text) ? text.replace(identifier, " qcode ").replace(number, " qnum ") : text
  const called = /_|\p{Ll}\p{Lu}/u.test(counted) ? counted.replace(identifier, " qcode ") : counted
  if (!inner.test(called) || isInTitleCase(called)) return called
  return called.replace(name, (word) => (word === "I" || hasClass(lowered(word)) ? word : "qname"))
}
const inner = /\S \p{Lu}| [b-df-hj-np-tv-xz](?!\p{L})/u
const hasClass = (word: string): boolean => isClassed(codesOf(word), 0, word.length)
function lowered(word: string): string {
  const low = word.toLowerCase()
  return /[^\0-\x7f]/.test(low) ? low.normalize("NFD").replace(/\p{M}/gu, "") : low
}

function isInTitleCase(text: string): boolean {
  const words = text.match(/\p{L}{4,}/gu) ?? []
  return words.length >= 4 && words.filter((word) => /^\p{Lu}/u.test(word)).length > 0.7 * words.length
}

const isOfWord = (code: number): boolean => (charKindOf(code) & ofWords) !== 0 || code === 0x5f

/** Character codes: the first `length` elements of the array. */
type CodeSpan = { readonly signs: Uint16Array; readonly length: number }

/** Two buffers used in turn: each step reads one and writes the other. They are reused for the next sentence. */
let [bufferA, bufferB] = [new Uint16Array(0), new Uint16Array(0)]
/** Maximum growth in characters: a number of one digit is masked by six characters. */
const maxGrowth = 6

/**
 * Same as `withoutValues`, on character codes. `maskable` is what these codes may have, or "all" if that is unknown. The returned codes are
 * overwritten by the next call.
 */
export function maskValues(codes: Uint16Array, length: number, maskable: Maskable = "all"): CodeSpan {
  if (bufferA.length < maxGrowth * length) {
    bufferA = new Uint16Array(2 * maxGrowth * length)
    bufferB = new Uint16Array(2 * maxGrowth * length)
  }
  const isCoded = maskable === "values" || (maskable === "all" && mayHaveCode(codes, length))
  const called = isCoded ? writeWithoutIdentifiers(codes, length, bufferA) : length
  const counted = isCoded && called >= 0 ? writeWithoutNumbers(bufferA, called, bufferB) : called
  const named = isCoded ? bufferB : codes
  const mayName = maskable === "names" || counted < 0 || hasInnerName(named, counted)
  const isDone = counted >= 0 && (!mayName || isTitleCase(named, counted))
  if (isDone) return { signs: named, length: counted }
  const left = counted < 0 ? counted : writeWithoutNames(named, counted, bufferA)
  if (left >= 0) return { signs: bufferA, length: left }
  const text = withoutValues(textOfCodes(codes, 0, length))
  return { signs: scratchCodes(text, 0, text.length), length: text.length }
}

/** True if there can be a number, an identifier or a surrogate pair. In most sentences only names are masked. */
function mayHaveCode(codes: Uint16Array, length: number): boolean {
  let before = 0
  for (let at = 0; at < length; at++) {
    const code = codes[at] ?? 0
    const own = charKindOf(code)
    if ((own & kind.digit) !== 0 || code === 0x5f || (code >= 0xd800 && code <= 0xdfff)) return true
    if ((own & kind.capital) !== 0 && (before & kind.small) !== 0) return true
    before = own
  }
  return false
}

/** Maximum length of a word; a longer one is left to the patterns. */
const maxWord = 60

const writeCodes = (to: Uint16Array, at: number, codes: Uint16Array): number => {
  for (let n = 0; n < codes.length; n++) to[at + n] = codes[n] ?? 0
  return at + codes.length
}
const [codeMask, numberMask, nameMask] = [codesOf(" qcode "), codesOf(" qnum "), codesOf("qname")]

/** Writes the codes with each identifier masked and returns the new length; -1 if only the patterns can decide. */
function writeWithoutIdentifiers(from: Uint16Array, length: number, to: Uint16Array): number {
  let written = 0
  for (let at = 0; at < length; ) {
    const end = wordEnd(from, length, at)
    if (end === at) {
      const code = from[at++] ?? 0
      if (code >= 0xd800 && code <= 0xdfff) return -1
      to[written++] = code
      continue
    }
    if (end - at > maxWord) return -1
    if (isIdentifier(from, at, end)) {
      written = writeCodes(to, written, codeMask)
      at = from[end] === 0x28 && from[end + 1] === 0x29 && end + 1 < length ? end + 2 : end
    } else while (at < end) to[written++] = from[at++] ?? 0
  }
  return written
}

function wordEnd(codes: Uint16Array, length: number, start: number): number {
  let end = start
  while (end < length && isOfWord(codes[end] ?? 0)) end++
  return end
}

/** True if a word has a capital after a small letter, a digit next to a letter, or an underscore inside. */
function isIdentifier(codes: Uint16Array, start: number, end: number): boolean {
  let before = 0
  let isJoined = false
  for (let at = start; at < end; at++) {
    const own = charKindOf(codes[at] ?? 0)
    if ((before & kind.small) !== 0 && (own & kind.capital) !== 0) return true
    if ((before & kind.letter) !== 0 && (own & kind.digit) !== 0) return true
    if ((before & kind.digit) !== 0 && (own & kind.letter) !== 0) return true
    if (isJoined && (own & ofWords) !== 0) return true
    isJoined = codes[at] === 0x5f && (before & ofWords) !== 0
    before = own
  }
  return false
}

const isDigit = (code: number): boolean => (charKindOf(code) & kind.digit) !== 0
const isCurrency = (code: number): boolean => code === 0x24 || code === 0x20ac || code === 0xa3
const isWithinNumber = (code: number): boolean => code === 0x2e || code === 0x2c || code === 0x3a || code === 0x2f

/** Same for numbers; no letter is next to a digit any more. */
function writeWithoutNumbers(from: Uint16Array, length: number, to: Uint16Array): number {
  let written = 0
  for (let at = 0; at < length; ) {
    const code = from[at] ?? 0
    const end = isDigit(code) && (at === 0 || !isOfWord(from[at - 1] ?? 0)) ? numberEnd(from, length, at) : at
    if (end === at) {
      to[written++] = code
      at++
      continue
    }
    const hasCurrency = at > 0 && isCurrency(from[at - 1] ?? 0) && (at === 1 || !isOfWord(from[at - 2] ?? 0))
    written = writeCodes(to, hasCurrency ? written - 1 : written, numberMask)
    at = end
  }
  return written
}

/** Returns the end of the number that starts at an offset, or that offset if there is none. */
function numberEnd(codes: Uint16Array, length: number, start: number): number {
  let end = digitsEnd(codes, length, start)
  while (end > start && end + 1 < length && isWithinNumber(codes[end] ?? 0)) {
    const next = digitsEnd(codes, length, end + 1)
    if (next === end + 1) break
    end = next
  }
  const isShare = end > start && end < length && codes[end] === 0x25
  return isShare && (end + 1 === length || !isOfWord(codes[end + 1] ?? 0)) ? end + 1 : end
}

/** Returns the end of a run of digits, or its start if another word character follows. */
function digitsEnd(codes: Uint16Array, length: number, start: number): number {
  let end = start
  while (end < length && isDigit(codes[end] ?? 0)) end++
  return end < length && isOfWord(codes[end] ?? 0) ? start : end
}

/** Same test as `inner`. */
function hasInnerName(codes: Uint16Array, length: number): boolean {
  for (let at = 0; at + 1 < length; at++) {
    if (codes[at] !== 0x20) continue
    const next = charKindOf(codes[at + 1] ?? 0)
    if ((next & kind.capital) !== 0 && at > 0 && (charKindOf(codes[at - 1] ?? 0) & kind.blank) === 0) return true
    if ((next & kind.consonant) !== 0 && isAlone(codes, length, at + 1)) return true
  }
  return false
}

/** Same test as `isInTitleCase`. */
function isTitleCase(codes: Uint16Array, length: number): boolean {
  let words = 0
  let capitals = 0
  for (let at = 0; at < length; at++) {
    const start = at
    while (at < length && (charKindOf(codes[at] ?? 0) & kind.letter) !== 0) at++
    if (at - start < minTitleWords) continue
    words++
    if ((charKindOf(codes[start] ?? 0) & kind.capital) !== 0) capitals++
  }
  return words >= minTitleWords && capitals > 0.7 * words
}
const minTitleWords = 4

const isApostrophe = (code: number): boolean => code === 0x27 || code === 0x2019
const mayPrecedeName = (code: number): boolean =>
  (charKindOf(code) & ofWords) !== 0 ||
  isApostrophe(code) ||
  code === 0x2c ||
  code === 0x3b ||
  code === 0x22 ||
  code === 0x29

/** Maximum length of a name; a longer one is left to the patterns. */
const maxName = 40

/** Same for names. */
function writeWithoutNames(from: Uint16Array, length: number, to: Uint16Array): number {
  let written = 0
  for (let at = 0; at < length; ) {
    const mayStart = at > 1 && from[at - 1] === 0x20 && mayPrecedeName(from[at - 2] ?? 0)
    const end = mayStart ? nameEnd(from, length, at) : at
    if (end < 0) return -1
    if (end === at || isNoName(from, at, end)) to[written++] = from[at++] ?? 0
    else {
      written = writeCodes(to, written, nameMask)
      at = end
    }
  }
  return written
}

/** Returns the end of the name that starts at an offset, or that offset if there is none; -1 if only the patterns can decide. */
function nameEnd(codes: Uint16Array, length: number, start: number): number {
  const first = charKindOf(codes[start] ?? 0)
  if ((first & (kind.capital | kind.consonant)) === 0) return start
  let end = start + 1
  const isLong = (first & kind.capital) !== 0 && end < length && (charKindOf(codes[end] ?? 0) & kind.small) !== 0
  if (isLong) while (end < length && isOfName(codes[end] ?? 0)) end++
  if (end - start > maxName) return -1
  const next = end < length ? (codes[end] ?? 0) : 0
  if ((charKindOf(next) & ofWords) === 0 && !isApostrophe(next)) return end
  return isLong ? -1 : start
}
const isOfName = (code: number): boolean =>
  (charKindOf(code) & kind.letter) !== 0 || isApostrophe(code) || code === 0x2d

/** True if a capitalized word is no name: "I", or a word of the word table. */
function isNoName(codes: Uint16Array, start: number, end: number): boolean {
  if (end === start + 1 && codes[start] === 0x49) return true
  for (let at = start; at < end; at++) {
    const code = codes[at] ?? 0
    if (code >= 128) return hasClass(lowered(textOfCodes(codes, start, end)))
    small[at - start] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code
  }
  return isClassed(small, 0, end - start)
}
/** Buffer for a name in lower case, which is at most this long. */
const small = new Uint16Array(maxName + 2)
