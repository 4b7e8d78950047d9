import { isAsciiLetter, textOfCodes } from "../language/letters.ts"
import { foldInPlace, foldSigns, normalizedText, survey } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import type { Span } from "../message/message.ts"
import type { Steps } from "../message/steps.ts"
import { blocksIn, linesOfText, type TextBlock } from "./find-blocks.ts"
import { type Maskable, maskableIn, masked, maskValues } from "./masks.ts"
import type { StatementView } from "./rule-model.ts"
import { signsFor, signsOf } from "./sign-kinds.ts"
import { noReading, type Reading, readSigns, readWords, textMark } from "./word-classes.ts"
import { isOfRun } from "./word-facts.ts"

/** A sentence of a text, and where it stands. */
export type Statement = Span & {
  readonly block: TextBlock
  /** The number of its block. */
  readonly at: number
  readonly view: StatementView
  /** The heading or the line with a colon that it stands under. */
  readonly over?: Span
}

/** Does a sentence end in a colon, or in signs behind one? */
export const endsInColon = ({ marks }: Reading): boolean => (marks & textMark.endsInColon) !== 0

/** As `normalize` has it, which changes only the case of a text without a sign of anything else. */
function folded(text: string): string {
  const found = survey(text)
  const { foreign, escaped, dressed, spaced } = found
  const isPlain = !foreign && !escaped && !dressed && !spaced && !lookAlikes.test(text)
  return isPlain ? text.toLowerCase() : normalizedText(text, found)
}
/** Digits and signs that may stand for letters. */
const lookAlikes = /[013457$@]/

/** Signs of ASCII for which a text is not read in its own letters. */
const odd: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\\<>*~&_]/.test(String.fromCharCode(code)) || lookAlikes.test(String.fromCharCode(code))),
)
const isWordSign = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)

/** So many letters alone, each one sign from the next, may be a word spaced out. */
const minAlone = 3

/** Is a text read as it stands but for its case, with its blanks made even as well, or only with patterns? */
type Form = "plain" | "uneven" | "other"

/**
 * One pass over a text of ASCII, or over one whose other signs are folded already; what it is not sure of is looked at with patterns. `limit`:
 * signs from which on they are not folded.
 */
function formOf(signs: Uint16Array, length: number, limit = 128): Form {
  let [run, alone, gap] = [0, 0, 0]
  let isBlankBefore = false
  let form: Form = "plain"
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    if (code >= limit || (code < 128 && odd[code] === 1)) return "other"
    const isBlank = code === 0x20 || isOtherBlank(code)
    if (isBlank && (isBlankBefore || code !== 0x20)) form = "uneven"
    isBlankBefore = isBlank
    if (isWordSign(code)) {
      alone = ++run > 1 ? 0 : gap === 1 ? alone + 1 : 1
      if (alone === minAlone) return "other"
      gap = 0
    } else {
      run = 0
      gap++
    }
  }
  return form
}

const isOtherBlank = (code: number): boolean => code >= 0x09 && code <= 0x0d

/**
 * What signs of ASCII are to whoever looks for a plain sentence. What may have to be put aside, folded or made even is zero, and is left to
 * the closer look.
 */
const [consonant, vowel, capital, apostrophe, stop, sign] = [1, 2, 3, 4, 5, 6]
const plainKinds: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const own = String.fromCharCode(code)
  if (/[b-df-hj-np-tv-xz]/.test(own)) return consonant
  if (/[a-z]/.test(own)) return vowel
  if (/[A-Z]/.test(own)) return capital
  if (own === "'") return apostrophe
  if (own === ".") return stop
  return /[ ,;:!?()#%+=|{}-]/.test(own) ? sign : 0
})

/**
 * The signs of a stretch of a text in small letters, if it is read as it stands but for its case: nothing in it is put aside (see `masks.ts`)
 * or folded, and one blank stands between two words. One pass.
 */
function plainSigns(text: string, start: number, end: number): Uint16Array | undefined {
  const signs = signsFor(end - start)
  let before = sign
  let isBlankBefore = true
  let isBehindBlank = true
  let [run, alone, gap] = [0, 0, 0]
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (plainKinds[code] ?? 0) : 0
    if (kind === 0) return undefined
    if (kind <= capital) {
      if (before === stop) return undefined
      if (++run === 1) {
        // Letters alone: of a word that is spaced out.
        alone = gap === 1 ? alone + 1 : 1
        isBehindBlank = isBlankBefore
        gap = 0
      } else alone = 0
      if (kind === capital) {
        signs[at - start] = code + 0x20
        if (before <= vowel || (isBlankBefore && at > start && !isSpeaker(text, at, end))) return undefined
      } else signs[at - start] = code
      isBlankBefore = false
    } else {
      signs[at - start] = code
      // A letter alone behind a blank is a name.
      if (run === 1 && (alone === minAlone || (before === consonant && isBehindBlank))) return undefined
      if (kind === apostrophe && run === 0) return undefined
      run = 0
      gap++
      if (code === 0x20 && isBlankBefore) return undefined
      isBlankBefore = code === 0x20
    }
    before = kind
  }
  return isBlankBefore || run === 1 ? undefined : signs
}

