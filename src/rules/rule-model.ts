import { orderOf } from "./standing-command.ts"
import { isAmong, type Reading, textMark } from "./word-classes.ts"
import { hasAny, hashFactor, hashStart, lengthBits, lengthMask, wordField, wordFlag, wordLength } from "./word-facts.ts"
import { type ClassSet, classNames, classSet, sharesClass } from "./word-table.ts"

/**
 * Turns a sentence into numbered features for the linear model of rules. The file is long because the features are one table: the training
 * and the finder have to number them alike, and all of them are written into one set of shared arrays.
 */

/** A sentence as the model sees it, with its context in the text. */
export type StatementView = {
  /** The sentence itself: folded, in lower case, with code, links, quotations and numbers masked. */
  readonly own: Reading
  /** The heading, or the line with a colon, that it stands under. */
  readonly over: Reading
  /** The sentence before it, in its block or the previous one, and the sentence after it in its block. */
  readonly before: Reading
  readonly after: Reading
  readonly isItem: boolean
  /** Whether it is the first or the last sentence that is read; the only sentence is both. */
  readonly isFirst: boolean
  readonly isLast: boolean
  /** Number of sentences read of the user's message, and how many of them are list items; 0 in a file of instructions. */
  readonly crowd: number
  readonly items: number
  /** The first sentence of the user's message, unless it is this one; empty in a file of instructions. */
  readonly gist: Reading
}

/** Features of one sentence, as indexes into the table of weights. */
type Features = {
  readonly ids: Uint32Array
  /** Group of each feature, because the training weighs words and classes differently. */
  readonly sorts: Uint8Array
  readonly length: number
}

/** Number of entries in the table of weights, a power of two. */
export const tableSize: number = 1 << 18
const mask = tableSize - 1

/** Maximum number of features of one sentence; the rest is dropped. */
const maxFeatures = 2048

/**
 * Combines two hashes. Every operand is cut to 32 bits before it is added: integers are added in one step, all other numbers are converted
 * first.
 */
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

/** Buffers reused for every sentence. */
const ids = new Uint32Array(maxFeatures)
const sorts = new Uint8Array(maxFeatures)
let length = 0

/**
 * Hash set of the features of the current sentence, indexed by their low bits. Each entry holds the number of its sentence above the bits
 * of the feature, so that nothing has to be cleared between sentences.
 */
const seenFeatures = new Int32Array(2 * maxFeatures)
const seenMask = seenFeatures.length - 1
const sentenceStep = tableSize
let sentence = 0

/** Starts a new sentence without features. */
function nextSentence(): void {
  sentence = (sentence + sentenceStep) | 0
  if (sentence === 0) {
    seenFeatures.fill(0)
    sentence = sentenceStep
  }
  length = 0
  kindCount = 0
}

function add(kind: number, value: number): void {
  const id = mix(Math.imul(kind | 0, 0x27d4eb2f), value) & mask
  const key = sentence | id
  let slot = id & seenMask
  for (;;) {
    const entry = seenFeatures[slot] ?? 0
    if (entry === key) return
    if ((entry & ~mask) !== sentence) break
    slot = (slot + 1) & seenMask
  }
  if (length >= maxFeatures) return
  seenFeatures[slot] = key
  sorts[length] = kind & 31
  ids[length++] = id
}

/** Returns the features of a sentence. The arrays are reused for the next sentence. */
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
/** Start and end of the classes of a word in `lists`. */
const listStart = (words: Int32Array, at: number): number => (words[at + wordField.list] ?? 0) >> lengthBits
const listEnd = (words: Int32Array, at: number): number => {
  const list = words[at + wordField.list] ?? 0
  return (list >> lengthBits) + (list & lengthMask)
}
const isClassless = (words: Int32Array, at: number): boolean => ((words[at + wordField.list] ?? 0) & lengthMask) === 0

/** The classes of the words in text order, each with two flags: its word opens a clause, and the word before it has no class. */
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

/** Adds each word paired with the classes of its neighbours: such pairs are learnt from fewer examples than pairs of words. */
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

/** Returns the hash of a part of a text. */
function hashIn(text: string, start: number, end: number): number {
  let hash = hashStart
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor)
  return hash
}

/** Adds the characters of a run without blanks: each one, and pairs and triples of them. */
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
    // The pairs of a class that occurred before are added already.
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

/** Buffer for the distinct classes of a range of words, in text order. */
const found = new Uint8Array(classNames.length)

/** Fills `found` with the classes of the words from `start` to `end` and returns how many there are. */
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

/** True if a word from `start` to `end` has a class of the set. */
export function someHave(words: Int32Array, start: number, end: number, { low, high }: ClassSet): boolean {
  for (let at = start; at < end; at += wordLength)
    if ((((words[at + wordField.low] ?? 0) & low) | ((words[at + wordField.high] ?? 0) & high)) !== 0) return true
  return false
}

/** Classes of words that announce a rule before a colon, and classes that make the rest binding. */
const announcing = classSet("rule stress remember lasting scope always must")
const binding = classSet("never always must dont forbid only limit every ask not lasting")

/** Maximum number of words of a lead; a longer one is a sentence of its own. */
const maxLead = 18

/** Adds features for the lead before a colon or a dash, and for what follows it. */
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

/**
 * Adds features for each clause that binds, or that is a command after the first clause, and for the last characters of a script without
 * blanks.
 */
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

