import { textOfCodes } from "../language/letters.ts"
import { signKind as kind, kindTable, learnKind, ofWords, quotes, signsOf } from "./sign-kinds.ts"
import { isClassed } from "./word-classes.ts"
import { codesOf } from "./word-facts.ts"

/**
 * What is put aside in a sentence before the model reads it: code, links, addresses, quotations, and then values: identifiers, numbers
 * and names. Which one it is says nothing of whether the sentence is a rule.
 */

const code = /`{1,3}[^`\n]{1,200}`{1,3}/g
const quoted =
  /(^|[\s(:,])(?:"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|„[^“”\n]{1,300}[“”]|「[^」\n]{1,200}」|『[^』\n]{1,200}』)/g
const apart = /(^|[\s(])'[^'\n]{2,200}'(?=$|[\s.,;:!?)])/g
const link = /\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)/g
const address = /\b(?:https?|ftp|s3):\/\/[^\s)>\]]{1,300}|\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g
const file = /(?<![\w/@])@?(?:[\w.-]{0,60}\/)+[\w.*-]{1,80}|(?<![\w.])[\w-]{1,60}\.(?:[a-z]{2,4}|[a-z]\d)\b(?!\.?\w)/gi

const signKindOf = (code: number): number => kindTable[code] || learnKind(code)

/** What a sentence may have to be put aside: nothing, names only, any values, or what stands between signs as well. */
export type Maskable = "nothing" | "names" | "values" | "all"

/** One pass instead of a search with each pattern: most sentences have none of the signs that these need. In doubt more is looked for. */
export function maskableIn(signs: Uint16Array, length: number): Maskable {
  let found: Maskable = "nothing"
  let before = 0
  let kindBefore: number = kind.known | kind.blank
  let kindTwoBefore = 0
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    const own = signKindOf(code)
    // Between signs: code, quotations, addresses; the two halves of a sign are looked at by the patterns alone.
    if ((own & kind.quote) !== 0 || code === 0x60 || code === 0x40 || (code >= 0xd800 && code <= 0xdfff)) return "all"
    if (code === 0x27 && ((kindBefore & kind.blank) !== 0 || before === 0x28)) return "all"
    if (code === 0x2f && at < length - 1) return "all"
    if (code === 0x28 && before === 0x5d) return "all"
    if (before === 0x2e && code < 128 && (own & kind.letter) !== 0) return "all"
    if ((own & kind.digit) !== 0 || code === 0x5f) found = "values"
    else if ((own & kind.capital) !== 0) {
      const isInner = before === 0x20 && (kindTwoBefore & kind.blank) === 0
      if ((kindBefore & kind.small) !== 0) found = "values"
      else if (found === "nothing" && isInner && !(code === 0x49 && isAlone(signs, length, at))) found = "names"
    } else if (found === "nothing" && (own & kind.consonant) !== 0 && before === 0x20 && isAlone(signs, length, at))
      found = "names"
    kindTwoBefore = kindBefore
    kindBefore = own
    before = code
  }
  return found
}

/** Does no letter follow? */
function isAlone(signs: Uint16Array, length: number, at: number): boolean {
  if (at + 1 >= length) return true
  const next = signs[at + 1] ?? 0
  return (signKindOf(next) & kind.letter) === 0
}

/** A sentence with code, links, addresses, paths and quotations put aside; each is looked for only where its signs are. */
export function masked(sentence: string): string {
  const bare = sentence.includes("`") ? sentence.replace(code, codeAside) : sentence
  const linked = bare.includes("](") ? bare.replace(link, " $1 ") : bare
  const addressed = /:\/\/|@/.test(linked) ? linked.replace(address, " qlink ") : linked
  const named = /[./]/.test(addressed.slice(0, -1)) ? addressed.replace(file, pathAside) : addressed
  const said = quotes.test(named) ? named.replace(quoted, "$1 qquote ") : named
  return said.includes("'") ? said.replace(apart, "$1 qquote ") : said
}
/** Files that hold what an agent is told to heed, and records of what was said to it: which of them it is says more than that it is a file. */
const ruleFile =
  /(?:^|[/\\`])\.?(?:claude|agents?|gemini|rules?|conventions?|memory|guidelines?|instructions|copilot-instructions|cursorrules|windsurfrules|clinerules)(?:\.\w{2,4})?`*$/i
const talkFile = /(?:prompt|chat|conversation|dialog)[\w-]{0,30}\.\w{2,5}`*$/i
const asideFor = (text: string, plain: string): string =>
  ruleFile.test(text) ? " qrules " : talkFile.test(text) ? " qlog " : plain
const codeAside = (text: string): string => asideFor(text, " qcode ")
const pathAside = (text: string): string => asideFor(text, " qpath ")

const number = /(?<![\p{L}\p{N}_])[$€£]?\p{N}+(?:[.,:/]\p{N}+)*(?:\p{L}{1,3}|%)?(?![\p{L}\p{N}_])/gu
const identifier =
  /(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_]{0,60}(?:\p{Ll}\p{Lu}|\p{L}\p{N}|\p{N}\p{L}|[\p{L}\p{N}]_[\p{L}\p{N}]))[\p{L}\p{N}_]{2,100}(?:\(\))?/gu
/** A word with a capital behind another word, and letters that stand alone. */
const name = /(?<=[\p{L}\p{N},;'’")] )(?:\p{Lu}(?:\p{Ll}[\p{L}'’-]{0,40})?|[b-df-hj-np-tv-xz])(?![\p{L}\p{N}'’])/gu

/**
 * Numbers, identifiers and names put aside, with patterns. A word with a capital that does something in a sentence keeps its place, and
 * where most words have capitals they are no sign of a name.
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

const isOfWord = (code: number): boolean => (signKindOf(code) & ofWords) !== 0 || code === 0x5f

/** A stretch of signs: as many of the array as `length` says. */
type Signs = { readonly signs: Uint16Array; readonly length: number }

/** Two arrays in turn: each step reads one and writes the other. They are used again for the next sentence. */
let [one, other] = [new Uint16Array(0), new Uint16Array(0)]
/** No sign becomes more than this many: a number of one digit is put aside as six signs. */
const maxGrowth = 6

/**
 * The same as `withoutValues`, sign by sign. `maskable` is what these very signs were found to have, or "all" where nobody looked. The signs
 * that it returns are used again for the next sentence.
 */
export function maskValues(signs: Uint16Array, length: number, maskable: Maskable = "all"): Signs {
  if (one.length < maxGrowth * length) {
    one = new Uint16Array(2 * maxGrowth * length)
    other = new Uint16Array(2 * maxGrowth * length)
  }
  const isCoded = maskable === "values" || (maskable === "all" && mayHaveCode(signs, length))
  const called = isCoded ? writeWithoutIdentifiers(signs, length, one) : length
  const counted = isCoded && called >= 0 ? writeWithoutNumbers(one, called, other) : called
  const named = isCoded ? other : signs
  const mayName = maskable === "names" || counted < 0 || hasInnerName(named, counted)
  const isDone = counted >= 0 && (!mayName || isTitleCase(named, counted))
  if (isDone) return { signs: named, length: counted }
  const left = counted < 0 ? counted : writeWithoutNames(named, counted, one)
  if (left >= 0) return { signs: one, length: left }
  const text = withoutValues(textOfCodes(signs, 0, length))
  return { signs: signsOf(text, 0, text.length), length: text.length }
}

/** Can there be a number or an identifier, or a sign of two halves? Names alone are more often all that is put aside. */
function mayHaveCode(signs: Uint16Array, length: number): boolean {
  let before = 0
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    const own = signKindOf(code)
    if ((own & kind.digit) !== 0 || code === 0x5f || (code >= 0xd800 && code <= 0xdfff)) return true
    if ((own & kind.capital) !== 0 && (before & kind.small) !== 0) return true
    before = own
  }
  return false
}

/** Letters of a word from which on the patterns look at it. */
const maxWord = 60

const writeSigns = (to: Uint16Array, at: number, signs: Uint16Array): number => {
  for (let n = 0; n < signs.length; n++) to[at + n] = signs[n] ?? 0
  return at + signs.length
}
const [asideCode, asideNumber, asideName] = [codesOf(" qcode "), codesOf(" qnum "), codesOf("qname")]

/** Writes the signs with each identifier put aside, and returns how many; -1 where only the patterns can tell. */
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
      written = writeSigns(to, written, asideCode)
      at = from[end] === 0x28 && from[end + 1] === 0x29 && end + 1 < length ? end + 2 : end
    } else while (at < end) to[written++] = from[at++] ?? 0
  }
  return written
}

function wordEnd(signs: Uint16Array, length: number, start: number): number {
  let end = start
  while (end < length && isOfWord(signs[end] ?? 0)) end++
  return end
}

/** Does a word have a capital behind a small letter, a digit beside a letter, or an underscore within? */
function isIdentifier(signs: Uint16Array, start: number, end: number): boolean {
  let before = 0
  let isJoined = false
  for (let at = start; at < end; at++) {
    const own = signKindOf(signs[at] ?? 0)
    if ((before & kind.small) !== 0 && (own & kind.capital) !== 0) return true
    if ((before & kind.letter) !== 0 && (own & kind.digit) !== 0) return true
    if ((before & kind.digit) !== 0 && (own & kind.letter) !== 0) return true
    if (isJoined && (own & ofWords) !== 0) return true
    isJoined = signs[at] === 0x5f && (before & ofWords) !== 0
    before = own
  }
  return false
}

const isDigit = (code: number): boolean => (signKindOf(code) & kind.digit) !== 0
const isCurrency = (code: number): boolean => code === 0x24 || code === 0x20ac || code === 0xa3
const isWithinNumber = (code: number): boolean => code === 0x2e || code === 0x2c || code === 0x3a || code === 0x2f

/** The same for numbers; no letter stands beside a digit any more. */
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
    const hasSign = at > 0 && isCurrency(from[at - 1] ?? 0) && (at === 1 || !isOfWord(from[at - 2] ?? 0))
    written = writeSigns(to, hasSign ? written - 1 : written, asideNumber)
    at = end
  }
  return written
}

/** Where the number ends that starts at a place, or that place if none does. */
function numberEnd(signs: Uint16Array, length: number, start: number): number {
  let end = digitsEnd(signs, length, start)
  while (end > start && end + 1 < length && isWithinNumber(signs[end] ?? 0)) {
    const next = digitsEnd(signs, length, end + 1)
    if (next === end + 1) break
    end = next
  }
  const isShare = end > start && end < length && signs[end] === 0x25
  return isShare && (end + 1 === length || !isOfWord(signs[end + 1] ?? 0)) ? end + 1 : end
}

/** Where digits end that no other sign of a word follows, or where they start. */
function digitsEnd(signs: Uint16Array, length: number, start: number): number {
  let end = start
  while (end < length && isDigit(signs[end] ?? 0)) end++
  return end < length && isOfWord(signs[end] ?? 0) ? start : end
}

/** The same as `inner`. */
function hasInnerName(signs: Uint16Array, length: number): boolean {
  for (let at = 0; at + 1 < length; at++) {
    if (signs[at] !== 0x20) continue
    const next = signKindOf(signs[at + 1] ?? 0)
    if ((next & kind.capital) !== 0 && at > 0 && (signKindOf(signs[at - 1] ?? 0) & kind.blank) === 0) return true
    if ((next & kind.consonant) !== 0 && isAlone(signs, length, at + 1)) return true
  }
  return false
}

/** The same as `isInTitleCase`. */
function isTitleCase(signs: Uint16Array, length: number): boolean {
  let words = 0
  let capitals = 0
  for (let at = 0; at < length; at++) {
    const start = at
    while (at < length && (signKindOf(signs[at] ?? 0) & kind.letter) !== 0) at++
    if (at - start < minTitled) continue
    words++
    if ((signKindOf(signs[start] ?? 0) & kind.capital) !== 0) capitals++
  }
  return words >= minTitled && capitals > 0.7 * words
}
const minTitled = 4

const isApostrophe = (code: number): boolean => code === 0x27 || code === 0x2019
const mayPrecedeName = (code: number): boolean =>
  (signKindOf(code) & ofWords) !== 0 ||
  isApostrophe(code) ||
  code === 0x2c ||
  code === 0x3b ||
  code === 0x22 ||
  code === 0x29

/** Letters behind the first two of a name. */
const maxName = 40

/** The same for names. */
function writeWithoutNames(from: Uint16Array, length: number, to: Uint16Array): number {
  let written = 0
  for (let at = 0; at < length; ) {
    const mayStart = at > 1 && from[at - 1] === 0x20 && mayPrecedeName(from[at - 2] ?? 0)
    const end = mayStart ? nameEnd(from, length, at) : at
    if (end < 0) return -1
    if (end === at || keepsPlace(from, at, end)) to[written++] = from[at++] ?? 0
    else {
      written = writeSigns(to, written, asideName)
      at = end
    }
  }
  return written
}

/** Where the name ends that starts at a place, or that place if none does; -1 where only the patterns can tell. */
function nameEnd(signs: Uint16Array, length: number, start: number): number {
  const first = signKindOf(signs[start] ?? 0)
  if ((first & (kind.capital | kind.consonant)) === 0) return start
  let end = start + 1
  const isLong = (first & kind.capital) !== 0 && end < length && (signKindOf(signs[end] ?? 0) & kind.small) !== 0
  if (isLong) while (end < length && isOfName(signs[end] ?? 0)) end++
  if (end - start > maxName) return -1
  const next = end < length ? (signs[end] ?? 0) : 0
  if ((signKindOf(next) & ofWords) === 0 && !isApostrophe(next)) return end
  return isLong ? -1 : start
}
const isOfName = (code: number): boolean =>
  (signKindOf(code) & kind.letter) !== 0 || isApostrophe(code) || code === 0x2d

/** Is it no name for all its capital? */
function keepsPlace(signs: Uint16Array, start: number, end: number): boolean {
  if (end === start + 1 && signs[start] === 0x49) return true
  for (let at = start; at < end; at++) {
    const code = signs[at] ?? 0
    if (code >= 128) return hasClass(lowered(textOfCodes(signs, start, end)))
    small[at - start] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code
  }
  return isClassed(small, 0, end - start)
}
/** The small letters of a name, which is no longer. */
const small = new Uint16Array(maxName + 2)
