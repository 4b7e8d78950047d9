import { orderOf } from "./standing-command.ts"
import { isAmong, type Reading, textMark } from "./word-classes.ts"
import { hasAny, hashFactor, hashStart, lengthBits, lengthMask, wordField, wordFlag, wordLength } from "./word-facts.ts"
import { type ClassSet, classNames, classSet, sharesClass } from "./word-table.ts"

/**
 * What the model reads of a sentence, as numbers of features. The file is long because the features are one table: the training and the
 * finder have to number them alike, and all of them are made in one set of arrays.
 */

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

/** Every number is cut to 32 bits before it is added: whole numbers are added in one step, all others are converted first. */
const mix = (one: number, two: number): number => {
  const sum = (((two | 0) + spread) | 0) + (((one << 6) + (one >>> 2)) | 0)
  const mixed = Math.imul(one ^ sum, 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}
const spread = 0x9e3779b9 | 0

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
let length = 0

/**
 * The features that the sentence has already, found by their last bits. Above the bits of a feature stands the number of its sentence, so
 * that nothing has to be cleared before the next one.
 */
const taken = new Int32Array(2 * maxFeatures)
const takenMask = taken.length - 1
const sentenceStep = tableSize
let sentence = 0

/** The next sentence: no feature is taken. */
function nextSentence(): void {
  sentence = (sentence + sentenceStep) | 0
  if (sentence === 0) {
    taken.fill(0)
    sentence = sentenceStep
  }
  length = 0
  kindCount = 0
}

function add(kind: number, value: number): void {
  const id = mix(Math.imul(kind | 0, 0x27d4eb2f), value) & mask
  const own = sentence | id
  let place = id & takenMask
  for (;;) {
    const there = taken[place] ?? 0
    if (there === own) return
    if ((there & ~mask) !== sentence) break
    place = (place + 1) & takenMask
  }
  if (length >= maxFeatures) return
  taken[place] = own
  sorts[length] = kind & 31
  ids[length++] = id
}

/** What a sentence says of itself, as numbers. The array is used again for the next sentence. */
export function featuresOf(view: StatementView): Features {
  nextSentence()
  const reading = view.own
  wordFeatures(reading)
  wordKindFeatures(reading)
  kindFeatures(reading)
  leadFeatures(reading)
  subjectFeatures(reading)
  clauseFeatures(reading)
  tailFeatures(reading)
  aroundFeatures(view)
  const order = orderOf(reading, reading.first, reading.end)
  shapeFeatures(view, order)
  if (view.crowd > 0) crowdFeatures(view, order)
  return { ids, sorts, length }
}

const flagsAt = (words: Int32Array, at: number): number => words[at + wordField.flags] ?? 0
const hashAt = (words: Int32Array, at: number): number => words[at + wordField.hash] ?? 0
/** Where the classes of a word start in `lists`, and where they end. */
const listStart = (words: Int32Array, at: number): number => (words[at + wordField.list] ?? 0) >> lengthBits
const listEnd = (words: Int32Array, at: number): number => {
  const list = words[at + wordField.list] ?? 0
  return (list >> lengthBits) + (list & lengthMask)
}
const isClassless = (words: Int32Array, at: number): boolean => ((words[at + wordField.list] ?? 0) & lengthMask) === 0

/** The classes of the words in their order: the class, whether its word opens a clause, and whether other words stand before it. */
const maxKinds = 4096
const kinds = new Uint16Array(maxKinds)
const [opening, behindGap, kindBits] = [1, 2, 2]
let kindCount = 0

function addKinds({ words, lists }: Reading, at: number, flags: number): void {
  for (let n = listStart(words, at), end = listEnd(words, at); n < end && kindCount < maxKinds; n++)
    kinds[kindCount++] = ((lists[n] ?? 0) << kindBits) | flags
}

const classAt = (at: number): number => (kinds[at] ?? 0) >> kindBits

function wordFeatures(reading: Reading): void {
  const { words, first, text } = reading
  let before = 0
  let opens = true
  let gap = false
  let places = 0
  for (let at = first, end = reading.end; at < end; at += wordLength) {
    const flags = flagsAt(words, at)
    const hash = hashAt(words, at)
    if ((flags & wordFlag.joint) !== 0) {
      opens = true
      before = 0
      add(tag.word, hash)
      continue
    }
    const head = words[at + wordField.head] ?? 0
    const ending = words[at + wordField.ending] ?? 0
    if ((flags & wordFlag.unspaced) !== 0) {
      wideFeatures(text, head, head + ending)
      addKinds(reading, at, 0)
      opens = false
      continue
    }
    const isOpener = (flags & wordFlag.opener) !== 0
    add(tag.word, hash)
    if (ending !== 0) {
      add(tag.part, ending)
      add(tag.part + 32, head)
    }
    if (before !== 0) add(tag.pair, mix(before, hash))
    if (places < 3 && !(opens && isOpener)) add(tag.first + 32 * ++places, hash)
    if (opens) add(tag.clauseWord, hash)
    addKinds(reading, at, (opens ? opening : 0) | (gap ? behindGap : 0))
    gap = isClassless(words, at)
    before = hash
    if (!isOpener) opens = false
  }
}

/** Each word with the classes of its neighbours: a pair is learnt of sooner than the two words. */
function wordKindFeatures(reading: Reading): void {
  const { words, lists, first } = reading
  for (let one = first, two = one + wordLength, end = reading.end; two < end; one = two, two += wordLength) {
    if (((flagsAt(words, one) | flagsAt(words, two)) & wordFlag.unspaced) !== 0) continue
    for (let n = listStart(words, two), last = listEnd(words, two); n < last; n++)
      add(tag.wordKind, mix(hashAt(words, one), lists[n] ?? 0))
    for (let n = listStart(words, one), last = listEnd(words, one); n < last; n++)
      add(tag.wordKind, mix(hashAt(words, two), (lists[n] ?? 0) + 64))
  }
}

/** The hash of a stretch of a text. */
function hashIn(text: string, start: number, end: number): number {
  let hash = hashStart
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor)
  return hash
}