/** Adds features for a clause with a binding word: its position, its first words and its pairs of classes. */
function normFeatures(reading: Reading, start: number, end: number): void {
  const { words } = reading
  if (!someHave(words, start, end, norms)) return
  add(tag.norm, 5000 + (start === reading.first ? 1 : 0) + (end === reading.end ? 2 : 0))
  add(tag.norm + 32, hashAt(words, start))
  add(tag.norm + 64, mix(hashAt(words, start), hashAt(words, start + wordLength)))
  const count = findClasses(reading, start, end)
  for (let n = 0; n < count; n++) {
    const classA = found[n] ?? 0
    for (let m = 0; m < count; m++) {
      const classB = found[m] ?? 0
      if (classA < classB) add(tag.norm, 6000 + classA * 64 + classB)
    }
  }
}
const norms = classSet("never always must dont forbid only prefer ask lasting every general")

/** Maximum number of words of a last clause that is only appended: "..., always", "..., that's not negotiable", "..., understood?" */
const maxTail = 4

/**
 * Adds features for the end of a sentence: words of time or scope ("use metric everywhere"), or a short clause that says how it is meant.
 */
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

/** Classes of modal words: the subject stands before them, the action after them. */
const modal = classSet("must should may never always shall only dont not aux")

/**
 * Adds features for the subject that a sentence binds: "the pump must" describes a product, "invoices must" and "you must" demand an
 * action.
 */
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

const subjectClasses = {
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

/** Returns the kind of a subject as a number, by the classes of its words. */
function subjectOf(words: Int32Array, start: number, end: number): number {
  if (start >= end) return 0
  let low = 0
  let high = 0
  for (let at = start; at < end; at += wordLength) {
    low |= words[at + wordField.low] ?? 0
    high |= words[at + wordField.high] ?? 0
  }
  const own = { low, high }
  if (sharesClass(own, subjectClasses.say)) return 1
  if (sharesClass(own, subjectClasses.you)) return 2
  if (sharesClass(own, subjectClasses.i)) return 3
  if (sharesClass(own, subjectClasses.we)) return 4
  if (sharesClass(own, subjectClasses.third)) return 5
  if (sharesClass(own, subjectClasses.built)) return 6
  if (sharesClass(own, subjectClasses.every)) return sharesClass(own, subjectClasses.output) ? 7 : 8
  if (sharesClass(own, subjectClasses.output)) return 9
  const last = end - wordLength
  const many = hasAny(words, last, subjectClasses.plural) || (flagsAt(words, last) & wordFlag.endsInS) !== 0
  return hasAny(words, start, subjectClasses.the) ? (many ? 10 : 11) : many ? 12 : 13
}

function aroundFeatures({ own, over, before, after, isItem }: StatementView): void {
  if (over.text !== "") overFeatures(over, own, isItem)
  if (after.text !== "") neighbourFeatures(after, tag.after, isItem)
  if (before.text === "") return
  neighbourFeatures(before, tag.before, isItem)
  if (before.count > maxLead || !sharesClass(before, announcingNext) || statesRuleItself(before)) return
  add(tag.lead, 400)
  for (let n = 0; n < own.classes.length; n++) add(tag.lead, 401 + (own.classes[n] ?? 0))
}

/** Classes of words in a short sentence that announces a rule in the next one. */
const announcingNext = classSet("rule limit stress remember")
/** True if text follows the first colon: then the sentence states the rule itself, and announces none in the next one. */
function statesRuleItself(reading: Reading): boolean {
  const { words, first } = reading
  const end = reading.end
  let at = first
  while (at < end && (flagsAt(words, at) & wordFlag.colon) === 0) at += wordLength
  return at > first && at < end - wordLength
}

/** Adds features for the line above: its words, its classes, and each of its classes paired with each class of the sentence. */
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

/**
 * Adds the position of a sentence in the message, paired with its classes and length: a bare command is a rule more often alone than after
 * a task.
 */
function placeFeatures({ words, first, count, lists, classes }: Reading, place: number, size: number): void {
  add(tag.place, place)
  add(tag.place, 8 + size * 4 + place)
  if (count > 0)
    for (let n = listStart(words, first), last = listEnd(words, first); n < last; n++)
      add(tag.place, 64 + (lists[n] ?? 0) * 4 + place)
  for (let n = 0; n < classes.length; n++) add(tag.place, 1024 + (classes[n] ?? 0) * 4 + place)
}

/** Maps a count to a bucket: 1, 2, 3 to 4, 5 to 8, 9 to 16, more. */
const bucketOf = (count: number): number => (count > 16 ? 5 : count > 8 ? 4 : count > 4 ? 3 : count > 2 ? 2 : count - 1)

/** Adds features for how much else the message says: one sentence among many, or in a list, is mostly part of a task. */
function crowdFeatures({ own, crowd, items, gist, isItem }: StatementView, order = 4): void {
  const bucket = bucketOf(crowd)
  const list = items === 0 ? 0 : items < 4 ? 1 : items < 10 ? 2 : 3
  add(tag.crowd, bucket)
  add(tag.crowd, 8 + list * 2 + Number(isItem))
  add(tag.crowd, 16 + order * 6 + bucket)
  for (let n = 0; n < own.classes.length; n++) add(tag.crowd, 64 + (own.classes[n] ?? 0) * 6 + bucket)
  if (gist.text === "") return
  const binds = sharesClass(own, bindingClasses) ? 64 : 0
  for (let n = 0; n < gist.classes.length; n++) add(tag.gist, (gist.classes[n] ?? 0) + binds)
}
const bindingClasses = classSet("never always must dont forbid only prefer ask lasting every general")
