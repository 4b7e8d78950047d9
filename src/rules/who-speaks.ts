import { lazy } from "../language/lazy.ts"
import { lowered } from "../language/letters.ts"
import { anyOf } from "../language/word-lists.ts"
import type { Span } from "../message/message.ts"
import { speakerBias, speakerWeightStep, speakerWeights } from "./generated/speaker-weights.ts"
import { asksAboutEarlier, onlyTells } from "./introductions.ts"
import words from "./rule-words.json" with { type: "json" }
import {
  firstNonBlank,
  formOfLine,
  type LineForm,
  lastNonBlank,
  maxSpoken,
  readSpoken,
  spokenCodes,
  spokenEnds,
  spokenStarts,
} from "./spoken-words.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"
import { hashFactor, hashStart, isKnownWord } from "./word-facts.ts"

/**
 * Decides who speaks in a sentence of a user's message: the user, or somebody whose text is pasted, quoted or retold. Such text need not be
 * marked, so the context of the sentence decides: the line before it, a question after it, the form of its line and of the neighbouring
 * lines.
 */

/**
 * Scores above which somebody else speaks, the lowest first: in a message of one line, in one of several lines, and beside a paste that the
 * form of the message shows.
 */
export const [onOneLine, surelyAnothers, surelyPasted]: readonly [number, number, number] = [0.25, 1.07, 3]

/** Below this score the user speaks, whatever words introduce the sentence. */
export const surelyOwn = -1.5

/** True if a text may have two speakers. One line without a separator has only one. */
export const hasRoomForTwo = (text: string): boolean => separator.test(text) || severalSentences.test(text)
const severalSentences = /[.!?] +\S/

/** True if the context of a sentence in the user's own words shows that somebody else says it. The text has passed `hasRoomForTwo`. */
export function isAnothers(text: string, sentence: Span, pages: readonly Span[]): boolean {
  if (isRetold(text, sentence) || isLabelled(text, sentence)) return true
  // A single line without a separator has one speaker, unless it ends with a question about what it tells.
  if (!separator.test(text) && !asksAtItsEnd(text, sentence.end)) return false
  const score = speakerScore(text, sentence)
  // Most sentences are the user's own wherever they stand.
  if (score <= onOneLine) return false
  if (!separator.test(text)) return score > (oneWord.test(text.slice(sentence.end)) ? surelyAnothers : surelyTold)
  // Where a paste was found beside the user's words, the speakers are told apart already.
  const isWhole = pages.length === 1 && pages[0]?.start === 0 && pages[0].end === text.length
  const isUnderLead = ruleLead.test(lineUpTo(text, sentence)) || rulesHeading.test(headingOver(text, sentence.start))
  // On one line somebody else can speak only after a separator.
  const isOneLine = !text.includes("\n") && separator.test(text.slice(0, sentence.end))
  const minScore = !isWhole
    ? isBelowQuestion(text, sentence)
      ? besideQuestion
      : surelyPasted
    : isUnderLead
      ? besideRuleLead
      : isOneLine
        ? onOneLine
        : surelyAnothers
  return score > minScore
}
/** Above this score somebody else speaks before a question on the same line, unless it is one word and so can be about nothing else. */
const surelyTold = 2
const oneWord = /^\s*\S+\s*$/
const asksAtItsEnd = (text: string, from: number): boolean => {
  const last = text.slice(from, from + maxTelling).trim()
  return /^[^.!?\n]{1,60}[?？]$/.test(last) && (asksAboutEarlier(lowered(last)) || !last.includes(" "))
}

/** True if the sentence before only says that somebody else said something. */
function isRetold(text: string, sentence: Span): boolean {
  const { start } = sentence
  const before = text.slice(Math.max(0, start - maxTelling), start).trimEnd()
  const end = /[.!:…]$/.test(before) ? before.length - 1 : before.length
  const from = Math.max(...[". ", "! ", "? ", "\n"].map((stop) => before.lastIndexOf(stop, end - 1)))
  const said = before.slice(from + 1, end).trim()
  return (
    said.length > 0 &&
    (from >= 0 || start <= maxTelling) &&
    onlyTells(lowered(said)) &&
    speakerScore(text, sentence) > besideTelling
  )
}
const maxTelling = 120
/** What somebody is said to have said is the user's own only if the speaker model is surer than elsewhere. */
const besideTelling = -2.5