/** Signs, pairs and triples of them. */
function wideFeatures(text: string, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    add(tag.wide, code)
    if (at + 2 <= end) add(tag.wide + 32, mix(code, text.charCodeAt(at + 1)))
    if (at + 3 <= end) add(tag.wide + 64, hashIn(text, at, at + 3))
  }
  add(tag.last, hashIn(text, Math.max(start, end - 3), end))
}

function kindFeatures({ classes }: Reading): void {
  let low = 0
  let high = 0
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
    const bit = 1 << (of & 31)
    if (((of < 32 ? low : high) & bit) !== 0) continue
    if (of < 32) low |= bit
    else high |= bit
    for (let n = 0; n < classes.length; n++) {
      const other = classes[n] ?? 0
      if (other > of) add(tag.both, of * 64 + other)
    }
  }
}

/** Classes of a stretch of words, each once and in their order. */
const found = new Uint8Array(classNames.length)

/** Fills `found` with the classes of the words between two places, and returns how many there are. */
function findClasses({ words, lists }: Reading, start: number, end: number): number {
  let low = 0
  let high = 0
  let count = 0
  for (let at = start; at < end; at += wordLength)
    for (let n = listStart(words, at), last = listEnd(words, at); n < last; n++) {
      const of = lists[n] ?? 0
      const bit = 1 << (of & 31)
      if (((of < 32 ? low : high) & bit) !== 0) continue
      if (of < 32) low |= bit
      else high |= bit
      found[count++] = of
    }
  return count
}

/** Has any of the words between two places a class of a set? */
function someHave(words: Int32Array, start: number, end: number, { low, high }: ClassSet): boolean {
  for (let at = start; at < end; at += wordLength)
    if ((((words[at + wordField.low] ?? 0) & low) | ((words[at + wordField.high] ?? 0) & high)) !== 0) return true
  return false
}

/** Words with which a sentence announces that a rule comes, and those with which the rest of it binds. */
const announcing = classSet("rule stress remember lasting scope always must")
const binding = classSet("never always must dont forbid only limit every ask not lasting")

/** Words of a lead: what is longer is a sentence of its own. */
const maxLead = 18

/** What stands before a colon or a dash, and what behind. */
function leadFeatures(reading: Reading): void {
  const { words, first } = reading
  const end = reading.end
  let lead = first + wordLength
  while (lead < end && (flagsAt(words, lead) & wordFlag.leadEnd) === 0) lead += wordLength
  const rest = lead + wordLength
  if (lead - first > maxLead * wordLength || rest >= end) return
  const isAnnounced = someHave(words, first, lead, announcing)
  const isBinding = someHave(words, rest, end, binding)
  add(tag.lead, Number(isAnnounced) * 2 + Number(isBinding))
  const before = findClasses(reading, first, lead)
  for (let n = 0; n < before; n++) add(tag.lead, 16 + (found[n] ?? 0))
  const behind = findClasses(reading, rest, end)
  for (let n = 0; n < behind; n++) add(tag.lead, 128 + (found[n] ?? 0) + (isAnnounced ? 128 : 0))
}

