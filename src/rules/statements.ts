import { isAsciiLetter, textOfCodes } from "../language/letters.ts"
import { foldInPlace, foldSigns, normalizedText, survey } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import type { Span } from "../message/message.ts"
import type { Steps } from "../message/steps.ts"
import { blocksIn, linesOfText, type TextBlock } from "./find-blocks.ts"
import { type Maskable, maskableIn, masked, maskValues } from "./masks.ts"
import type { StatementView } from "./rule-model.ts"
import { scratchBuffer, scratchCodes } from "./sign-kinds.ts"
import { noReading, type Reading, readCodes, readWords, textMark } from "./word-classes.ts"
import { isOfRun } from "./word-facts.ts"

/** A sentence of a text with its position and context. */
export type Statement = Span & {
  readonly block: TextBlock
  /** Index of its block. */
  readonly at: number
  readonly view: StatementView
  /** Span of the heading, or of the line with a colon, that it stands under. */
  readonly over?: Span
}

/** True if a sentence ends in a colon; other punctuation may follow the colon. */
export const endsInColon = ({ marks }: Reading): boolean => (marks & textMark.endsInColon) !== 0

/** Normalizes a text as `normalize` does; only lowercases it if nothing in it needs more. */
function normalizedOf(text: string): string {
  const found = survey(text)
  const { foreign, escaped, dressed, spaced } = found
  const isPlain = !foreign && !escaped && !dressed && !spaced && !lookAlikes.test(text)
  return isPlain ? text.toLowerCase() : normalizedText(text, found)
}
/** Digits and symbols that may stand for letters. */
const lookAlikes = /[013457$@]/

/** ASCII characters whose presence means that a text needs normalizing. */
const needsNormalizing: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\\<>*~&_]/.test(String.fromCharCode(code)) || lookAlikes.test(String.fromCharCode(code))),
)
const isWordChar = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)

/** Number of single letters in a row, each one character from the next, that may be a word spaced out. */
const minAlone = 3

/** How a text can be read: only lowercased, with its blanks collapsed as well, or only with regular expressions. */
type Form = "plain" | "uneven" | "other"

/**
 * Classifies a text in one pass; what is uncertain is "other", which is read with regular expressions. `limit`: character codes from here
 * on are not folded yet.
 */
function formOf(codes: Uint16Array, length: number, limit = 128): Form {
  let [run, alone, gap] = [0, 0, 0]
  let isBlankBefore = false
  let form: Form = "plain"
  for (let at = 0; at < length; at++) {
    const code = codes[at] ?? 0
    if (code >= limit || (code < 128 && needsNormalizing[code] === 1)) return "other"
    const isBlank = code === 0x20 || isOtherBlank(code)
    if (isBlank && (isBlankBefore || code !== 0x20)) form = "uneven"
    isBlankBefore = isBlank
    if (isWordChar(code)) {
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
 * Kinds of ASCII characters on the fast path for plain sentences. A character that may have to be masked, folded or collapsed is 0, and
 * leaves the sentence to the slower path.
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
 * Returns the lowercased character codes of a sentence that needs nothing but lowercasing: nothing in it is masked (see `masks.ts`) or
 * folded, and single blanks separate its words. Undefined for other sentences. One pass.
 */
function plainCodes(text: string, start: number, end: number): Uint16Array | undefined {
  const codes = scratchBuffer(end - start)
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
        // Single letters in a row may be a word spaced out.
        alone = gap === 1 ? alone + 1 : 1
        isBehindBlank = isBlankBefore
        gap = 0
      } else alone = 0
      if (kind === capital) {
        codes[at - start] = code + 0x20
        if (before <= vowel || (isBlankBefore && at > start && !isPronounI(text, at, end))) return undefined
      } else codes[at - start] = code
      isBlankBefore = false
    } else {
      codes[at - start] = code
      // A single consonant after a blank counts as a name.
      if (run === 1 && (alone === minAlone || (before === consonant && isBehindBlank))) return undefined
      if (kind === apostrophe && run === 0) return undefined
      run = 0
      gap++
      if (code === 0x20 && isBlankBefore) return undefined
      isBlankBefore = code === 0x20
    }
    before = kind
  }
  return isBlankBefore || run === 1 ? undefined : codes
}

/** True for the word "I", which is no name. */
const isPronounI = (text: string, at: number, end: number): boolean =>
  text.charCodeAt(at) === 0x49 && (at + 1 === end || !isAsciiLetter(text.charCodeAt(at + 1)))

