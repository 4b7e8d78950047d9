import { lazy } from "../language/lazy.ts"
import { textOfCodes } from "../language/letters.ts"
import { knownWords as knownList } from "./generated/known-words.ts"
import { kindOf, ofWords, signKind } from "./sign-kinds.ts"
import { classSet, placeOf, setOfPlaces, sharesClass, wideTable, wordTable } from "./word-table.ts"

/**
 * What is known of words by themselves. Each word that is met is laid out in typed arrays once: what the table and the model know of it, or
 * what its letters tell. A sentence then takes no string and no object for a word.
 */

/** What a word is, as bits. */
export const wordFlag = {
  /** A sign at which a sentence parts. */
  joint: 1,
  /** In a script that puts no blanks between words. */
  unspaced: 1 << 1,
  /** People start sentences with it, and it says nothing of them. */
  opener: 1 << 2,
  /** A colon or a dash: what stands before it may be a lead. */
  leadEnd: 1 << 3,
  colon: 1 << 4,
  /** A question mark or an exclamation mark. */
  loud: 1 << 5,
  endsInS: 1 << 6,
  /** It joins clauses. */
  joining: 1 << 7,
  /** A run without blanks that is long enough to say something. */
  longRun: 1 << 8,
  /** "Do" or "does". */
  does: 1 << 9,
  /** A word of two signs or more that is no other part of speech behind "never" and "always". */
  verb: 1 << 10,
  /** The same where it is not told of the past, and is in letters. */
  command: 1 << 11,
  /** It forbids, in Chinese. */
  forbids: 1 << 12,
  /** It leaves open what is to be done: "always", "please". */
  bare: 1 << 13,
  /** It stands for what was put aside. */
  code: 1 << 14,
  quote: 1 << 15,
  number: 1 << 16,
  /** It is in the table. */
  classed: 1 << 17,
} as const

/** Bits for how long something is, below where it stands. */
export const lengthBits = 10
export const lengthMask: number = (1 << lengthBits) - 1

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "))

/** Words that people start sentences with and that say nothing of what the sentence is. */
const openers = setOf(
  "please and but so also ok okay oh well then just yes no hey hi yeah btw y e und et bitte also aber mais pero mas kindly",
)
/** Words behind "never" and "always" that are no verbs, or verbs of a story or a saying. */
const noCommand = setOf(
  "a an in on at one mind saw seen had has have got knew came went heard said say thought felt ran told took gave made did was were been ever again quite really bom good nice great fun un une ein eine um uma wieder gut schon gern bien leuk fijn happy glad happens works fails fail comes ends cease ceases",
)
const joining = setOf("so but and und et y e aber pero mas mais because since")

/** Signs of a run from which on it can say something by itself. */
const leastSigns = 5

/** The same in Chinese as "never", where no blank stands between the word and what it forbids. */
const forbidding: readonly Uint16Array[] = "不得 不准 不许 不允许 严禁 切勿 绝不 永远不 禁止".split(" ").map(codesOf)
const politely = 0x8bf7

export function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length)
  for (let at = 0; at < codes.length; at++) codes[at] = text.charCodeAt(at)
  return codes
}

/** The hash of no letters yet, and the one that a letter makes of a hash. */
export const hashStart = 0x811c9dc5 | 0
export const hashWith = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

function hashOf(signs: Uint16Array, start: number, end: number): number {
  let hash = hashStart
  for (let at = start; at < end; at++) hash = hashWith(hash, signs[at] ?? 0)
  return hash
}
const hashOfText = (text: string): number => hashOf(codesOf(text), 0, text.length)

/** Does a stretch of signs have others from a place on? */
function standsAt(signs: Uint16Array, at: number, end: number, others: Uint16Array): boolean {
  if (at + others.length > end) return false
  for (let n = 0; n < others.length; n++) if (signs[at + n] !== others[n]) return false
  return true
}
function includes(signs: Uint16Array, start: number, end: number, others: Uint16Array): boolean {
  for (let at = start; at + others.length <= end; at++) if (standsAt(signs, at, end, others)) return true
  return false
}

