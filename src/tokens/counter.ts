import { type Tokens, tokens } from "../message/message.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { widthOf } from "./character.ts"
import { mergePairs, singleBytes } from "./generated/o200k.ts"
import { createLongMerge } from "./merge-long.ts"
import { pieceEnd } from "./split.ts"
import { mergeRank, noMerge, readVocabulary, type Vocabulary } from "./vocabulary.ts"

/**
 * Counts the tokens of texts: exactly, except for texts over 4 MB and for pieces over 55 kB without a break. Caches counts in a fixed
 * amount of memory.
 */
export type Counter = {
  readonly count: (text: string) => Tokens
  /** The same count in steps of some kilobytes; counting the text again is then fast. */
  readonly countSteps: (text: string) => Steps<Tokens>
  /** Returns the longest prefix of a text with at most `budget` tokens, cut between characters. */
  readonly truncate: (text: string, budget: Tokens) => string
  /** Number of merge steps for long pieces so far: a measure of work without a clock. */
  readonly steps: () => number
}

/**
 * Maximum length of a cached piece: longer ones are rare and seldom recur, and the bound limits the effect of a crafted hash collision.
 */
const cachedPieceBytes = 128
/** 2 MB. A session of a million tokens has some 20,000 to 60,000 different pieces. */
const pieceSlotBits = 17
/** 1 MB, enough for the parts of some hundred long sessions. */
const textSlotBits = 16
/** Minimum length of a cached text: a shorter one is counted as fast as it is looked up. */
const cachedTextUnits = 64
/** The longest token of o200k: 128 spaces. */
const longestTokenBytes = 128

/** Bytes of a text's long pieces that are merged completely: 50 ms, at about 200 ns per byte. */
const mergedWholeBytes = 262_144
/** After that, one piece in this many is merged, and the others are estimated by the highest density so far. */
const mergedOneIn = 16
/**
 * Maximum length in UTF-16 units of a text that is counted completely. A longer one, unless mostly blanks, fits no window and is sampled.
 * 4 MB of English have 900,000 tokens.
 */
const countedWholeUnits = 4_000_000
const samples = 64
const sampleUnits = 8192
/** Factor on a sampled count, so that it errs on the safe side for uneven texts. */
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
  /** Counts pieces until a position is reached, and returns the position and the total. */
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
  /** Only for texts with their own buffer: the shared buffer may be overwritten between two steps. */
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

/** The position reached in a text, and its tokens so far. */
type Counted = { readonly at: number; readonly total: number }

/** Bytes counted in one step: at most some 20 ms. */
const bytesAtOnce = 65_536

/** Estimates a text's tokens from samples spread over it, in a time independent of its length. */
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

/** Counts the pieces of one text in sequence, with a limit on merging. A piece equal to the previous one is merged only once. */
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

/** Maximum length in bytes for which scanning all pairs at each merge is faster than a queue. */
const shortPieceBytes = 32