/** "I" by itself is no name. */
const isSpeaker = (text: string, at: number, end: number): boolean =>
  text.charCodeAt(at) === 0x49 && (at + 1 === end || !isAsciiLetter(text.charCodeAt(at + 1)))

/** A sentence as the model reads it: most are read as they stand but for their case. */
function readOf(text: string, start: number, end: number): Reading {
  if (end - start > maxRead)
    return readFolded(`${text.slice(start, start + maxRead / 2)} ${text.slice(end - maxRead / 2, end)}`)
  const plain = plainSigns(text, start, end)
  if (plain !== undefined) return readSigns(text.slice(start, end).toLowerCase(), plain)
  const signs = signsOf(text, start, end)
  const length = end - start
  const maskable = maskableIn(signs, length)
  if (maskable === "nothing") return readMasked(text.slice(start, end), signs)
  if (!hasUnspaced(signs, length))
    return maskable === "all" ? readFolded(text.slice(start, end)) : readWithoutValues(signs, length, maskable)
  const own = text.slice(start, end)
  return beside.test(own) || maskable === "all"
    ? readFolded(own.replace(everyBeside, " "))
    : readWithoutValues(signs, length, maskable)
}

/** Is there a sign of a script without blanks? */
function hasUnspaced(signs: Uint16Array, length: number): boolean {
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    if (code > lastLatin && isOfRun(code)) return true
  }
  return false
}
const lastLatin = 0x24f

/** Where a script without blanks meets digits or letters of ASCII: they are no one word, and only the latter may be put aside. */
const beside =
  /(?<=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])/
const everyBeside = new RegExp(beside.source, "g")

/** The same with whatever needs it put aside. */
function readFolded(sentence: string): Reading {
  const maskable = maskableIn(signsOf(sentence, 0, sentence.length), sentence.length)
  const own = maskable === "all" ? masked(sentence) : sentence
  const signs = signsOf(own, 0, own.length)
  return maskable === "nothing" ? readMasked(own, signs) : readWithoutValues(signs, own.length, maskable)
}

/** The same for signs of which only values are put aside. */
function readWithoutValues(signs: Uint16Array, length: number, maskable: Maskable): Reading {
  const own = maskValues(signs, length, maskable)
  const left = own.signs
  return formOf(left, own.length) === "other"
    ? readUneven(textOfCodes(left, 0, own.length))
    : readEvened(left, own.length)
}

/** Small letters, and one blank where some stand, in the same array; returns how many signs are left. */
function evened(signs: Uint16Array, length: number): number {
  let written = 0
  let isBlankBefore = true
  for (let at = 0; at < length; at++) {
    const code = signs[at] ?? 0
    const isBlank = code === 0x20 || isOtherBlank(code)
    if (isBlank && isBlankBefore) continue
    isBlankBefore = isBlank
    signs[written++] = isBlank ? 0x20 : code >= 0x41 && code <= 0x5a ? code + 0x20 : code
  }
  return written > 0 && isBlankBefore ? written - 1 : written
}

/** The same for a sentence of which nothing is put aside. */
function readMasked(sentence: string, signs: Uint16Array): Reading {
  const form = formOf(signs, sentence.length)
  if (form === "other") return readUneven(sentence)
  if (form === "uneven") return readEvened(signs, sentence.length)
  const low = sentence.toLowerCase().trim()
  if (low.length !== sentence.length) return readWords(low)
  for (let at = 0; at < low.length; at++) {
    const code = signs[at] ?? 0
    if (code >= 0x41 && code <= 0x5a) signs[at] = code + 0x20
  }
  return readSigns(low, signs)
}

function readEvened(signs: Uint16Array, length: number): Reading {
  const left = evened(signs, length)
  return readSigns(textOfCodes(signs, 0, left), signs)
}

/** The same for one with more than letters of ASCII: once its signs are folded most are plain, and the rest is looked at with patterns. */
function readUneven(sentence: string): Reading {
  const signs = signsOf(sentence, 0, sentence.length)
  if (foreign.test(sentence)) {
    if (foldInPlace(signs, sentence.length)) {
      if (formOf(signs, sentence.length, allSigns) !== "other") return readEvened(signs, sentence.length)
    } else {
      const bare = foldSigns(sentence)
      const left = signsOf(bare, 0, bare.length)
      if (foldInPlace(left, bare.length) && formOf(left, bare.length, allSigns) !== "other")
        return readEvened(left, bare.length)
    }
  }
  const apart = folded(sentence)
  // Folding takes syllables of Korean apart, and what is known of them is known of the whole.
  const seen = jamo.test(apart) ? apart.normalize("NFC") : apart
  return readWords((unevenBlanks.test(seen) ? seen.replace(/[\s_]+/g, " ") : seen).trim())
}
const allSigns = 1 << 16
const foreign = /[^\0-\x7f]/
const jamo = /[\u1100-\u11ff]/
const unevenBlanks = /[^\S ]|_| {2}/