export const isOfRun = (code: number): boolean =>
  code >= 0x0e00 &&
  (code <= 0x0eff ||
    (code >= 0x3040 && code <= 0x30ff) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7af))

const colons = codesOf(":：")
const dashes = codesOf("—–-")
const joints = codesOf(":;,(：；，、—–-")

function flagsOfSign(code: number): number {
  const isColon = colons.includes(code)
  return (
    (joints.includes(code) ? wordFlag.joint : 0) |
    (isColon || dashes.includes(code) ? wordFlag.leadEnd : 0) |
    (isColon ? wordFlag.colon : 0) |
    (code === 0x3f || code === 0x21 ? wordFlag.loud : 0)
  )
}

const [letterQ, letterS, letterU] = [0x71, 0x73, 0x75]
const isSmall = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** The last letters of a word. */
const endsIn = (signs: Uint16Array, start: number, end: number, ending: Uint16Array): boolean =>
  end - ending.length >= start && standsAt(signs, end - ending.length, end, ending)
const [ing, ed, ly] = [codesOf("ing"), codesOf("ed"), codesOf("ly")]
const [asideCode, asideQuote, asideNumber] = [codesOf("qcode"), codesOf("qquote"), codesOf("qnum")]

/** What the letters of a word tell. */
function flagsOfLetters(signs: Uint16Array, start: number, end: number): number {
  const first = signs[start] ?? 0
  const isLettered = first < 128 ? isSmall(first) : (kindOf(first) & signKind.letter) !== 0
  let flags = signs[end - 1] === letterS ? wordFlag.endsInS : 0
  if (end - start > 1) {
    flags |= wordFlag.verb
    if (isLettered && !endsIn(signs, start, end, ed) && !endsIn(signs, start, end, ing)) flags |= wordFlag.command
  }
  for (let at = start; at < end; at++)
    if (signs[at] === letterQ) {
      if (includes(signs, start, end, asideCode)) flags |= wordFlag.code
      if (includes(signs, start, end, asideQuote)) flags |= wordFlag.quote
      if (includes(signs, start, end, asideNumber)) flags |= wordFlag.number
      break
    }
  return flags
}

/** Things of a kind, as most languages of the table mark them: "keep summaries short" speaks of all of them. */
function isPlural(signs: Uint16Array, start: number, end: number): boolean {
  if (end - start < 5 || signs[end - 1] !== letterS) return false
  const before = signs[end - 2] ?? 0
  if (!isSmall(before | 0x20) || before === letterS || before === letterU) return false
  for (let at = start; at < end - 2; at++) if (!isSmall(signs[at] ?? 0)) return false
  return true
}
const pluralPlace = placeOf("plural")
const pluralSet = classSet("plural")
/** Where the list of this one class stands in `lists`. */
const pluralList = (1 << lengthBits) | 1
const pluralAlone = [pluralList, pluralSet.low, pluralSet.high] as const

/** A word that is not known is read as its form: what nothing was learnt of says nothing by its letters. */
const forms = {
  ing: hashOfText("<ing>"),
  ed: hashOfText("<ed>"),
  ly: hashOfText("<ly>"),
  plural: hashOfText("<plural>"),
  word: hashOfText("<word>"),
} as const

function formOf(signs: Uint16Array, start: number, end: number, plural: boolean): number {
  const length = end - start
  if (length > 5 && endsIn(signs, start, end, ing)) return forms.ing
  if (length > 4 && endsIn(signs, start, end, ed)) return forms.ed
  if (length > 4 && endsIn(signs, start, end, ly)) return forms.ly
  return plural ? forms.plural : forms.word
}

/** Has a token a letter or a digit? Some have only marks. */
function hasLetter(signs: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((kindOf(signs[at] ?? 0) & ofWords) !== 0) return true
  return false
}

/** A word in a reading is so many numbers, at these places. Of a word without blanks, `head` is where it starts in its text, `ending` how long it is. */
export const wordLength = 8
export const wordField = { hash: 0, head: 1, ending: 2, flags: 3, list: 4, low: 5, high: 6, phrase: 7 } as const

