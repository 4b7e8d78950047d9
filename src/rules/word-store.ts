import { lazy } from "../language/lazy.ts"
import { textOfCodes } from "../language/letters.ts"
import { knownWords as knownList } from "./generated/known-words.ts"
import { kindOf, ofWords, signKind } from "./sign-kinds.ts"
import { classSet, placeOf, setOfPlaces, sharesClass, wideTable, wordTable } from "./word-table.ts"

/**
 * What is known of words by themselves. The words of the table and those that the model learnt by their letters are laid out in typed arrays
 * as they are met; of any other word all there is to know is told by its letters. No word is made into a string or an object.
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
  /** What is known of it was written. */
  made: 1 << 18,
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

/** Signs that are words of their own, and dashes, one or two. */
const signWords = "? ! : ; , ( 。 ！ ？ ： ； ， 、 → % $ € £ - – — -- -– -— –- –– –— —- —– ——"

type Store = {
  /** By hash: the number of a word, or zero. A power of two in length, several times the words. */
  readonly slots: Uint16Array
  readonly records: Int32Array
  /** The letters of all words, one behind the other, with blanks between them. */
  readonly letters: Uint16Array
  /** Classes of the words that were met, one list behind the other. */
  readonly lists: Uint8Array
  /** For each word that was met and opens some: how many, and of each how many words follow, their numbers, and its classes as in a record. */
  readonly phrases: number[]
  readonly table: Table
  readonly learnt: ReadonlySet<string>
}

const slotCount = 1 << 15
const slotOf = (hash: number): number => (hash ^ (hash >>> 15)) & (slotCount - 1)

/** Finds the words of a text in a store by their hashes; what each of them is, is told when it is met. */
function indexWords(text: string, slots: Uint16Array, records: Int32Array, letters: Uint16Array): void {
  let hash = hashStart
  for (let at = 0, start = 0, record = recordLength; at < text.length; at++) {
    const code = text.charCodeAt(at)
    letters[at] = code
    if (code !== 0x20) {
      hash = hashWith(hash, code)
      continue
    }
    if (at > start) {
      records[record + keyAt] = hash
      records[record + lettersAt] = (start << lengthBits) | (at - start)
      let slot = slotOf(hash)
      while (slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1)
      slots[slot] = record / recordLength
      record += recordLength
    }
    start = at + 1
    hash = hashStart
  }
}

const store = lazy((): Store => {
  const sources = [knownList, ...Object.values(wordTable), openers, noCommand, joining, signWords]
  // A word that is there twice is found at its first place.
  const text = `${sources.map((source) => (typeof source === "string" ? source : [...source].join(" "))).join(" ")} `
  const slots = new Uint16Array(slotCount)
  const records = new Int32Array(recordLength * (text.split(" ").length + 1))
  const letters = new Uint16Array(text.length)
  indexWords(text, slots, records, letters)
  // All lists together are shorter than the words that have them.
  const lists = new Uint8Array(text.length)
  lists[pluralList >> lengthBits] = pluralPlace
  return { slots, records, letters, lists, phrases: [0], table: readTable(), learnt: new Set(knownList.split(" ")) }
})

/** Where the next list of classes is written: the first two places are taken. */
let listed = 2

/** Writes a list of classes, and where it stands and which classes it has: three numbers as in a record. */
function writeList(lists: Uint8Array, own: readonly number[]): readonly [list: number, low: number, high: number] {
  if (own.length === 0) return [0, 0, 0]
  const { low, high } = setOfPlaces(own)
  const list = (listed << lengthBits) | own.length
  for (const place of own) lists[listed++] = place
  return [list, low, high]
}

const bare = classSet("never always please thanks")

/** Writes the record of a known word when it is met first. */
function makeRecord({ records, letters, lists, phrases, table, learnt }: Store, record: number): void {
  const stored = records[record + lettersAt] ?? 0
  const start = stored >> lengthBits
  const end = start + (stored & lengthMask)
  const word = textOfCodes(letters, start, end)
  const at = record + wordAt
  writeUnknown(records, at, letters, start, end, records[record + keyAt] ?? 0)
  const classes = table.classes.get(word)
  const follows = table.phrases.get(word) ?? []
  if (learnt.has(word) || classes !== undefined || follows.length > 0)
    records[at + wordField.hash] = records[record + keyAt] ?? 0
  const own = [...(classes ?? []), ...(isPlural(letters, start, end) ? [pluralPlace] : [])]
  const [list, low, high] = writeList(lists, own)
  const spoken = noCommand.has(word) ? ~(wordFlag.verb | wordFlag.command) : -1
  records[at + wordField.flags] =
    ((records[at + wordField.flags] ?? 0) & spoken) |
    wordFlag.made |
    (openers.has(word) ? wordFlag.opener : 0) |
    (joining.has(word) ? wordFlag.joining : 0) |
    (word === "do" || word === "does" ? wordFlag.does : 0) |
    (classes === undefined ? 0 : wordFlag.classed) |
    (sharesClass({ low, high }, bare) ? wordFlag.bare : 0)
  records[at + wordField.list] = list
  records[at + wordField.low] = low
  records[at + wordField.high] = high
  records[at + wordField.phrase] =
    ((follows.length === 0 ? 0 : phrases.length) << lengthBits) | (table.numbers.get(word) ?? 0)
  if (follows.length > 0) phrases.push(follows.length)
  for (const { rest, place } of follows) phrases.push(rest.length, ...rest, ...writeList(lists, [place, ...own]))
}

/** Where the record of a known word stands, or zero. `hash` is the one of its letters. */
function recordOf(known: Store, signs: Uint16Array, start: number, end: number, hash: number): number {
  const { slots, records, letters } = known
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (slotCount - 1)) {
    const record = (slots[slot] ?? 0) * recordLength
    if (record === 0) return 0
    if (records[record + keyAt] !== hash) continue
    const stored = records[record + lettersAt] ?? 0
    if ((stored & lengthMask) !== end - start) continue
    const from = (stored >> lengthBits) - start
    let at = start
    while (at < end && letters[from + at] === signs[at]) at++
    if (at < end) continue
    if (((records[record + wordAt + wordField.flags] ?? 0) & wordFlag.made) === 0) makeRecord(known, record)
    return record
  }
}

/** Does a word do something in a sentence, whatever the sentence is about? */
export function isClassed(signs: Uint16Array, start: number, end: number): boolean {
  const known = store()
  const record = recordOf(known, signs, start, end, hashOf(signs, start, end))
  return record > 0 && ((known.records[record + wordAt + wordField.flags] ?? 0) & wordFlag.classed) !== 0
}

/** Writes what is known of a word: the one of known words, or what its letters tell. */
export function writeWord(
  to: Int32Array,
  at: number,
  signs: Uint16Array,
  start: number,
  end: number,
  hash: number,
): void {
  const known = store()
  const record = recordOf(known, signs, start, end, hash)
  if (record === 0) {
    writeUnknown(to, at, signs, start, end, hash)
    return
  }
  for (let n = 0; n < wordLength; n++) to[at + n] = known.records[record + wordAt + n] ?? 0
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
export function writePhrase(words: Int32Array, at: number, left: number): void {
  const { phrases } = store()
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

/** The classes of the known words; an entry of `list` tells where in them. */
export const knownLists = (): Uint8Array => store().lists

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
