import { type Tokens, tokens } from "../message/message.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { widthOf } from "./character.ts"
import { mergePairs, singleBytes } from "./generated/o200k.ts"
import { createLongMerge } from "./merge-long.ts"
import { pieceEnd } from "./split.ts"
import { mergeRank, noMerge, readVocabulary, type Vocabulary } from "./vocabulary.ts"

/** Counts the tokens of texts: exactly, but for texts of more than 4 MB and for pieces of more than 55 kB without a break. Holds what it learned of earlier ones, within fixed memory. */
export type Counter = {
  readonly count: (text: string) => Tokens
  /** The same count, worked out some kilobytes at a time; counting the text again is then quick. */
  readonly countSteps: (text: string) => Steps<Tokens>
  /** The longest beginning of a text that has at most `budget` tokens, cut between characters. */
  readonly truncate: (text: string, budget: Tokens) => string
  /** How many steps the merging of long pieces took so far: the work done, without a clock. */
  readonly steps: () => number
}

/** A longer piece is rare and seldom comes again; and a bounded length bounds what a made-up collision could gain. */
const cachedPieceBytes = 128
/** 2 MB. A session of a million tokens has some 20,000 to 60,000 different pieces. */
const pieceSlotBits = 17
/** 1 MB, enough for the parts of some hundred long sessions. */
const textSlotBits = 16
/** A shorter text is counted as quickly as it is looked up. */
const cachedTextUnits = 64
/** The longest token of o200k: 128 spaces. */
const longestTokenBytes = 128

/** Merging takes some 200 ns for each byte of a piece without a break. So much of one text is merged whole: 50 ms. */
const mergedWholeBytes = 262_144
/** Of what follows, one stretch in so many is merged, and the others count as the densest stretch so far. */
const mergedOneIn = 16
/** A longer text fits into no window unless it is mostly blanks: it is counted by samples. 4 MB of English have 900,000 tokens. */
const countedWholeUnits = 4_000_000
const samples = 64
const sampleUnits = 8192
/** Added to a count by samples, so that it errs on the safe side where the text is not the same everywhere. */
const sampleMargin = 1.05

export function createCounter(vocabulary: Vocabulary): Counter {
  const write = createUtf8Writer()
  const short = createShortMerge(vocabulary)
  const long = createLongMerge(vocabulary)

  const merge = ({ bytes }: Utf8, from: number, end: number): number =>
    end - from <= shortPieceBytes ? short(bytes, from, end) : long.count(bytes, from, end)
  const cachedPiece = createCountCache(pieceSlotBits)

  const countPiece = (text: Utf8, from: number, end: number): number => {
    if (end - from === 1) return 1
    return end - from <= cachedPieceBytes ? cachedPiece(text, from, end, merge) : merge(text, from, end)
  }
  /** Count up to a place or somewhat behind it, and say where. */
  const countUpTo = (text: Utf8, counted: Counted, until: number, count: CountBytes): Counted => {
    let { at, total } = counted
    while (at < until) {
      const next = pieceEnd(text.bytes, at, text.length)
      total += count(text, at, next)
      at = next
    }
    return { at, total }
  }
  const countBytes = (text: Utf8, from: number, end: number): number =>
    Math.ceil(countUpTo({ ...text, length: end }, { at: from, total: 0 }, end, createPieceCounter(countPiece)).total)
  const cachedText = createCountCache(textSlotBits)
  const countWhole = (text: string): number => {
    const utf8 = write(text)
    return text.length < cachedTextUnits
      ? countBytes(utf8, 0, utf8.length)
      : cachedText(utf8, 0, utf8.length, countBytes)
  }
  /** Only for texts whose bytes are their own: others are counted between two steps. */
  function* countLong(text: string): Steps<number> {
    const utf8 = write(text)
    const count = createPieceCounter(countPiece)
    let counted: Counted = { at: 0, total: 0 }
    while (counted.at < utf8.length) {
      counted = countUpTo(utf8, counted, Math.min(utf8.length, counted.at + bytesAtOnce), count)
      yield
    }
    const { total } = counted
    return cachedText(utf8, 0, utf8.length, () => Math.ceil(total))
  }
  function* countSteps(text: string): Steps<Tokens> {
    if (text.length > countedWholeUnits) return tokens(yield* countSamples(text, countWhole))
    return tokens(hasOwnBytes(text) ? yield* countLong(text) : countWhole(text))
  }

  return {
    count: (text) =>
      tokens(text.length <= countedWholeUnits ? countWhole(text) : runSteps(countSamples(text, countWhole))),
    countSteps,
    truncate: (text, budget) => {
      const reach = budget * longestTokenBytes + 1
      const utf8 = write(text.length > reach ? text.slice(0, reach) : text)
      const end = longestFit(utf8, budget, {
        countPiece: createPieceCounter(countPiece),
        countBytes,
        prefixEnd: long.prefixEnd,
      })
      return text.slice(0, unitsBetween(utf8.bytes, 0, end))
    },
    steps: long.steps,
  }
}