/** Numbers of a known word in `records`: its hash, where its letters stand, and then what it is in a reading. */
const recordLength = wordLength + 2
const [keyAt, lettersAt, wordAt] = [0, 1, 2]

/** The words of the table with their classes, the phrases by their first words, and numbers for the other words of phrases. */
type Table = {
  readonly classes: ReadonlyMap<string, readonly number[]>
  readonly phrases: ReadonlyMap<string, readonly Phrase[]>
  readonly numbers: ReadonlyMap<string, number>
}
type Phrase = { readonly rest: readonly number[]; readonly place: number }

function readTable(): Table {
  const classes = new Map<string, number[]>()
  const phrases = new Map<string, Phrase[]>()
  const numbers = new Map<string, number>()
  const numbered = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size + 1
    numbers.set(word, known)
    return known
  }
  const push = <Value>(map: Map<string, Value[]>, key: string, value: Value): void => {
    const known = map.get(key)
    if (known === undefined) map.set(key, [value])
    else known.push(value)
  }
  for (const [place, entry] of Object.values(wordTable).entries()) {
    const [single = "", ...longer] = entry.split("|")
    for (const word of single.trim().split(" ")) push(classes, word, place)
    for (const phrase of longer) {
      const [first = "", ...rest] = phrase.trim().split(" ")
      push(phrases, first, { rest: rest.map(numbered), place })
    }
  }
  return { classes, phrases, numbers }
}

const table = lazy(readTable)
/** Words that are read by their letters beside those of the table: they stood often enough in what the model learnt from. */
const learnt = lazy((): ReadonlySet<string> => new Set(knownList.split(" ")))

/** Words that were met. Numbers are taken from the front of each array on. */
type Store = {
  /** By hash: the number of a word, or zero. A power of two in length, twice the words and more. */
  readonly slots: Uint16Array
  readonly records: Int32Array
  /** Their letters, one word behind the other. */
  readonly letters: Uint16Array
  /** Their classes, one list behind the other. */
  readonly lists: Uint8Array
  /** For each that opens some: how many, and of each how many words follow, their numbers, and its classes as in a record. */
  readonly phrases: number[]
  words: number
  lettersUsed: number
  listsUsed: number
}

/** Words that are kept, and letters of each at most: a longer one is told by its letters each time. */
const maxWords = 1 << 14
const maxLetters = 40
const slotCount = 2 * maxWords
const slotOf = (hash: number): number => (hash ^ (hash >>> 15)) & (slotCount - 1)
const roomForLetters = 8 * maxWords
/** Classes of one word at most, with those of the phrases that it opens. */
const maxListed = 256
const roomForLists = 4 * maxWords

const createStore = (): Store => {
  const lists = new Uint8Array(roomForLists)
  lists[pluralList >> lengthBits] = pluralPlace
  return {
    slots: new Uint16Array(slotCount),
    records: new Int32Array(recordLength * maxWords),
    letters: new Uint16Array(roomForLetters),
    lists,
    phrases: [0],
    words: 0,
    lettersUsed: 0,
    listsUsed: 2,
  }
}
let store: Store | undefined

/** The store, with room for as many new words: all are let go when it is full. What was read before keeps the lists that it refers to. */
export function storeFor(words: number): Store {
  const isFull =
    store === undefined ||
    store.words + words >= maxWords ||
    store.lettersUsed + words * maxLetters > roomForLetters ||
    store.listsUsed + words * maxListed > roomForLists
  if (isFull || store === undefined) store = createStore()
  return store
}

/** Writes a list of classes, and returns where it stands and which classes it has: three numbers as in a record. */
function writeList(known: Store, own: readonly number[]): readonly [list: number, low: number, high: number] {
  if (own.length === 0) return [0, 0, 0]
  const { low, high } = setOfPlaces(own)
  const list = (known.listsUsed << lengthBits) | own.length
  for (const place of own) known.lists[known.listsUsed++] = place
  return [list, low, high]
}

const bare = classSet("never always please thanks")

