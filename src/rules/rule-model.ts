import { orderOf } from "./standing-command.ts"
import {
  among,
  classNames,
  classPlaces,
  classSet,
  firstAmong,
  hasAny,
  hashOf,
  type Reading,
  sharesClass,
} from "./word-classes.ts"

/** A sentence of a speaker as the model reads it, with what stands around it. */
export type StatementView = {
  /** Folded, in lower case, with code, links, quotations and numbers put aside. */
  readonly own: Reading
  /** The line or heading that it stands under. */
  readonly over: Reading
  /** The sentence before it in the same breath, and the one behind it. */
  readonly before: Reading
  readonly after: Reading
  readonly isItem: boolean
  /** It opens or closes what the speaker says; the only sentence does both. */
  readonly isFirst: boolean
  readonly isLast: boolean
  /** Sentences of what the speaker says, and how many of them are items of lists; none on a page. */
  readonly crowd: number
  readonly items: number
  /** How the speaker starts, if not with this sentence. */
  readonly gist: Reading
}

/** Features of one sentence: their places in the table of weights. */
type Features = {
  readonly ids: Uint32Array
  /** What each feature is of, as the training weighs words and classes differently. */
  readonly sorts: Uint8Array
  readonly length: number
}

/** Places in the table of weights, a power of two. */
export const tableSize: number = 1 << 18
const mask = tableSize - 1

/** Features of one sentence; what is longer is no sentence. */
const maxFeatures = 2048