/** Reads a sentence for the model; most need nothing but lowercasing. */
function readSentence(text: string, start: number, end: number): Reading {
  if (end - start > maxRead)
    return readMasked(`${text.slice(start, start + maxRead / 2)} ${text.slice(end - maxRead / 2, end)}`)
  const plain = plainCodes(text, start, end)
  if (plain !== undefined) return readCodes(text.slice(start, end).toLowerCase(), plain)
  const codes = scratchCodes(text, start, end)
  const length = end - start
  const maskable = maskableIn(codes, length)
  if (maskable === "nothing") return readUnmasked(text.slice(start, end), codes)
  if (!hasUnspaced(codes, length))
    return maskable === "all" ? readMasked(text.slice(start, end)) : readWithoutValues(codes, length, maskable)
  const own = text.slice(start, end)
  return scriptBoundary.test(own) || maskable === "all"
    ? readMasked(own.replace(scriptBoundaries, " "))
    : readWithoutValues(codes, length, maskable)
}

/** True if a text has a character of a script without blanks between words. */
function hasUnspaced(codes: Uint16Array, length: number): boolean {
  for (let at = 0; at < length; at++) {
    const code = codes[at] ?? 0
    if (code > lastLatin && isOfRun(code)) return true
  }
  return false
}
const lastLatin = 0x24f

/** Matches where a script without blanks meets ASCII letters or digits: they are separate words, and only the latter may be masked. */
const scriptBoundary =
  /(?<=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])/
const scriptBoundaries = new RegExp(scriptBoundary.source, "g")

/** Reads a sentence after masking whatever needs it. */
function readMasked(sentence: string): Reading {
  const maskable = maskableIn(scratchCodes(sentence, 0, sentence.length), sentence.length)
  const own = maskable === "all" ? masked(sentence) : sentence
  const codes = scratchCodes(own, 0, own.length)
  return maskable === "nothing" ? readUnmasked(own, codes) : readWithoutValues(codes, own.length, maskable)
}

/** Reads a sentence of which only values are masked: identifiers, numbers and names. */
function readWithoutValues(codes: Uint16Array, length: number, maskable: Maskable): Reading {
  const own = maskValues(codes, length, maskable)
  const left = own.signs
  return formOf(left, own.length) === "other"
    ? readNormalized(textOfCodes(left, 0, own.length))
    : readCollapsed(left, own.length)
}

/** Lowercases ASCII letters and collapses blanks in place; returns the new length. */
function lowercaseAndCollapse(codes: Uint16Array, length: number): number {
  let written = 0
  let isBlankBefore = true
  for (let at = 0; at < length; at++) {
    const code = codes[at] ?? 0
    const isBlank = code === 0x20 || isOtherBlank(code)
    if (isBlank && isBlankBefore) continue
    isBlankBefore = isBlank
    codes[written++] = isBlank ? 0x20 : code >= 0x41 && code <= 0x5a ? code + 0x20 : code
  }
  return written > 0 && isBlankBefore ? written - 1 : written
}

/** Reads a sentence in which nothing has to be masked any more. */
function readUnmasked(sentence: string, codes: Uint16Array): Reading {
  const form = formOf(codes, sentence.length)
  if (form === "other") return readNormalized(sentence)
  if (form === "uneven") return readCollapsed(codes, sentence.length)
  const low = sentence.toLowerCase().trim()
  if (low.length !== sentence.length) return readWords(low)
  for (let at = 0; at < low.length; at++) {
    const code = codes[at] ?? 0
    if (code >= 0x41 && code <= 0x5a) codes[at] = code + 0x20
  }
  return readCodes(low, codes)
}

function readCollapsed(codes: Uint16Array, length: number): Reading {
  const left = lowercaseAndCollapse(codes, length)
  return readCodes(textOfCodes(codes, 0, left), codes)
}

/**
 * Reads a sentence with characters outside ASCII or to be normalized: once folded most are plain, and the rest is read with regular
 * expressions.
 */
function readNormalized(sentence: string): Reading {
  const codes = scratchCodes(sentence, 0, sentence.length)
  if (foreign.test(sentence)) {
    if (foldInPlace(codes, sentence.length)) {
      if (formOf(codes, sentence.length, allCodes) !== "other") return readCollapsed(codes, sentence.length)
    } else {
      const bare = foldSigns(sentence)
      const left = scratchCodes(bare, 0, bare.length)
      if (foldInPlace(left, bare.length) && formOf(left, bare.length, allCodes) !== "other")
        return readCollapsed(left, bare.length)
    }
  }
  const apart = normalizedOf(sentence)
  // Folding takes Korean syllables apart, but the word table has whole syllables.
  const seen = jamo.test(apart) ? apart.normalize("NFC") : apart
  return readWords((unevenBlanks.test(seen) ? seen.replace(/[\s_]+/g, " ") : seen).trim())
}
const allCodes = 1 << 16
const foreign = /[^\0-\x7f]/
const jamo = /[\u1100-\u11ff]/
const unevenBlanks = /[^\S ]|_| {2}/