/** How far a text was counted. */
type Counted = { readonly at: number; readonly total: number }

/** Bytes counted in one step: at most some 20 ms. */
const bytesAtOnce = 65_536

/** The count of a text by that of stretches all over it, in a time that does not grow with it. */
function* countSamples(text: string, count: (text: string) => number): Steps<number> {
  const stride = text.length / samples
  let total = 0
  for (let n = 0; n < samples; n++) {
    const from = Math.floor(n * stride)
    total += count(text.slice(from, from + sampleUnits))
    yield
  }
  return Math.ceil(total * (stride / sampleUnits) * sampleMargin)
}

/** Counts the pieces of one text, one after the other, with a bound on what is merged. A stretch with the bytes of the one before it is merged once. */
function createPieceCounter(countPiece: CountBytes): CountBytes {
  let mergedBytes = 0
  let stretches = 0
  let densest = 0
  let last = { from: 0, end: 0, count: 0 }
  return (text, from, end) => {
    if (end - from <= cachedPieceBytes) return countPiece(text, from, end)
    if (isRepeated(text.bytes, last, from, end)) return last.count
    stretches++
    if (mergedBytes > mergedWholeBytes && stretches % mergedOneIn !== 0) return densest * (end - from)
    const count = countPiece(text, from, end)
    mergedBytes += end - from
    densest = Math.max(densest, count / (end - from))
    last = { from, end, count }
    return count
  }
}

type Stretch = { readonly from: number; readonly end: number }

function isRepeated(bytes: Uint8Array, last: Stretch, from: number, end: number): boolean {
  if (end - from !== last.end - last.from) return false
  for (let at = from, before = last.from; at < end; at++, before++) if (bytes[at] !== bytes[before]) return false
  return true
}

/** Up to here looking at every pair for each merge is quicker than keeping them in order. */
const shortPieceBytes = 32

/** Counts the tokens of a piece of at most `shortPieceBytes`: the pair of the smallest rank merges until none can. */
function createShortMerge(vocabulary: Vocabulary): (bytes: Uint8Array, from: number, end: number) => number {
  const tokens = new Int32Array(shortPieceBytes)
  /** The rank of each token's union with the next one. */
  const ranks = new Int32Array(shortPieceBytes)

  const rankAt = (index: number, last: number): number =>
    index < last ? mergeRank(vocabulary, tokens[index] ?? 0, tokens[index + 1] ?? 0) : noMerge

  return (bytes, from, end) => {
    let last = end - from - 1
    for (let index = 0; index <= last; index++) tokens[index] = vocabulary.byteTokens[bytes[from + index] ?? 0] ?? 0
    for (let index = 0; index <= last; index++) ranks[index] = rankAt(index, last)
    for (;;) {
      let best = noMerge
      let place = 0
      for (let index = 0; index < last; index++) {
        const rank = ranks[index] ?? noMerge
        if (rank < best) {
          best = rank
          place = index
        }
      }
      if (best === noMerge) return last + 1
      tokens[place] = best
      for (let index = place + 1; index < last; index++) {
        tokens[index] = tokens[index + 1] ?? 0
        ranks[index] = ranks[index + 1] ?? 0
      }
      last--
      ranks[place] = rankAt(place, last)
      if (place > 0) ranks[place - 1] = rankAt(place - 1, last)
    }
  }
}

/** What cutting needs of a counter. */
type Measures = {
  readonly countPiece: CountBytes
  readonly countBytes: CountBytes
  readonly prefixEnd: (bytes: Uint8Array, from: number, end: number, budget: number) => number
}