/** Characters of a sentence that are read: its point comes early or at its end. */
const maxRead = 1200

/** Sentences read of one text: a page of rules has hundreds. */
const maxStatements = 20_000
/** Nothing shorter says anything in Latin script. */
const minLength = 4

/** Sentences read in one step: about a millisecond. */
const readAtOnce = 32

/** The sentences of a stretch of a text in order. `keyed`: lines may have a name before them. */
export function statementsIn(text: string, page: Span, keyed: boolean): readonly Statement[] {
  const found = foundIn(text, page, keyed)
  const seen: Reading[] = []
  readSome(text, found, seen, found.length)
  return withViews(found, seen, keyed ? 0 : found.length)
}

/** The same in steps. */
export function* statementsInSteps(text: string, page: Span, keyed: boolean): Steps<readonly Statement[]> {
  const found = foundIn(text, page, keyed)
  const seen: Reading[] = []
  while (seen.length < found.length) {
    yield
    readSome(text, found, seen, readAtOnce)
  }
  return withViews(found, seen, keyed ? 0 : found.length)
}

/** Where a sentence stands. */
type Found = Omit<Statement, "view">

function foundIn(text: string, page: Span, keyed: boolean): readonly Found[] {
  const blocks = blocksIn(linesOfText(text, page, keyed))
  const found: Found[] = []
  for (let at = 0; at < blocks.length && found.length < maxStatements; at++) {
    const block = blocks[at]
    if (block === undefined) break
    const spans = block.kind === "row" || block.kind === "heading" ? [block] : sentencesIn(text, block)
    for (const { start, end } of spans)
      if (end - start >= minLength || foreign.test(text.slice(start, end))) found.push({ start, end, block, at })
  }
  return found
}

/** Reads the next sentences. */
function readSome(text: string, found: readonly Found[], seen: Reading[], count: number): void {
  const end = Math.min(found.length, seen.length + count)
  for (let n = seen.length; n < end; n++) {
    const sentence = found[n]
    if (sentence !== undefined) seen.push(readOf(text, sentence.start, sentence.end))
  }
}

function withViews(found: readonly Found[], seen: readonly Reading[], crowd: number): readonly Statement[] {
  let items = 0
  if (crowd > 0) for (const { block } of found) if (block.kind === "item") items++
  let headings: Map<number, Reading> | undefined
  let lead: number | undefined
  const statements: Statement[] = []
  for (let n = 0; n < found.length; n++) {
    const statement = found[n]
    if (statement === undefined) break
    const { start, end, block, at } = statement
    const own = seen[n] ?? noReading
    const isHeading = block.kind === "heading"
    if (isHeading) {
      headings ??= new Map()
      headings.set(block.start, own)
    }
    const opened = lead === undefined ? undefined : found[lead]
    if (opened !== undefined && !leads(opened, statement)) lead = undefined
    const led = lead
    const under = block.under === undefined ? noReading : (headings?.get(block.under.start) ?? noReading)
    const over = led === undefined ? under : (seen[led] ?? noReading)
    const isBehind = n > 0 && (found[n - 1]?.at === at || found[n - 1]?.at === at - 1)
    const before = isBehind && led !== n - 1 ? (seen[n - 1] ?? noReading) : noReading
    const after = n + 1 < found.length && found[n + 1]?.at === at ? (seen[n + 1] ?? noReading) : noReading
    if (!isHeading && endsInColon(own)) lead = n
    const place = led === undefined ? block.under : found[led]
    const view = {
      own,
      over: isHeading ? noReading : over,
      before,
      after,
      isItem: block.kind === "item",
      isFirst: n === 0,
      isLast: n === found.length - 1,
      crowd,
      items,
      gist: crowd === 0 || n === 0 ? noReading : (seen[0] ?? noReading),
    }
    statements.push(
      place === undefined || isHeading
        ? { start, end, block, at, view }
        : { start, end, block, at, view, over: { start: place.start, end: place.end } },
    )
  }
  return statements
}

/** Does a line that ends in a colon lead into this one: into the list behind it, or into the paragraph? */
function leads(lead: Found, { block, at }: Found): boolean {
  if (block.kind === "heading") return false
  if (block.kind === "item") return lead.block.kind !== "item" || at === lead.at || block.indent > lead.block.indent
  return at <= lead.at + 1
}
