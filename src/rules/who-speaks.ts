import { lazy } from "../language/lazy.ts"
import { anyOf } from "../language/word-lists.ts"
import type { Span } from "../message/message.ts"
import { speakerBias, speakerWeightStep, speakerWeights } from "./generated/speaker-weights.ts"
import words from "./rule-words.json" with { type: "json" }
import {
  firstSign,
  formOfLine,
  type LineForm,
  lastSign,
  maxSpoken,
  readSpoken,
  spokenEnds,
  spokenSigns,
  spokenStarts,
} from "./spoken-words.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"
import { hashFactor, hashStart } from "./word-facts.ts"

/**
 * Who speaks in a sentence of a user's message: the user, or somebody whose text is pasted, quoted or retold. Nothing has to mark that text,
 * so what stands around the sentence tells it: the line before it, the question behind it, the form of its own line and of its neighbours.
 */

/** From these scores on it is somebody else: on one line, in a message of several, and beside a paste that the form of the message shows. */
export const [onOneLine, surelyAnothers, surelyPasted]: readonly [number, number, number] = [0.25, 1, 3]

/** Below this it is the user, whatever words lead up to it. */
export const surelyOwn = -1.5

/** Is there room for two speakers in a text? In one line without a joint there is not. */
export const hasRoomForTwo = (text: string): boolean => joint.test(text)

/** Is a sentence in the user's own words somebody else's by what stands around it, in a text with room for two? */
export function isAnothers(text: string, sentence: Span, pages: readonly Span[]): boolean {
  // Where a paste was found beside the user's words, who says what is known already.
  const isWhole = pages.length === 1 && pages[0]?.start === 0 && pages[0].end === text.length
  const isUnderLead = ruleLead.test(lineUpTo(text, sentence)) || rulesHeading.test(headingOver(text, sentence.start))
  // On one line somebody else has the word only behind a joint.
  const isOneLine = !text.includes("\n") && joint.test(text.slice(0, sentence.end))
  const least = !isWhole ? surelyPasted : isUnderLead ? besideLead : isOneLine ? onOneLine : surelyAnothers
  return speakerScore(text, sentence) > least
}
/** Who says on the same line that rules follow lays them down, as far as no paste is found. */
const ruleLead = new RegExp(`^\\W*(?:\\p{L}+ ){0,3}${anyOf(words.leadingIn)}(?![\\p{L}])[^:：\\n]{0,60}[:：]`, "iu")
const besideLead = 2.5
const rulesHeading = new RegExp(`^(?:\\p{L}+ ){0,2}(?:${anyOf(words.leadingIn)}|${anyOf(words.headings)})\\W*$`, "iu")
/** The heading of the part of a message in which a place is, if it is near: a long text is not gone through for each sentence. */
function headingOver(text: string, at: number): string {
  const near = text.slice(Math.max(0, at - maxPart), at)
  const start = near.startsWith("#") && at <= maxPart && !near.includes("\n#") ? 0 : near.lastIndexOf("\n#") + 1
  return start === 0 && !near.startsWith("#") ? "" : (heading.exec(near.slice(start, start + 80))?.[1] ?? "")
}
const heading = /^#{1,6} ([^\n]{2,60})\n/
const maxPart = 4000
const lineUpTo = (text: string, { start, end }: Span): string => text.slice(text.lastIndexOf("\n", start - 1) + 1, end)
/** Signs between what one says and what another does. */
const joint = /(?<!\d):|:(?!\d)|[\n："“”„«»「—–]| - |['‘]\p{L}/u

const table = lazy(() => ({
  levels: readLevels(speakerWeights, speakerTable),
  weights: weightsOfLevels(speakerWeightStep),
}))

/** How sure it is that somebody else speaks: the logarithm of the odds. */
export function speakerScore(text: string, sentence: Span): number {
  const { levels, weights } = table()
  findFeatures(text, sentence)
  let sum = 0
  for (let at = 0; at < length; at++) sum += weights[(levels[ids[at] ?? 0] ?? 0) + zeroLevel] ?? 0
  return speakerBias + sum / Math.sqrt(length)
}

/** What tells who speaks in one sentence of a message, each feature once. */
export function speakerFeatures(text: string, sentence: Span): readonly number[] {
  findFeatures(text, sentence)
  return [...ids.subarray(0, length)]
}

/** Features are hashed into a table of this size. */
export const speakerTable = 1 << 14

/** The features of the sentence that was looked at last. One is taken if the number of that sentence stands at its place. */
const ids = new Uint16Array(speakerTable)
const taken = new Int32Array(speakerTable)
let [length, sentences] = [0, 0]

/** A feature is known by the hash of its name (FNV-1a), folded into the table; a name goes on where a shorter one ends. */
function take(hash: number): void {
  const id = ((hash >>> 15) ^ hash) & (speakerTable - 1)
  if (taken[id] === sentences) return
  taken[id] = sentences
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
    hash = Math.imul(hash ^ (spokenSigns[at] ?? 0), hashFactor)
  return hash
}

/** Takes the words that were read last from one to another, and each with the one before it where pairs are asked for. */
function takeWords(tag: number, first: number, end: number, pairs: boolean): void {
  let before = hashOf("^", tag)
  for (let place = first; place < end; place++) {
    const own = hashOfWord(place, tag)
    take(own)
    if (pairs) take(hashOfWord(place, hashOf(" ", before)))
    before = own
  }
}

/** The names of features as far as they are the same for all words. */
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

/** The form of a line, and what of it goes together. */
function takeForm({ begins, last, size }: LineForm, tag: number): void {
  const beginning = hashOf(begins, hashOf("^", tag))
  const length = hashOf(size, hashOf("#", tag))
  take(beginning)
  take(hashOf(last, hashOf("$", tag)))
  take(length)
  take(hashOf(last, hashOf("$", beginning)))
  take(hashOf(last, hashOf("$", length)))
}

/** Characters of a message that are looked at on either side of a sentence. */
const maxAround = 4_000
/** Words that are read of the sentence, of what stands before and behind it on its line, and of another line. */
const [maxOwn, maxBeside, maxOfLine] = [24, 12, 16]

/** The lines around the sentence that is looked at: where each starts, and behind the last one where the next would. */
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
  line < 0 || line >= lineCount || firstSign(text, lineStart(line), lineEnd(line)) === lineEnd(line)

/** The line on which a place stands. */
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
  takeForm(formOfLine(text, lineStart(own), lineEnd(own)), tags.own)
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
  else take(marks.isHead)
  if (tail >= 0 && lineStart(tail) > end) lineFeatures(text, tail, tags.tail)
  else take(marks.isTail)
  blockFeatures(text, own, ownEnd, spoken)
}