/** In a window of this size every cut is tried; in a longer piece only those at the end of a token. */
const triedBytes = 128

/** The piece in which a budget runs out, and the one before it, whose end can move when what follows it is cut. */
type Edge = {
  readonly before: number
  readonly start: number
  readonly end: number
  readonly spent: number
  readonly spentBefore: number
}

function findEdge(text: Utf8, budget: number, countPiece: CountBytes): Edge | undefined {
  let before = 0
  let spentBefore = 0
  let spent = 0
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text.bytes, start, text.length)
    const count = countPiece(text, start, end)
    if (spent + count > budget) return { before, start, end, spent, spentBefore }
    before = start
    spentBefore = spent
    spent += count
    start = end
  }
  return undefined
}

const betweenCharacters = ({ bytes, length }: Utf8, at: number): boolean =>
  at === length || ((bytes[at] ?? 0) & 0xc0) !== 0x80

/**
 * Where the longest beginning ends that has at most `budget` tokens. Exact, but for a piece of more than 128 bytes without a
 * break, where the cut falls on the end of a token.
 */
function longestFit(text: Utf8, budget: number, { countPiece, countBytes, prefixEnd }: Measures): number {
  const edge = findEdge(text, budget, countPiece)
  if (edge === undefined) return text.length
  const { before, start, end, spent, spentBefore } = edge
  const fits = (cut: number): boolean => spentBefore + countBytes(text, before, cut) <= budget
  // White space goes with what follows it, so a cut one character into the next piece can still be the cheaper one.
  const last = Math.min(text.length, end + (end < text.length ? widthOf(text.bytes[end] ?? 0) : 0))
  if (last - start <= triedBytes) {
    for (let cut = last; cut > start; cut--) if (betweenCharacters(text, cut) && fits(cut)) return cut
    return start
  }
  for (let allowed = budget - spent; allowed > 0; allowed = Math.min(allowed - 1, Math.floor(allowed * 0.9))) {
    const cut = prefixEnd(text.bytes, start, end, allowed)
    if (cut === start || fits(cut)) return cut
  }
  return start
}

type CountBytes = (text: Utf8, from: number, end: number) => number

/** Slots that one stretch may stand in; with four words each they share a cache line. */
const ways = 4
const wordsPerSlot = 4
const wordsPerSet = ways * wordsPerSlot

/** Multipliers without a pattern in their bits, of MurmurHash3 and xxHash; two of them, so that the halves of a hash fail independently. */
const firstFactor = 0xcc9e2d51
const secondFactor = 0x85ebca77
const setFactor = 0x9e3779b1
/** Keeps the first n bytes of a little-endian word. */
const tailMasks = Int32Array.of(0, 0xff, 0xffff, 0xffffff)

/**
 * Remembers counts, and works out what it has not, in a table of 2^`slotBits` slots of 16 bytes. A stretch of text is known by a 64-bit hash and its length,
 * never by a string that would keep a whole request alive; when its four slots are taken, the oldest gives way.
 */
export function createCountCache(
  slotBits: number,
): (text: Utf8, from: number, end: number, count: CountBytes) => number {
  const slots = new Int32Array((1 << slotBits) * wordsPerSlot)
  const setShift = 32 - slotBits + 2

  const insert = (at: number, first: number, second: number, length: number, counted: number): number => {
    slots.copyWithin(at + wordsPerSlot, at, at + wordsPerSet - wordsPerSlot)
    slots[at] = first
    slots[at + 1] = second
    slots[at + 2] = length
    slots[at + 3] = counted
    return counted
  }

  return (text, from, end, count) => {
    const { view } = text
    let first = end - from
    let second = first
    for (let at = from; at < end; at += 4) {
      const word = end - at >= 4 ? view.getInt32(at, true) : view.getInt32(at, true) & (tailMasks[end - at] ?? 0)
      first = Math.imul(first ^ word, firstFactor)
      first ^= first >>> 15
      second = Math.imul(second + word, secondFactor)
      second ^= second >>> 13
    }
    const start = (Math.imul(first ^ second, setFactor) >>> setShift) * wordsPerSet
    for (let at = start; at < start + wordsPerSet; at += wordsPerSlot) {
      if (slots[at] === first && slots[at + 1] === second && slots[at + 2] === end - from) return slots[at + 3] ?? 0
    }
    return insert(start, first, second, end - from, count(text, from, end))
  }
}