/** Maximum number of characters read of a sentence: half of them at its start, half at its end. */
const maxRead = 1200

/** Maximum number of sentences read of one text; a file of rules has hundreds. */
const maxStatements = 20_000
/** Minimum length in characters of a sentence in ASCII. */
const minLength = 4

/** Number of sentences read in one step; it takes about a millisecond. */
const readAtOnce = 32

/** Returns the sentences of a part of a text in order. `keyed`: lines may be a key with a quoted string. */
export function statementsIn(text: string, page: Span, keyed: boolean): readonly Statement[] {
  const found = foundIn(text, page, keyed)
  const readings: Reading[] = []
  readSome(text, found, readings, found.length)
  return withViews(found, readings, keyed ? 0 : found.length)
}

/** Same as `statementsIn`, in steps. */
export function* statementsInSteps(text: string, page: Span, keyed: boolean): Steps<readonly Statement[]> {
  const found = foundIn(text, page, keyed)
  const readings: Reading[] = []
  while (readings.length < found.length) {
    yield
    readSome(text, found, readings, readAtOnce)
  }
  return withViews(found, readings, keyed ? 0 : found.length)
}

/** A sentence and its position, before it is read. */
type LocatedSentence = Omit<Statement, "view">

function foundIn(text: string, page: Span, keyed: boolean): readonly LocatedSentence[] {
  const blocks = blocksIn(linesOfText(text, page, keyed))
  const found: LocatedSentence[] = []
  for (let at = 0; at < blocks.length && found.length < maxStatements; at++) {
    const block = blocks[at]
    if (block === undefined) break
    const spans = block.kind === "row" || block.kind === "heading" ? [block] : sentencesIn(text, block)
    for (const { start, end } of spans)
      if (end - start >= minLength || foreign.test(text.slice(start, end))) found.push({ start, end, block, at })
  }
  return found
}

/** Reads the next `count` sentences. */
function readSome(text: string, found: readonly LocatedSentence[], readings: Reading[], count: number): void {
  const end = Math.min(found.length, readings.length + count)
  for (let n = readings.length; n < end; n++) {
    const sentence = found[n]
    if (sentence !== undefined) readings.push(readSentence(text, sentence.start, sentence.end))
  }
}

function withViews(
  found: readonly LocatedSentence[],
  readings: readonly Reading[],
  crowd: number,
): readonly Statement[] {
  let items = 0
  if (crowd > 0) for (const { block } of found) if (block.kind === "item") items++
  let headings: Map<number, Reading> | undefined
  let lead: number | undefined
  const statements: Statement[] = []
  for (let n = 0; n < found.length; n++) {
    const statement = found[n]
    if (statement === undefined) break
    const { start, end, block, at } = statement
    const own = readings[n] ?? noReading
    const isHeading = block.kind === "heading"
    if (isHeading) {
      headings ??= new Map()
      headings.set(block.start, own)
    }
    const opened = lead === undefined ? undefined : found[lead]
    if (opened !== undefined && !leads(opened, statement)) lead = undefined
    const led = lead
    const under = block.under === undefined ? noReading : (headings?.get(block.under.start) ?? noReading)
    const over = led === undefined ? under : (readings[led] ?? noReading)
    const isBehind = n > 0 && (found[n - 1]?.at === at || found[n - 1]?.at === at - 1)
    const before = isBehind && led !== n - 1 ? (readings[n - 1] ?? noReading) : noReading
    const after = n + 1 < found.length && found[n + 1]?.at === at ? (readings[n + 1] ?? noReading) : noReading
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
      gist: crowd === 0 || n === 0 ? noReading : (readings[0] ?? noReading),
    }
    statements.push(
      place === undefined || isHeading
        ? { start, end, block, at, view }
        : { start, end, block, at, view, over: { start: place.start, end: place.end } },
    )
  }
  return statements
}

/** True if a line that ends in a colon leads into this sentence: into the list below it, or into its paragraph. */
function leads(lead: LocatedSentence, { block, at }: LocatedSentence): boolean {
  if (block.kind === "heading") return false
  if (block.kind === "item") return lead.block.kind !== "item" || at === lead.at || block.indent > lead.block.indent
  return at <= lead.at + 1
}
