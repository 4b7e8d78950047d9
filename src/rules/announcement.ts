import { lazy } from "../language/lazy.ts"
import { announcementBias, announcementWeightStep, announcementWeights } from "./generated/announcement-weights.ts"
import { type StatementView, someHave } from "./rule-model.ts"
import { endsInColon } from "./statements.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"
import { type Reading, textMark } from "./word-classes.ts"
import { hashFactor, hashStart, lengthBits, lengthMask, wordField, wordFlag, wordLength } from "./word-facts.ts"
import { classSet, sharesClass } from "./word-table.ts"

/**
 * Decides whether the words before a sentence announce it as a standing rule: "House rule, been here for years: …", "One thing to
 * remember. …", a heading. What is announced need not sound like a rule, so the words of the announcement are weighed apart from the
 * sentence, whose own score is what they start from.
 */

/** Size of the table that features are hashed into. */
export const announcementTable: number = 1 << 14

/** Maximum number of words of an announcement, and of features. */
const maxLead = 24
const maxFeatures = 1024

const ids = new Uint16Array(maxFeatures)
const lastSentence = new Int32Array(announcementTable)
let [length, sentence] = [0, 0]

const mix = (one: number, two: number): number => {
  const mixed = Math.imul(one ^ ((two + 0x9e3779b9 + (one << 6) + (one >>> 2)) | 0), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

function add(kind: number, value: number): void {
  const hash = mix(Math.imul(kind, 0x27d4eb2f), value)
  const id = (hash ^ (hash >>> 15)) & (announcementTable - 1)
  if (lastSentence[id] === sentence || length === maxFeatures) return
  lastSentence[id] = sentence
  ids[length++] = id
}

/** Kinds of features. */
const kind = {
  word: 1,
  head: 2,
  pair: 3,
  ofClass: 4,
  classes: 5,
  source: 6,
  body: 7,
  crossed: 8,
  score: 9,
  shape: 10,
  wide: 11,
  back: 12,
} as const

/** Where an announcement stands: before a colon or a dash, in the line above, or in a heading. */
const source = { colon: 1, dash: 2, line: 3, heading: 4 } as const

/** Returns the offset of the colon or dash that ends the lead of a sentence, or its first word if it has no lead. */
function endOfLead({ words, first, end }: Reading): number {
  const last = Math.min(end - wordLength, first + maxLead * wordLength)
  let dash = first
  for (let at = first + wordLength; at < last; at += wordLength) {
    const flags = words[at + wordField.flags] ?? 0
    if ((flags & wordFlag.colon) !== 0) return at
    if ((flags & wordFlag.leadEnd) !== 0 && dash === first) dash = at
  }
  return dash
}

/** Classes of words in announcements, and those without which a line above a list announces nothing. */
const announcing = classSet("rule stress remember lasting scope general usual always")
const calling = classSet("rule stress remember lasting general usual always")

/** Finds the features of a sentence with its announcement; none if nothing announces it. */
function findFeatures({ own, over, after, isItem, isFirst, isLast }: StatementView, score: number): void {
  length = 0
  sentence = (sentence + 1) | 0
  const lead = endOfLead(own)
  const hasLead = lead > own.first
  const isColon = ((own.words[lead + wordField.flags] ?? 0) & wordFlag.colon) !== 0
  const isLine = endsInColon(over)
  const isUnder = over.text !== "" && over.count <= maxLead && (!isLine || sharesClass(over, calling))
  if (hasLead) leadFeatures(own, own.first, lead, isColon ? source.colon : source.dash)
  if (isUnder) leadFeatures(over, over.first, over.end, isLine ? source.line : source.heading)
  if (length === 0) return
  const isAnnounced =
    (hasLead && someHave(own.words, own.first, lead, announcing)) || (isUnder && sharesClass(over, announcing))
  bodyFeatures(own, hasLead ? lead + wordLength : own.first, isAnnounced)
  if (after.text !== "" && after.count <= maxLead) for (const of of after.classes) add(kind.back, of)
  add(kind.score, Math.max(-8, Math.min(6, Math.round(2 * score))))
  add(kind.shape, (isItem ? 1 : 0) + (isFirst ? 2 : 0) + (isLast ? 4 : 0))
}

function leadFeatures(reading: Reading, start: number, end: number, from: number): void {
  const { words, lists, text } = reading
  let before = hashStart
  const count = (end - start) / wordLength
  add(kind.source, from)
  add(kind.source, 16 + from * 8 + (count < 2 ? 0 : count < 4 ? 1 : count < 8 ? 2 : count < 14 ? 3 : 4))
  if ((reading.marks & (textMark.asks | textMark.asksWide)) !== 0) add(kind.source, 8 + from)
  for (let at = start; at < end; at += wordLength) {
    const hash = words[at + wordField.hash] ?? 0
    if (((words[at + wordField.flags] ?? 0) & wordFlag.unspaced) !== 0) {
      const head = words[at + wordField.head] ?? 0
      wideFeatures(text, head, head + (words[at + wordField.ending] ?? 0))
    } else {
      add(kind.word, hash)
      add(kind.pair, mix(before, hash))
      const head = words[at + wordField.head] ?? 0
      if (head !== 0) add(kind.head, head)
    }
    before = hash
    const list = words[at + wordField.list] ?? 0
    for (let n = list >> lengthBits, last = n + (list & lengthMask); n < last; n++) {
      const of = lists[n] ?? 0
      add(kind.ofClass, of)
      add(kind.ofClass, 64 * from + of)
    }
  }
  add(kind.pair, mix(before, from))
}

function wideFeatures(text: string, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    let hash = hashStart
    for (let to = at; to < Math.min(end, at + 3); to++) {
      hash = Math.imul(hash ^ text.charCodeAt(to), hashFactor)
      add(kind.wide, hash)
    }
  }
}

function bodyFeatures({ words, lists, end, marks }: Reading, start: number, isAnnounced: boolean): void {
  const announced = isAnnounced ? 64 : 0
  let firsts = 0
  for (let at = start; at < end; at += wordLength) {
    const list = words[at + wordField.list] ?? 0
    for (let n = list >> lengthBits, last = n + (list & lengthMask); n < last; n++) {
      add(kind.body, lists[n] ?? 0)
      add(kind.crossed, announced + (lists[n] ?? 0))
      if (firsts < 2) add(kind.body, 64 + 64 * firsts + (lists[n] ?? 0))
    }
    if (((words[at + wordField.flags] ?? 0) & wordFlag.joint) === 0) firsts++
  }
  const count = (end - start) / wordLength
  add(kind.shape, 16 + (count < 3 ? 0 : count < 6 ? 1 : count < 12 ? 2 : count < 20 ? 3 : 4) + (isAnnounced ? 8 : 0))
  if ((marks & (textMark.asks | textMark.asksWide)) !== 0) add(kind.shape, 32 + (isAnnounced ? 1 : 0))
}

/** Returns the features for the training. */
export function announcementFeatures(view: StatementView, score: number): readonly number[] {
  findFeatures(view, score)
  return [...ids.subarray(0, length)]
}

const table = lazy(() => ({
  levels: readLevels(announcementWeights, announcementTable),
  weights: weightsOfLevels(announcementWeightStep),
}))

/** Returns the score of a sentence within the bounds between which an announcement adds to it. */
export const boundedBody = (score: number): number => Math.max(-4, Math.min(3, score))

/** Returns the log odds that an announced sentence is a standing rule, from its own score; the least if nothing announces it. */
export function announcedScore(view: StatementView, score: number): number {
  findFeatures(view, score)
  if (length === 0) return Number.NEGATIVE_INFINITY
  const { levels, weights } = table()
  let sum = 0
  for (let at = 0; at < length; at++) sum += weights[(levels[ids[at] ?? 0] ?? 0) + zeroLevel] ?? 0
  return announcementBias + boundedBody(score) + sum * announcementShare(length)
}

/** Scales the sum of the weights by the number of features. */
export const announcementShare = (features: number): number =>
  Math.sqrt(usualFeatures / Math.max(features, fewFeatures))
const [usualFeatures, fewFeatures] = [30, 10]