const mix = (one: number, two: number): number => {
  const mixed = Math.imul(one ^ (two + 0x9e3779b9 + (one << 6) + (one >>> 2)), 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

const tag = {
  word: 1,
  pair: 2,
  first: 3,
  kind: 5,
  kindPair: 6,
  kindTriple: 7,
  both: 8,
  clause: 9,
  over: 10,
  overOwn: 11,
  before: 12,
  shape: 13,
  wide: 14,
  opening: 15,
  last: 16,
  mixed: 17,
  clauseWord: 18,
  lead: 19,
  order: 20,
  after: 21,
  subject: 22,
  tail: 23,
  laterOrder: 24,
  ending: 25,
  part: 26,
  wordKind: 27,
  place: 28,
  crowd: 29,
  gist: 30,
  norm: 31,
} as const

/** What a set of features is made in: one for all sentences, as they are read one after another. */
const ids = new Uint32Array(maxFeatures)
const sorts = new Uint8Array(maxFeatures)
let turn = 0
let length = 0

/** The features that a sentence has already, each at its own place or at the next that is free, with the turn of the sentence above its bits. */
const taken = new Int32Array(2 * maxFeatures)
const [idBits, turnBits] = [18, 14]
let turnSign = 0

/** The next sentence: what was taken for another one counts as free. */
function nextTurn(): void {
  turn = (turn + 1) >>> 0
  turnSign = (turn << idBits) | 0
  if (turn % (1 << turnBits) !== 0) return
  taken.fill(0)
  nextTurn()
}

function add(kind: number, value: number): void {
  const id = mix(Math.imul(kind, 0x27d4eb2f), value) & mask
  const own = turnSign | id
  let at = id & (2 * maxFeatures - 1)
  for (let there = taken[at] ?? 0; there >> idBits === turnSign >> idBits; there = taken[at] ?? 0) {
    if (there === own) return
    at = (at + 1) & (2 * maxFeatures - 1)
  }
  if (length >= maxFeatures) return
  taken[at] = own
  sorts[length] = kind & 31
  ids[length++] = id
}

/** What a sentence says of itself, as numbers. The array is used again for the next sentence. */
export function featuresOf(view: StatementView): Features {
  nextTurn()
  length = 0
  kindCount = 0
  const reading = view.own
  wordFeatures(reading)
  wordKindFeatures(reading)
  kindFeatures(reading)
  leadFeatures(reading)
  subjectFeatures(reading)
  clauseFeatures(reading)
  tailFeatures(reading)
  aroundFeatures(view)
  shapeFeatures(view)
  if (view.crowd > 0) crowdFeatures(view)
  return { ids, sorts, length }
}

/** The classes of the words in their order: the class, whether its word opens a clause, and whether other words stand before it. */
const maxKinds = 4096
const kinds = new Uint16Array(maxKinds)
const [opening, behindGap, kindBits] = [1, 2, 2]
let kindCount = 0

/** The sentence for which the pairs of each class were last added. */
const paired = new Uint32Array(classNames.length)

function addKind(of: number, flags: number): void {
  if (kindCount === maxKinds) return
  kinds[kindCount++] = (of << kindBits) | flags
}

const classAt = (at: number): number => (kinds[at] ?? 0) >> kindBits

function wordFeatures({ words, places: classesOf }: Reading): void {
  let [before, opens, gap, places] = [0, true, false, 0]
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    const own = classesOf[at]
    if (word === undefined || own === undefined) break
    const { text, hash, isOpener } = word
    if (word.isJoint) {
      opens = true
      before = 0
      add(tag.word, hash)
      continue
    }
    if (word.isUnspaced) {
      wideFeatures(text)
      for (let n = 0; n < own.length; n++) addKind(own[n] ?? 0, 0)
      opens = false
      continue
    }
    add(tag.word, hash)
    if (word.ending !== 0) {
      add(tag.part, word.ending)
      add(tag.part + 32, word.head)
    }
    if (before !== 0) add(tag.pair, mix(before, hash))
    if (places < 3 && !(opens && isOpener)) add(tag.first + 32 * ++places, hash)
    if (opens) add(tag.clauseWord, hash)
    const flags = (opens ? opening : 0) | (gap ? behindGap : 0)
    for (let n = 0; n < own.length; n++) addKind(own[n] ?? 0, flags)
    gap = own.length === 0
    before = hash
    if (!isOpener) opens = false
  }
}

/** Each word with the classes of its neighbours: a pair is learnt of sooner than the two words. */
function wordKindFeatures({ words, places }: Reading): void {
  for (let at = 1; at < words.length; at++) {
    const [one, two] = [words[at - 1], words[at]]
    if (one === undefined || two === undefined || one.isUnspaced || two.isUnspaced) continue
    for (const of of places[at] ?? none) add(tag.wordKind, mix(one.hash, of))
    for (const of of places[at - 1] ?? none) add(tag.wordKind, mix(two.hash, of + 64))
  }
}

/** Pairs of signs. */
function wideFeatures(run: string): void {
  for (let at = 0; at < run.length; at++) {
    add(tag.wide, run.charCodeAt(at))
    if (at + 2 <= run.length) add(tag.wide + 32, mix(run.charCodeAt(at), run.charCodeAt(at + 1)))
    if (at + 3 <= run.length) add(tag.wide + 64, hashOf(run.slice(at, at + 3)))
  }
  add(tag.last, hashOf(run.slice(-3)))
}

function kindFeatures({ classes }: Reading): void {
  for (let at = 0; at < kindCount; at++) {
    const of = classAt(at)
    const opens = ((kinds[at] ?? 0) & opening) !== 0
    add(tag.kind, of)
    if (opens) add(tag.clause, of)
    if (at < 2) add(tag.opening, of * 2 + at)
    if (at + 1 < kindCount) {
      const pair = of * 64 + classAt(at + 1)
      add(tag.kindPair, pair)
      if (((kinds[at + 1] ?? 0) & behindGap) === 0) add(tag.kindPair + 32, pair)
      if (at + 2 < kindCount) add(tag.kindTriple, pair * 64 + classAt(at + 2))
    }
    if (opens && ((kinds[at] ?? 0) & behindGap) !== 0) add(tag.clause + 32, of)
    // A class that stood before has its pairs already.
    if (paired[of] === turn) continue
    paired[of] = turn
    for (let n = 0; n < classes.length; n++) {
      const other = classes[n] ?? 0
      if (other > of) add(tag.both, of * 64 + other)
    }
  }
}

/** Words with which a sentence announces that a rule comes, and those with which the rest of it binds. */
const announcing = classPlaces("rule stress remember lasting scope always must")
const binding = classPlaces("never always must dont forbid only limit every ask not lasting")

/** Words of a lead: what is longer is a sentence of its own. */
const maxLead = 18
const leadEnd = /^[:：—–-]/

/** What stands before a colon or a dash, and what behind. */
function leadFeatures({ words, places }: Reading): void {
  const end = leadLength(words)
  if (end < 0 || end > maxLead || end >= words.length - 1) return
  const [lead, rest] = [new Set(places.slice(0, end).flat()), new Set(places.slice(end + 1).flat())]
  const isAnnounced = announcing.some((of) => lead.has(of))
  const isBinding = binding.some((of) => rest.has(of))
  add(tag.lead, Number(isAnnounced) * 2 + Number(isBinding))
  for (const of of lead) add(tag.lead, 16 + of)
  for (const of of rest) add(tag.lead, 128 + of + (isAnnounced ? 128 : 0))
}

/** The place of the first colon or dash behind a word, or -1. */
function leadLength(words: Reading["words"]): number {
  for (let at = 1; at < words.length; at++) {
    const word = words[at]
    if (word?.isJoint === true && leadEnd.test(word.text)) return at
  }
  return -1
}

/** Does a clause bind, or start as a command behind another one? And how does a sentence end that has no blanks? */
function clauseFeatures({ words, places }: Reading): void {
  let start = 0
  for (let at = 0; at <= words.length; at++) {
    if (at < words.length && words[at]?.isJoint !== true) continue
    if (at - start > 1) {
      const clause = { words: words.slice(start, at), places: places.slice(start, at) }
      const order = start > 0 ? orderOf(clause) : undefined
      if (order !== undefined) add(tag.laterOrder, order)
      normFeatures(clause, (start === 0 ? 1 : 0) + (at === words.length ? 2 : 0))
    }
    start = at + 1
  }
  const last = words.at(-1)
  if (last?.isUnspaced !== true) return
  for (let length = 1; length <= 4; length++) add(tag.ending, hashOf(last.text.slice(-length)))
}

/** A clause that binds: where it stands, how it starts, and which classes it has together. */
function normFeatures({ words, places }: Pick<Reading, "words" | "places">, place: number): void {
  if (!places.some((own) => hasAny(own, norms))) return
  add(tag.norm, 5000 + place)
  const [first, second] = words
  add(tag.norm + 32, first?.hash ?? 0)
  if (second !== undefined) add(tag.norm + 64, mix(first?.hash ?? 0, second.hash))
  const own = [...new Set(places.flat())]
  for (const one of own) for (const other of own) if (one < other) add(tag.norm, 6000 + one * 64 + other)
}
const norms = among("never always must dont forbid only prefer ask lasting every general")

/** Words of a last clause that is only put behind a sentence: "..., always", "..., that's not negotiable", "..., understood?" */
const maxTail = 4

/** How a sentence ends: with words of time or scope ("use metric everywhere"), or with a short clause that says how it is meant. */
function tailFeatures({ words, places, tail }: Reading): void {
  let end = words.length
  while (end > 0 && isLoud(words[end - 1]?.text ?? "")) end--
  if (end < 3 || words[end - 1]?.isUnspaced === true) return
  const isPlainStart = places[0]?.length === 0
  for (const of of places[end - 1] ?? none) {
    add(tag.tail, of)
    if (isPlainStart) add(tag.tail, 64 + of)
  }
  let start = end
  while (start > 0 && words[start - 1]?.isJoint !== true) start--
  if (start < 2 || end - start > maxTail) return
  const asks = asking.test(tail) ? 256 : 0
  add(tag.tail, 128 + asks)
  add(tag.tail, mix(words[end - 1]?.hash ?? 0, 129 + asks))
  for (let at = start; at < end; at++) for (const of of places[at] ?? none) add(tag.tail, 160 + asks + of)
}
const none: readonly number[] = []
const isLoud = (text: string): boolean => text.startsWith("?") || text.startsWith("!")

/** Words behind which stands what somebody does, and before which stands who does it. */
const modal = among("must should may never always shall only dont not aux")
const [you, i, we, third, say, every, the, plural, product, artifact, output] = classPlaces(
  "you i we third say every the plural product artifact output",
)

/** Who or what a sentence binds: "the pump must" is built, "invoices must" and "you must" are done. */
function subjectFeatures({ words, places }: Reading): void {
  let start = 0
  for (let at = 0; at < words.length; at++) {
    if (words[at]?.isJoint === true) start = at + 1
    const of = firstAmong(places[at], modal)
    if (of === undefined) continue
    const subject = subjectOf(places.slice(start, at), words[at - 1]?.text ?? "")
    add(tag.subject, of * 32 + subject)
    add(tag.subject, 4096 + subject)
    return
  }
}

/** The sort of a subject by the words that it is made of. */
function subjectOf(own: Reading["places"], last: string): number {
  if (own.length === 0) return 0
  const has = (...some: readonly (number | undefined)[]): boolean =>
    own.some((places) => places.some((place) => some.includes(place)))
  if (has(say)) return 1
  if (has(you)) return 2
  if (has(i)) return 3
  if (has(we)) return 4
  if (has(third)) return 5
  if (has(product, artifact)) return 6
  if (has(every)) return has(output) ? 7 : 8
  if (has(output)) return 9
  const many = own.at(-1)?.some((place) => place === plural) === true || last.endsWith("s")
  return own[0]?.some((place) => place === the) === true ? (many ? 10 : 11) : many ? 12 : 13
}

function aroundFeatures({ own, over, before, after, isItem }: StatementView): void {
  if (over.text !== "") overFeatures(over, own, isItem)
  if (after.text !== "") neighbourFeatures(after, tag.after, isItem)
  if (before.text === "") return
  neighbourFeatures(before, tag.before, isItem)
  const { words, set } = before
  if (words.length > maxLead || !sharesClass(set, heralding) || saysItself(words)) return
  add(tag.lead, 400)
  for (let n = 0; n < own.classes.length; n++) add(tag.lead, 401 + (own.classes[n] ?? 0))
}

/** Words of a sentence that says that a rule comes in the next one, which is short. */
const heralding = classSet("rule limit stress remember")
/** What stands behind its colon is what such a sentence announces: nothing is left for the next one. */
function saysItself(words: Reading["words"]): boolean {
  const end = words.findIndex(({ text }) => text === ":" || text === "：")
  return end > 0 && end < words.length - 1
}

/** The words of the line above, its classes, and each of them with each of the sentence's own. */
function overFeatures(over: Reading, own: Reading, isItem: boolean): void {
  for (let at = 0; at < over.words.length; at++) add(tag.overOwn, over.words[at]?.hash ?? 0)
  for (let at = 0; at < over.classes.length; at++) {
    const of = over.classes[at] ?? 0
    for (let n = 0; n < own.classes.length; n++) add(tag.mixed, of * 64 + (own.classes[n] ?? 0))
  }
  neighbourFeatures(over, tag.over, isItem)
}

function neighbourFeatures({ text, classes }: Reading, kind: number, isItem: boolean): void {
  add(kind, 0)
  for (let at = 0; at < classes.length; at++) add(kind, (classes[at] ?? 0) + 1)
  const last = text.charCodeAt(text.length - 1)
  if (last === 0x3a || last === 0xff1a) add(kind, isItem ? 101 : 100)
  if (last === 0x3f || last === 0xff1f) add(kind, 102)
}

const asking = /[?？]/

const innerColon = /[:：](?=\s|$)|：/

function shapeFeatures({ own, isItem, isFirst, isLast }: StatementView): void {
  const { text, tail } = own
  if (tail !== "" && tail !== ".") {
    if (asking.test(tail)) add(tag.shape, 0)
    if (/[!！]/.test(tail)) add(tag.shape, 1)
    if (/[:：]/.test(tail)) add(tag.shape, 2)
  }
  if (isItem) add(tag.shape, 3)
  const mayMask = text.includes("q")
  if (mayMask && text.includes("qcode")) add(tag.shape, 7)
  if (mayMask && text.includes("qquote")) add(tag.shape, 8)
  if ((text.includes(":") || text.includes("：")) && innerColon.test(text)) add(tag.shape, 9)
  if (mayMask && text.includes("qnum")) add(tag.shape, 10)
  if (text.startsWith("(")) add(tag.shape, 11)
  const order = orderOf(own)
  if (order !== undefined) add(tag.order, order)
  const { length: count } = own.words
  const size = count < 4 ? 0 : count < 8 ? 1 : count < 16 ? 2 : count < 32 ? 3 : 4
  add(tag.shape + 32, size)
  placeFeatures(own, (isFirst ? 2 : 0) + (isLast ? 1 : 0), size)
}

/** What a sentence does, by where it stands in the message: a bare command is a rule more often alone than behind a task. */
function placeFeatures({ places, classes }: Reading, place: number, size: number): void {
  add(tag.place, place)
  add(tag.place, 8 + size * 4 + place)
  for (const of of places[0] ?? none) add(tag.place, 64 + of * 4 + place)
  for (let n = 0; n < classes.length; n++) add(tag.place, 1024 + (classes[n] ?? 0) * 4 + place)
}

/** The step of a count: 1, 2, 3 to 4, 5 to 8, 9 to 16, more. */
const stepOf = (count: number): number => (count > 16 ? 5 : count > 8 ? 4 : count > 4 ? 3 : count > 2 ? 2 : count - 1)

/** How much is said beside a sentence: one among many, or in a list, is mostly part of a task. */
function crowdFeatures({ own, crowd, items, gist, isItem }: StatementView): void {
  const step = stepOf(crowd)
  const list = items === 0 ? 0 : items < 4 ? 1 : items < 10 ? 2 : 3
  add(tag.crowd, step)
  add(tag.crowd, 8 + list * 2 + Number(isItem))
  const order = orderOf(own) ?? 4
  add(tag.crowd, 16 + order * 6 + step)
  for (let n = 0; n < own.classes.length; n++) add(tag.crowd, 64 + (own.classes[n] ?? 0) * 6 + step)
  if (gist.text === "") return
  const binds = sharesClass(own.set, bindingSet) ? 64 : 0
  for (let n = 0; n < gist.classes.length; n++) add(tag.gist, (gist.classes[n] ?? 0) + binds)
}
const bindingSet = classSet("never always must dont forbid only prefer ask lasting every general")