/** Writes the record of a word that is met first, and returns where it stands. */
function makeRecord(known: Store, signs: Uint16Array, start: number, end: number, hash: number, slot: number): number {
  const { records, letters, phrases } = known
  const record = recordLength * ++known.words
  known.slots[slot] = known.words
  records[record + keyAt] = hash
  records[record + lettersAt] = (known.lettersUsed << lengthBits) | (end - start)
  for (let at = start; at < end; at++) letters[known.lettersUsed++] = signs[at] ?? 0
  const word = textOfCodes(signs, start, end)
  const at = record + wordAt
  writeUnknown(records, at, signs, start, end, hash)
  const { classes: classesOf, phrases: phrasesOf, numbers } = table()
  const classes = classesOf.get(word)
  const follows = phrasesOf.get(word) ?? []
  if (classes !== undefined || follows.length > 0 || learnt().has(word)) records[at + wordField.hash] = hash
  const own = [...(classes ?? []), ...(isPlural(signs, start, end) ? [pluralPlace] : [])]
  const [list, low, high] = classes === undefined && own.length === 1 ? pluralAlone : writeList(known, own)
  const spoken = noCommand.has(word) ? ~(wordFlag.verb | wordFlag.command) : -1
  records[at + wordField.flags] =
    ((records[at + wordField.flags] ?? 0) & spoken) |
    (openers.has(word) ? wordFlag.opener : 0) |
    (joining.has(word) ? wordFlag.joining : 0) |
    (word === "do" || word === "does" ? wordFlag.does : 0) |
    (classes === undefined ? 0 : wordFlag.classed) |
    (sharesClass({ low, high }, bare) ? wordFlag.bare : 0)
  records[at + wordField.list] = list
  records[at + wordField.low] = low
  records[at + wordField.high] = high
  records[at + wordField.phrase] =
    ((follows.length === 0 ? 0 : phrases.length) << lengthBits) | (numbers.get(word) ?? 0)
  if (follows.length > 0) phrases.push(follows.length)
  for (const { rest, place } of follows) phrases.push(rest.length, ...rest, ...writeList(known, [place, ...own]))
  return record
}

/** Where the record of a word stands, which is not too long. `hash` is the one of its letters. */
function recordOf(known: Store, signs: Uint16Array, start: number, end: number, hash: number): number {
  const { slots, records, letters } = known
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (slotCount - 1)) {
    const record = (slots[slot] ?? 0) * recordLength
    if (record === 0) return makeRecord(known, signs, start, end, hash, slot)
    if (records[record + keyAt] !== hash) continue
    const stored = records[record + lettersAt] ?? 0
    if ((stored & lengthMask) !== end - start) continue
    const from = (stored >> lengthBits) - start
    let at = start
    while (at < end && letters[from + at] === signs[at]) at++
    if (at === end) return record
  }
}

/** Does a word do something in a sentence, whatever the sentence is about? */
export function isClassed(signs: Uint16Array, start: number, end: number): boolean {
  if (end - start > maxLetters) return false
  const known = storeFor(1)
  const record = recordOf(known, signs, start, end, hashOf(signs, start, end))
  return ((known.records[record + wordAt + wordField.flags] ?? 0) & wordFlag.classed) !== 0
}

/** Writes what is known of a word. */
export function writeWord(
  known: Store,
  to: Int32Array,
  at: number,
  signs: Uint16Array,
  start: number,
  end: number,
  hash: number,
): void {
  if (end - start > maxLetters) {
    writeUnknown(to, at, signs, start, end, hash)
    return
  }
  const from = recordOf(known, signs, start, end, hash) + wordAt
  for (let n = 0; n < wordLength; n++) to[at + n] = known.records[from + n] ?? 0
}

/** Letters of a word from which on it has parts, and of its parts. */
const [leastParted, headLength, endingLength] = [5, 4, 3]