/** True if a sentence starts with what may be a name, and the speaker model has the rest said by somebody else. */
function isLabelled(text: string, sentence: Span): boolean {
  const line = text.slice(text.lastIndexOf("\n", sentence.start - 1) + 1, sentence.end)
  const [whole = "", label = ""] = nameLabel.exec(line) ?? []
  if (whole === "" || !isName(label)) return false
  const rest = { start: Math.max(sentence.start, sentence.end - line.length + whole.length), end: sentence.end }
  if (rest.start >= rest.end) return false
  const minScore = /[→>—–-]\**\s*$/.test(whole) ? besideArrow : hasOtherName(text, line) ? 0 : surelyAnothers
  return speakerScore(text, rest) > minScore
}
/** A topic hardly ever stands before an arrow or a dash. */
const besideArrow = -1
/** Matches a word or two at the start of a line, and what separates a speaker from what he says. */
const nameLabel =
  /^\s{0,8}(?:[-*•]\s{1,4})?\*{0,2}@?(\p{L}[\p{L}\p{N}_.'’-]{0,24}(?: \p{Lu}[\p{L}.'’-]{0,24}){0,2})(?: \([^()\n]{1,30}\))?\*{0,2}(?:\s?(?:[:：→]|->)\*{0,2}| [—–-])\s{1,4}(?=\S)/u
/** True for words that messages rarely have: no topic, no identifier, nothing in capitals. */
const isName = (label: string): boolean =>
  !/\p{Ll}\p{Lu}|\p{Lu}{2}|\p{N}|_/u.test(label) &&
  label.split(" ").some((word) => !isKnownWord(word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "")))
const hasOtherName = (text: string, own: string): boolean =>
  text.length <= maxPart &&
  text
    .split("\n")
    .some((line) => !own.includes(line) && !line.includes(own) && isName(nameLabel.exec(line)?.[1] ?? "the"))

/** Matches a line that announces rules: they are the user's own as long as no paste is found. */
const ruleLead = new RegExp(`^\\W*(?:\\p{L}+ ){0,3}${anyOf(words.leadingIn)}(?![\\p{L}])[^:：\\n]{0,60}[:：]`, "iu")
const besideRuleLead = 2.5
/** True if the line above is a quoted question: who quotes it answers it. */
const isBelowQuestion = (text: string, { start }: Span): boolean =>
  quotedQuestion.test(text.slice(Math.max(0, start - maxQuoted), start))
const quotedQuestion = /(?:^|\n)[ \t]*(?:>|&gt;)[^\n]*[?？][ \t]*\n\s*[^\n>]*$/
const maxQuoted = 400
const besideQuestion = 4.5
const rulesHeading = new RegExp(`^(?:\\p{L}+ ){0,2}(?:${anyOf(words.leadingIn)}|${anyOf(words.headings)})\\W*$`, "iu")
/** Returns the heading of the section that an offset is in, if it is near: a long text is not searched again for each sentence. */
function headingOver(text: string, at: number): string {
  const near = text.slice(Math.max(0, at - maxPart), at)
  const start = near.startsWith("#") && at <= maxPart && !near.includes("\n#") ? 0 : near.lastIndexOf("\n#") + 1
  return start === 0 && !near.startsWith("#") ? "" : (heading.exec(near.slice(start, start + 80))?.[1] ?? "")
}
const heading = /^#{1,6} ([^\n]{2,60})\n/
const maxPart = 4000
const lineUpTo = (text: string, { start, end }: Span): string => text.slice(text.lastIndexOf("\n", start - 1) + 1, end)
/** Matches what can separate the words of two speakers. */
const separator = /(?<!\d):|:(?!\d)|[\n："“”„«»「—–→]| - |['‘]\p{L}/u

const table = lazy(() => ({
  levels: readLevels(speakerWeights, speakerTable),
  weights: weightsOfLevels(speakerWeightStep),
}))

/** Returns the log odds that somebody else speaks. */
export function speakerScore(text: string, sentence: Span): number {
  const { levels, weights } = table()
  findFeatures(text, sentence)
  let sum = 0
  for (let at = 0; at < length; at++) sum += weights[(levels[ids[at] ?? 0] ?? 0) + zeroLevel] ?? 0
  return speakerBias + sum / Math.sqrt(length)
}

/** Returns the features that tell who speaks in one sentence of a message, each once. */
export function speakerFeatures(text: string, sentence: Span): readonly number[] {
  findFeatures(text, sentence)
  return [...ids.subarray(0, length)]
}

/** Size of the table that features are hashed into. */
export const speakerTable = 1 << 14

/**
 * Features of the current sentence. `lastSentence` holds the number of the last sentence that had a feature, so that each is added once.
 */
const ids = new Uint16Array(speakerTable)
const lastSentence = new Int32Array(speakerTable)
let [length, sentences] = [0, 0]

/** Adds a feature by the hash of its name (FNV-1a), folded into the table. The hash of a longer name continues that of its prefix. */
function addFeature(hash: number): void {
  const id = ((hash >>> 15) ^ hash) & (speakerTable - 1)
  if (lastSentence[id] === sentences) return
  lastSentence[id] = sentences
  ids[length++] = id
}
function hashOf(name: string, before: number = hashStart): number {
  let hash = before
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), hashFactor)
  return hash
}
function hashOfWord(place: number, before: number): number {
  let hash = before
  for (let at = spokenStarts[place] ?? 0, end = spokenEnds[place] ?? 0; at < end; at++)
    hash = Math.imul(hash ^ (spokenCodes[at] ?? 0), hashFactor)
  return hash
}