/** Counts the tokens of a piece of at most `shortPieceBytes`: repeatedly merges the pair of lowest rank. */
function createShortMerge(vocabulary: Vocabulary): (bytes: Uint8Array, from: number, end: number) => number {
  const tokens = new Int32Array(shortPieceBytes)
  /** For each token, the rank of its merge with the next one. */
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

/** What truncating needs from a counter. */
type TruncateCounters = {
  readonly countPiece: CountBytes
  readonly countBytes: CountBytes
  readonly prefixEnd: (bytes: Uint8Array, from: number, end: number, budget: number) => number
}

/** Maximum length in bytes of a window in which every cut is tried; in a longer piece only those after a token. */
const triedBytes = 128

/** The piece in which the budget is exceeded, and the piece before it, whose end may move when the text after it is cut. */
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
 * Returns the end of the longest prefix with at most `budget` tokens. Exact, except in a piece of more than 128 bytes without a break,
 * where the cut is after a token.
 */
function longestFit(text: Utf8, budget: number, { countPiece, countBytes, prefixEnd }: TruncateCounters): number {
  const edge = findEdge(text, budget, countPiece)
  if (edge === undefined) return text.length
  const { before, start, end, spent, spentBefore } = edge
  const fits = (cut: number): boolean => spentBefore + countBytes(text, before, cut) <= budget
  // White space belongs to the next piece, so a cut one character into that piece may take fewer tokens.
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

/** Slots of a set (4-way associative); with four words each they share a cache line. */
const ways = 4
const wordsPerSlot = 4
const wordsPerSet = ways * wordsPerSlot

/**
 * Multipliers with irregular bits, from MurmurHash3 and xxHash; two different ones, so that the halves of the hash collide independently.
 */
const firstFactor = 0xcc9e2d51
const secondFactor = 0x85ebca77
const setFactor = 0x9e3779b1
/** Masks for the first n bytes of a little-endian word. */
const tailMasks = Int32Array.of(0, 0xff, 0xffff, 0xffffff)

/**
 * Caches counts in a table of 2^`slotBits` slots of 16 bytes. The key is a 64-bit hash with the length, not a string, which would keep a
 * whole request in memory. When the four slots of a set are full, the oldest entry is replaced.
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

/** UTF-8 takes at most three bytes per UTF-16 unit. */
const bytesPerUnit = 3
/** Readable bytes after the end, so that four bytes may be read at a time. */
const slackBytes = 4
/** Size of the shared buffer: enough for nearly every message. */
const keptBytes = 1 << 18
/** Replacement for a lone surrogate. */
const replacement = 0xfffd

/** The text is in the first `length` bytes; `view` is over the same buffer. */
type Utf8 = { readonly bytes: Uint8Array; readonly view: DataView; readonly length: number }

const isLead = (unit: number): boolean => (unit & 0xfc00) === 0xd800
const isTrail = (unit: number): boolean => (unit & 0xfc00) === 0xdc00

/** Returns the code point at `at`; a lone surrogate becomes U+FFFD, as in a request to a model. */
function codePointAt(text: string, at: number, unit: number): number {
  const next = isLead(unit) ? text.charCodeAt(at + 1) : 0
  if (isTrail(next)) return 0x10000 + ((unit & 0x3ff) << 10) + (next & 0x3ff)
  return isLead(unit) || isTrail(unit) ? replacement : unit
}

/** Writes one non-ASCII character and returns the position after it. */
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

/** Writes a text into a buffer that is large enough, and returns the number of bytes. */
type WriteText = (text: string, bytes: Uint8Array) => number

/** Encodes without the platform: for short texts, and where there is no `TextEncoder`. */
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
/** Every browser and server runtime has it, but it is not part of the language, so it may be missing. */
declare const TextEncoder: (new () => Encoder) | undefined

/** Minimum length for which the platform's encoder is worth the call. */
const longUnits = 64

function fastestWriter(): WriteText {
  if (typeof TextEncoder === "undefined") return writeByHand
  const encoder = new TextEncoder()
  return (text, bytes) => (text.length < longUnits ? writeByHand(text, bytes) : encoder.encodeInto(text, bytes).written)
}

const neededBytes = (text: string): number => text.length * bytesPerUnit + slackBytes

/** True if a text needs a buffer of its own, because it is too long for the shared one. */
const hasOwnBytes = (text: string): boolean => neededBytes(text) > keptBytes

/** Encodes texts as UTF-8. The bytes are valid until the next call, those of a long text permanently. */
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

/** Returns the number of UTF-16 units of the bytes from `from` to `end`. */
export function unitsBetween(bytes: Uint8Array, from: number, end: number): number {
  let units = 0
  for (let at = from; at < end; at++) {
    const byte = bytes[at] ?? 0
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1
  }
  return units
}

let shared: Counter | undefined

/** Returns the shared counter of the process, built on first use: its caches serve every session. */
export function o200k(): Counter {
  shared ??= createCounter(readVocabulary(singleBytes, mergePairs))
  return shared
}

/** Counts the o200k tokens of a text. Special tokens count as plain text. */
export const countO200k = (text: string): Tokens => o200k().count(text)

/** Returns the longest prefix of a text with at most `budget` o200k tokens, cut between characters. */
export const truncateO200k = (text: string, budget: Tokens): string => o200k().truncate(text, budget)