/** Does a clause bind, or start as a command behind another one? And how does a sentence end that has no blanks? */
function clauseFeatures(reading: Reading): void {
  const { words, first, text } = reading
  const end = reading.end
  for (let at = first, start = first; at <= end; at += wordLength) {
    if (at < end && (flagsAt(words, at) & wordFlag.joint) === 0) continue
    if (at - start > wordLength) {
      const order = start > first ? orderOf(reading, start, at) : undefined
      if (order !== undefined) add(tag.laterOrder, order)
      normFeatures(reading, start, at)
    }
    start = at + wordLength
  }
  const last = end - wordLength
  if (last < first || (flagsAt(words, last) & wordFlag.unspaced) === 0) return
  const start = words[last + wordField.head] ?? 0
  const behind = start + (words[last + wordField.ending] ?? 0)
  for (let length = 1; length <= 4; length++) add(tag.ending, hashIn(text, Math.max(start, behind - length), behind))
}

/** A clause that binds: where it stands, how it starts, and which classes it has together. */
function normFeatures(reading: Reading, start: number, end: number): void {
  const { words } = reading
  if (!someHave(words, start, end, norms)) return
  add(tag.norm, 5000 + (start === reading.first ? 1 : 0) + (end === reading.end ? 2 : 0))
  add(tag.norm + 32, hashAt(words, start))
  add(tag.norm + 64, mix(hashAt(words, start), hashAt(words, start + wordLength)))
  const count = findClasses(reading, start, end)
  for (let n = 0; n < count; n++) {
    const one = found[n] ?? 0
    for (let m = 0; m < count; m++) {
      const other = found[m] ?? 0
      if (one < other) add(tag.norm, 6000 + one * 64 + other)
    }
  }
}
const norms = classSet("never always must dont forbid only prefer ask lasting every general")

/** Words of a last clause that is only put behind a sentence: "..., always", "..., that's not negotiable", "..., understood?" */
const maxTail = 4

/** How a sentence ends: with words of time or scope ("use metric everywhere"), or with a short clause that says how it is meant. */
function tailFeatures(reading: Reading): void {
  const { words, first, lists, marks } = reading
  let end = reading.end
  while (end > first && (flagsAt(words, end - wordLength) & wordFlag.loud) !== 0) end -= wordLength
  const last = end - wordLength
  if (end - first < 3 * wordLength || (flagsAt(words, last) & wordFlag.unspaced) !== 0) return
  const isPlainStart = isClassless(words, first)
  for (let n = listStart(words, last), until = listEnd(words, last); n < until; n++) {
    add(tag.tail, lists[n] ?? 0)
    if (isPlainStart) add(tag.tail, 64 + (lists[n] ?? 0))
  }
  let start = end
  while (start > first && (flagsAt(words, start - wordLength) & wordFlag.joint) === 0) start -= wordLength
  if (start - first < 2 * wordLength || end - start > maxTail * wordLength) return
  const asks = (marks & asking) !== 0 ? 256 : 0
  add(tag.tail, 128 + asks)
  add(tag.tail, mix(hashAt(words, last), 129 + asks))
  for (let at = start; at < end; at += wordLength)
    for (let n = listStart(words, at), until = listEnd(words, at); n < until; n++)
      add(tag.tail, 160 + asks + (lists[n] ?? 0))
}
const asking = textMark.asks | textMark.asksWide

/** Words behind which stands what somebody does, and before which stands who does it. */
const modal = classSet("must should may never always shall only dont not aux")

/** Who or what a sentence binds: "the pump must" is built, "invoices must" and "you must" are done. */
function subjectFeatures(reading: Reading): void {
  if (!sharesClass(reading, modal)) return
  const { words, lists, first } = reading
  for (let at = first, start = first, end = reading.end; at < end; at += wordLength) {
    if ((flagsAt(words, at) & wordFlag.joint) !== 0) start = at + wordLength
    if (!hasAny(words, at, modal)) continue
    let n = listStart(words, at)
    while (!isAmong(lists[n] ?? 0, modal)) n++
    const subject = subjectOf(words, start, at)
    add(tag.subject, (lists[n] ?? 0) * 32 + subject)
    add(tag.subject, 4096 + subject)
    return
  }
}

const sorted = {
  say: classSet("say"),
  you: classSet("you"),
  i: classSet("i"),
  we: classSet("we"),
  third: classSet("third"),
  built: classSet("product artifact"),
  every: classSet("every"),
  output: classSet("output"),
  plural: classSet("plural"),
  the: classSet("the"),
} as const

/** The sort of a subject by the words that it is made of. */
function subjectOf(words: Int32Array, start: number, end: number): number {
  if (start >= end) return 0
  let low = 0
  let high = 0
  for (let at = start; at < end; at += wordLength) {
    low |= words[at + wordField.low] ?? 0
    high |= words[at + wordField.high] ?? 0
  }
  const own = { low, high }
  if (sharesClass(own, sorted.say)) return 1
  if (sharesClass(own, sorted.you)) return 2
  if (sharesClass(own, sorted.i)) return 3
  if (sharesClass(own, sorted.we)) return 4
  if (sharesClass(own, sorted.third)) return 5
  if (sharesClass(own, sorted.built)) return 6
  if (sharesClass(own, sorted.every)) return sharesClass(own, sorted.output) ? 7 : 8
  if (sharesClass(own, sorted.output)) return 9
  const last = end - wordLength
  const many = hasAny(words, last, sorted.plural) || (flagsAt(words, last) & wordFlag.endsInS) !== 0
  return hasAny(words, start, sorted.the) ? (many ? 10 : 11) : many ? 12 : 13
}