/** Adds the words read last from `first` to `end`, and each together with the one before it if `pairs` is set. */
function addWords(tag: number, first: number, end: number, pairs: boolean): void {
  let before = hashOf("^", tag)
  for (let place = first; place < end; place++) {
    const own = hashOfWord(place, tag)
    addFeature(own)
    if (pairs) addFeature(hashOfWord(place, hashOf(" ", before)))
    before = own
  }
}

/** Hashes of the constant parts of feature names. */
const tags = {
  sentence: hashOf("s "),
  opening: hashOf("s0 "),
  before: hashOf("b "),
  after: hashOf("a "),
  own: hashOf("own "),
  up: { words: hashOf("p "), next: hashOf("p+ "), apart: hashOf("p| "), nothing: hashOf("p nothing") },
  down: { words: hashOf("n "), next: hashOf("n+ "), apart: hashOf("n| "), nothing: hashOf("n nothing") },
  head: hashOf("f "),
  tail: hashOf("l "),
  outside: hashOf("o "),
  inside: hashOf("k "),
  lines: hashOf("lines "),
  block: hashOf("block "),
  linesOutside: hashOf("outside "),
  asks: hashOf("asks true"),
  asksNot: hashOf("asks false"),
} as const
const marks = {
  colon: hashOf("b colon"),
  quote: hashOf("b quote"),
  nothingBefore: hashOf("b none"),
  before: hashOf("b some"),
  nothingAfter: hashOf("a none"),
  after: hashOf("a some"),
  isHead: hashOf("f own"),
  isTail: hashOf("l own"),
} as const

/** Adds the form of a line, and pairs of its properties. */
function addForm({ begins, last, size }: LineForm, tag: number): void {
  const beginning = hashOf(begins, hashOf("^", tag))
  const length = hashOf(size, hashOf("#", tag))
  addFeature(beginning)
  addFeature(hashOf(last, hashOf("$", tag)))
  addFeature(length)
  addFeature(hashOf(last, hashOf("$", beginning)))
  addFeature(hashOf(last, hashOf("$", length)))
}

/** Maximum number of characters looked at on either side of a sentence. */
const maxAround = 4_000
/** Maximum number of words read of the sentence, of the text before and after it on its line, and of another line. */
const [maxOwn, maxBeside, maxOfLine] = [24, 12, 16]

/** Start offsets of the lines around the sentence; after the last one the offset where the next line would start. */
let lines = new Int32Array(256)
let lineCount = 0

function findLines(text: string, from: number, to: number): void {
  lineCount = 0
  for (let start = from; ; ) {
    if (lineCount + 1 >= lines.length) {
      const longer = new Int32Array(2 * lines.length)
      longer.set(lines)
      lines = longer
    }
    lines[lineCount++] = start
    const end = text.indexOf("\n", start)
    if (end < 0 || end >= to) break
    start = end + 1
  }
  lines[lineCount] = to + 1
}
const lineStart = (line: number): number => lines[line] ?? 0
const lineEnd = (line: number): number => (lines[line + 1] ?? 0) - 1
const isBlank = (text: string, line: number): boolean =>
  line < 0 || line >= lineCount || firstNonBlank(text, lineStart(line), lineEnd(line)) === lineEnd(line)

/** Returns the line that an offset is on. */
function lineOf(place: number): number {
  let line = 0
  while (line + 1 < lineCount && lineEnd(line) < place) line++
  return line
}