/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const bytesPerUnit = 3
/** Readable bytes after the end, so that a reader may take four at a time. */
const slackBytes = 4
/** What is kept between texts: enough for nearly every message. */
const keptBytes = 1 << 18
/** What stands for half of a surrogate pair. */
const replacement = 0xfffd

/** The first `length` bytes are the text. `view` sees the same bytes. */
type Utf8 = { readonly bytes: Uint8Array; readonly view: DataView; readonly length: number }

const isLead = (unit: number): boolean => (unit & 0xfc00) === 0xd800
const isTrail = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** The code point at `at`; a lone surrogate is U+FFFD, as on its way to any model. */
function codePointAt(text: string, at: number, unit: number): number {
  const next = isLead(unit) ? text.charCodeAt(at + 1) : 0
  if (isTrail(next)) return 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff)
  return isLead(unit) || isTrail(unit) ? replacement : unit
}

/** Writes one character that is not ASCII and says where the next one goes. */
function writeWide(bytes: Uint8Array, end: number, codePoint: number): number {
  let at = end
  if (codePoint < 0x800) bytes[at++] = 0xc0 | (codePoint >> 6)
  else {
    if (codePoint < 0x10000) bytes[at++] = 0xe0 | (codePoint >> 12)
    else {
      bytes[at++] = 0xf0 | (codePoint >> 18)
      bytes[at++] = 0x80 | ((codePoint >> 12) & 0x3f)
    }
    bytes[at++] = 0x80 | ((codePoint >> 6) & 0x3f)
  }
  bytes[at++] = 0x80 | (codePoint & 0x3f)
  return at
}

/** Writes a text into bytes that are large enough, and says how many it took. */
type WriteText = (text: string, bytes: Uint8Array) => number

/** By hand: for short texts, and where the platform has no encoder of its own. */
export const writeByHand: WriteText = (text, bytes) => {
  let end = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes[end++] = unit
    else {
      const codePoint = codePointAt(text, at, unit)
      end = writeWide(bytes, end, codePoint)
      if (codePoint >= 0x10000) at++
    }
  }
  return end
}

type Encoder = { readonly encodeInto: (text: string, bytes: Uint8Array) => { readonly written: number } }
/** Every browser and server runtime has it, but it is no part of the language, so it may be missing. */
declare const TextEncoder: (new () => Encoder) | undefined

/** From here on the platform's encoder is worth its call. */
const longUnits = 64

function fastestWriter(): WriteText {
  if (typeof TextEncoder === "undefined") return writeByHand
  const encoder = new TextEncoder()
  return (text, bytes) => (text.length < longUnits ? writeByHand(text, bytes) : encoder.encodeInto(text, bytes).written)
}

const neededBytes = (text: string): number => text.length * bytesPerUnit + slackBytes

/** Is a text too long for the bytes that are kept? */
const hasOwnBytes = (text: string): boolean => neededBytes(text) > keptBytes

/** Turns texts into UTF-8, one at a time: the bytes are valid until the next call, those of a long text for good. */
export function createUtf8Writer(write: WriteText = fastestWriter()): (text: string) => Utf8 {
  const kept = new Uint8Array(keptBytes)
  const keptView = new DataView(kept.buffer)
  return (text) => {
    const isOwn = hasOwnBytes(text)
    const bytes = isOwn ? new Uint8Array(neededBytes(text)) : kept
    const view = isOwn ? new DataView(bytes.buffer) : keptView
    return { bytes, view, length: write(text, bytes) }
  }
}

/** How many UTF-16 units the bytes from `from` to `end` stand for. */
export function unitsBetween(bytes: Uint8Array, from: number, end: number): number {
  let units = 0
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1
  }
  return units
}

let shared: Counter | undefined

/** The process's one counter, built on first use: its caches serve every session. */
export function o200k(): Counter {
  shared ??= createCounter(readVocabulary(singleBytes, mergePairs))
  return shared
}

/** How many o200k tokens a text has. Special tokens count as the plain text they are. */
export const countO200k = (text: string): Tokens => o200k().count(text)

/** The longest beginning of a text that has at most `budget` o200k tokens, cut between characters. */
export const truncateO200k = (text: string, budget: Tokens): string => o200k().truncate(text, budget)