function aroundFeatures({ own, over, before, after, isItem }: StatementView): void {
  if (over.text !== "") overFeatures(over, own, isItem)
  if (after.text !== "") neighbourFeatures(after, tag.after, isItem)
  if (before.text === "") return
  neighbourFeatures(before, tag.before, isItem)
  if (before.count > maxLead || !sharesClass(before, heralding) || saysItself(before)) return
  add(tag.lead, 400)
  for (let n = 0; n < own.classes.length; n++) add(tag.lead, 401 + (own.classes[n] ?? 0))
}

/** Words of a sentence that says that a rule comes in the next one, which is short. */
const heralding = classSet("rule limit stress remember")
/** What stands behind its colon is what such a sentence announces: nothing is left for the next one. */
function saysItself(reading: Reading): boolean {
  const { words, first } = reading
  const end = reading.end
  let at = first
  while (at < end && (flagsAt(words, at) & wordFlag.colon) === 0) at += wordLength
  return at > first && at < end - wordLength
}

/** The words of the line above, its classes, and each of them with each of the sentence's own. */
function overFeatures(over: Reading, own: Reading, isItem: boolean): void {
  for (let at = over.first, end = over.end; at < end; at += wordLength) add(tag.overOwn, hashAt(over.words, at))
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

function shapeFeatures({ own, isItem, isFirst, isLast }: StatementView, order: number | undefined): void {
  const { marks, count } = own
  if (marks !== 0) {
    if ((marks & asking) !== 0) add(tag.shape, 0)
    if ((marks & textMark.exclaims) !== 0) add(tag.shape, 1)
    if ((marks & textMark.endsInColon) !== 0) add(tag.shape, 2)
  }
  if (isItem) add(tag.shape, 3)
  if (marks !== 0) {
    if ((marks & textMark.code) !== 0) add(tag.shape, 7)
    if ((marks & textMark.quote) !== 0) add(tag.shape, 8)
    if ((marks & textMark.colon) !== 0) add(tag.shape, 9)
    if ((marks & textMark.number) !== 0) add(tag.shape, 10)
    if ((marks & textMark.bracket) !== 0) add(tag.shape, 11)
  }
  if (order !== undefined) add(tag.order, order)
  const size = count < 4 ? 0 : count < 8 ? 1 : count < 16 ? 2 : count < 32 ? 3 : 4
  add(tag.shape + 32, size)
  placeFeatures(own, (isFirst ? 2 : 0) + (isLast ? 1 : 0), size)
}

/** What a sentence does, by where it stands in the message: a bare command is a rule more often alone than behind a task. */
function placeFeatures({ words, first, count, lists, classes }: Reading, place: number, size: number): void {
  add(tag.place, place)
  add(tag.place, 8 + size * 4 + place)
  if (count > 0)
    for (let n = listStart(words, first), last = listEnd(words, first); n < last; n++)
      add(tag.place, 64 + (lists[n] ?? 0) * 4 + place)
  for (let n = 0; n < classes.length; n++) add(tag.place, 1024 + (classes[n] ?? 0) * 4 + place)
}

/** The step of a count: 1, 2, 3 to 4, 5 to 8, 9 to 16, more. */
const stepOf = (count: number): number => (count > 16 ? 5 : count > 8 ? 4 : count > 4 ? 3 : count > 2 ? 2 : count - 1)

/** How much is said beside a sentence: one among many, or in a list, is mostly part of a task. */
function crowdFeatures({ own, crowd, items, gist, isItem }: StatementView, order = 4): void {
  const step = stepOf(crowd)
  const list = items === 0 ? 0 : items < 4 ? 1 : items < 10 ? 2 : 3
  add(tag.crowd, step)
  add(tag.crowd, 8 + list * 2 + Number(isItem))
  add(tag.crowd, 16 + order * 6 + step)
  for (let n = 0; n < own.classes.length; n++) add(tag.crowd, 64 + (own.classes[n] ?? 0) * 6 + step)
  if (gist.text === "") return
  const binds = sharesClass(own, bindingSet) ? 64 : 0
  for (let n = 0; n < gist.classes.length; n++) add(tag.gist, (gist.classes[n] ?? 0) + binds)
}
const bindingSet = classSet("never always must dont forbid only prefer ask lasting every general")