function findFeatures(text: string, { start, end }: Span): void {
  length = 0
  sentences = (sentences + 1) | 0
  findLines(text, Math.max(0, start - maxAround), Math.min(text.length, end + maxAround))
  const [own, ownEnd] = [lineOf(start), lineOf(end)]
  sentenceFeatures(text, start, end, lineStart(own), lineEnd(ownEnd))
  addForm(formOfLine(text, lineStart(own), lineEnd(own)), tags.own)
  neighbourFeatures(text, own, -1)
  neighbourFeatures(text, ownEnd, 1)
  let [head, tail, spoken] = [-1, -1, 0]
  for (let line = 0; line < lineCount; line++) {
    if (isBlank(text, line)) continue
    if (head < 0) head = line
    tail = line
    spoken++
  }
  if (head >= 0 && lineEnd(head) < start) lineFeatures(text, head, tags.head)
  else addFeature(marks.isHead)
  if (tail >= 0 && lineStart(tail) > end) lineFeatures(text, tail, tags.tail)
  else addFeature(marks.isTail)
  blockFeatures(text, own, ownEnd, spoken)
}

/** Adds features for the sentence, and for the text before and after it on its line. */
function sentenceFeatures(text: string, start: number, end: number, from: number, to: number): void {
  const count = readSpoken(text, start, end, maxOwn)
  addWords(tags.sentence, 0, count, false)
  addWords(tags.opening, 0, Math.min(3, count), true)
  const before = readSpoken(text, from, start, maxOwn)
  addWords(tags.before, Math.max(0, before - maxBeside), before, true)
  addWords(tags.after, 0, readSpoken(text, end, to, maxBeside), true)
  const last = lastNonBlank(text, from, start)
  const char = last < from ? "" : text.charAt(last)
  if (char === ":" || char === "：") addFeature(marks.colon)
  if (char !== "" && opensQuote.includes(char)) addFeature(marks.quote)
  addFeature(char === "" ? marks.nothingBefore : marks.before)
  addFeature(firstNonBlank(text, end, to) >= to ? marks.nothingAfter : marks.after)
}
const opensQuote = "\"“„«'("

function lineFeatures(text: string, line: number, tag: number, other?: number): void {
  const [start, end] = [lineStart(line), lineEnd(line)]
  addWords(tag, 0, readSpoken(text, start, end, maxOfLine), true)
  const form = formOfLine(text, start, end)
  addForm(form, tag)
  // The same form under a second name.
  if (other !== undefined) addForm(form, other)
}

/** Adds features for the nearest line with text, and whether a blank line is between. */
function neighbourFeatures(text: string, from: number, step: -1 | 1): void {
  const { words, next, apart, nothing } = step < 0 ? tags.up : tags.down
  let line = from + step
  while (line >= 0 && line < lineCount && isBlank(text, line)) line += step
  if (line < 0 || line >= lineCount) addFeature(nothing)
  else lineFeatures(text, line, words, line === from + step ? next : apart)
}

/** Adds features for the lines of the sentence's paragraph, and for all other lines. */
function blockFeatures(text: string, own: number, ownEnd: number, spoken: number): void {
  let [top, bottom] = [own, ownEnd]
  while (!isBlank(text, top - 1)) top--
  while (!isBlank(text, bottom + 1)) bottom++
  const outside = linesFeatures(text, tags.outside, 0, top, bottom + 1, lineCount)
  const inside = linesFeatures(text, tags.inside, top, own, ownEnd + 1, bottom + 1)
  addFeature(hashOf(bucket(spoken), tags.lines))
  addFeature(hashOf(bucket(bottom - top + 1), tags.block))
  addFeature(hashOf(bucket(top + lineCount - bottom - 1), tags.linesOutside))
  addFeature(hashOf(inside ? " true" : " false", outside ? tags.asks : tags.asksNot))
}
const bucket = (count: number): string =>
  count <= 3 ? String(count) : count <= 6 ? "4-6" : count <= 12 ? "7-12" : "many"

/** Adds the words of two ranges of lines, and returns true if one of them has a question mark. */
function linesFeatures(text: string, tag: number, from: number, to: number, thenFrom: number, thenTo: number): boolean {
  const count = from < to ? readSpoken(text, lineStart(from), lineEnd(to - 1), maxSpoken) : 0
  const then = thenFrom < thenTo ? readSpoken(text, lineStart(thenFrom), lineEnd(thenTo - 1), maxSpoken, count) : count
  addWords(tag, 0, then, false)
  return asksBetween(text, from, to) || asksBetween(text, thenFrom, thenTo)
}
function asksBetween(text: string, from: number, to: number): boolean {
  if (from >= to) return false
  const part = text.slice(lineStart(from), lineEnd(to - 1))
  return part.includes("?") || part.includes("？")
}