/** The sentence, and what stands beside it on its line. */
function sentenceFeatures(text: string, start: number, end: number, from: number, to: number): void {
  const count = readSpoken(text, start, end, maxOwn)
  takeWords(tags.sentence, 0, count, false)
  takeWords(tags.opening, 0, Math.min(3, count), true)
  const before = readSpoken(text, from, start, maxOwn)
  takeWords(tags.before, Math.max(0, before - maxBeside), before, true)
  takeWords(tags.after, 0, readSpoken(text, end, to, maxBeside), true)
  const last = lastSign(text, from, start)
  const sign = last < from ? "" : text.charAt(last)
  if (sign === ":" || sign === "：") take(marks.colon)
  if (sign !== "" && opensQuote.includes(sign)) take(marks.quote)
  take(sign === "" ? marks.nothingBefore : marks.before)
  take(firstSign(text, end, to) >= to ? marks.nothingAfter : marks.after)
}
const opensQuote = "\"“„«'("

function lineFeatures(text: string, line: number, tag: number, other?: number): void {
  const [start, end] = [lineStart(line), lineEnd(line)]
  takeWords(tag, 0, readSpoken(text, start, end, maxOfLine), true)
  const form = formOfLine(text, start, end)
  takeForm(form, tag)
  // The same by another name.
  if (other !== undefined) takeForm(form, other)
}

/** The next line that says something, and whether a blank one stands between. */
function neighbourFeatures(text: string, from: number, step: -1 | 1): void {
  const { words, next, apart, nothing } = step < 0 ? tags.up : tags.down
  let line = from + step
  while (line >= 0 && line < lineCount && isBlank(text, line)) line += step
  if (line < 0 || line >= lineCount) take(nothing)
  else lineFeatures(text, line, words, line === from + step ? next : apart)
}

/** The lines that stand together with the sentence, and all others. */
function blockFeatures(text: string, own: number, ownEnd: number, spoken: number): void {
  let [top, bottom] = [own, ownEnd]
  while (!isBlank(text, top - 1)) top--
  while (!isBlank(text, bottom + 1)) bottom++
  const outside = linesFeatures(text, tags.outside, 0, top, bottom + 1, lineCount)
  const inside = linesFeatures(text, tags.inside, top, own, ownEnd + 1, bottom + 1)
  take(hashOf(bucket(spoken), tags.lines))
  take(hashOf(bucket(bottom - top + 1), tags.block))
  take(hashOf(bucket(top + lineCount - bottom - 1), tags.linesOutside))
  take(hashOf(inside ? " true" : " false", outside ? tags.asks : tags.asksNot))
}
const bucket = (count: number): string =>
  count <= 3 ? String(count) : count <= 6 ? "4-6" : count <= 12 ? "7-12" : "many"

/** Takes the words of two stretches of lines, and tells whether anything is asked in them. */
function linesFeatures(text: string, tag: number, from: number, to: number, thenFrom: number, thenTo: number): boolean {
  const count = from < to ? readSpoken(text, lineStart(from), lineEnd(to - 1), maxSpoken) : 0
  const then = thenFrom < thenTo ? readSpoken(text, lineStart(thenFrom), lineEnd(thenTo - 1), maxSpoken, count) : count
  takeWords(tag, 0, then, false)
  return asksBetween(text, from, to) || asksBetween(text, thenFrom, thenTo)
}
function asksBetween(text: string, from: number, to: number): boolean {
  if (from >= to) return false
  const said = text.slice(lineStart(from), lineEnd(to - 1))
  return said.includes("?") || said.includes("？")
}