function writeUnknown(to: Int32Array, at: number, signs: Uint16Array, start: number, end: number, hash: number): void {
  const first = signs[start] ?? 0
  const isSign = !hasLetter(signs, start, end)
  // A word that stands for what was put aside starts with "q", and has no parts.
  const isParted = !isSign && end - start >= leastParted && first !== letterQ
  const plural = isPlural(signs, start, end)
  to[at + wordField.hash] = isSign ? hash : formOf(signs, start, end, plural)
  to[at + wordField.head] = isParted ? hashOf(signs, start, start + headLength) : 0
  to[at + wordField.ending] = isParted ? hashOf(signs, end - endingLength, end) : 0
  to[at + wordField.flags] = flagsOfLetters(signs, start, end) | (isSign ? flagsOfSign(first) : 0)
  to[at + wordField.list] = plural ? pluralList : 0
  to[at + wordField.low] = plural ? pluralSet.low : 0
  to[at + wordField.high] = plural ? pluralSet.high : 0
  to[at + wordField.phrase] = 0
}

/** Classes of the words behind an opening word, if they make a phrase with it: written over the ones of the word itself. */
export function writePhrase({ phrases }: Store, words: Int32Array, at: number, left: number): void {
  let place = (words[at + wordField.phrase] ?? 0) >> lengthBits
  for (let count = phrases[place++] ?? 0; count > 0; count--) {
    const length = phrases[place++] ?? 0
    let same = 0
    if (length < left)
      while (same < length && isNumbered(words, at + wordLength * (same + 1), phrases[place + same] ?? 0)) same++
    place += length
    if (same === length && length < left) {
      words[at + wordField.list] = phrases[place] ?? 0
      words[at + wordField.low] = phrases[place + 1] ?? 0
      words[at + wordField.high] = phrases[place + 2] ?? 0
      return
    }
    place += 3
  }
}
const isNumbered = (words: Int32Array, at: number, number: number): boolean =>
  ((words[at + wordField.phrase] ?? 0) & lengthMask) === number

type WideSign = { readonly signs: Uint16Array; readonly place: number; readonly at: number }

/** The marks of Japanese sounds are taken off a folded text, so they are taken off the table as well. */
const withoutMarks = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC")

/** The entries of the table by their first sign, each list in the order of classes. */
const wide = lazy((): ReadonlyMap<number, readonly WideSign[]> => {
  const entries = Object.entries(wideTable).flatMap(([name, signs]) =>
    withoutMarks(signs)
      .split(" ")
      .map((sign) => ({ signs: codesOf(sign), place: placeOf(name) })),
  )
  const byClass = entries.toSorted((one, two) => one.place - two.place).map((entry, at) => ({ ...entry, at }))
  return Map.groupBy(byClass, ({ signs }) => signs[0] ?? 0)
})

/** The classes of a run of a script without blanks, in the order of the text; each entry of the table counts once. */
function wideClasses(signs: Uint16Array, start: number, end: number): readonly number[] {
  const table = wide()
  const found: number[] = []
  const seen: number[] = []
  for (let from = start; from < end; from++) {
    const entries = table.get(signs[from] ?? 0)
    if (entries === undefined) continue
    for (const { signs: own, place, at } of entries)
      if (standsAt(signs, from, end, own) && !seen.includes(at)) {
        seen.push(at)
        found.push(place)
      }
  }
  return found
}

/** The same as `writeWord` for a run of a script without blanks: returns its classes, whose list the caller writes. */
export function writeRun(
  to: Int32Array,
  at: number,
  signs: Uint16Array,
  start: number,
  end: number,
  hash: number,
): readonly number[] {
  const classes = wideClasses(signs, start, end)
  const { low, high } = setOfPlaces(classes)
  const length = end - start
  const from = signs[start] === politely ? start + 1 : start
  to[at + wordField.hash] = hash
  to[at + wordField.head] = start
  to[at + wordField.ending] = length
  to[at + wordField.flags] =
    wordFlag.unspaced |
    (length >= leastSigns ? wordFlag.longRun : 0) |
    (length > 1 ? wordFlag.verb : 0) |
    (forbidding.some((own) => standsAt(signs, from, end, own)) ? wordFlag.forbids : 0) |
    (sharesClass({ low, high }, bare) ? wordFlag.bare : 0)
  to[at + wordField.low] = low
  to[at + wordField.high] = high
  to[at + wordField.phrase] = 0
  return classes
}
