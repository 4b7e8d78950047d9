/** UTF-8 takes at most three bytes for each UTF-16 unit. */
const bytesPerUnit = 3
/** Readable bytes after the end, so that a reader may take four at a time. */
const slackBytes = 4
/** What is kept between texts: enough for nearly every message. */
const keptBytes = 1 << 18
/** What stands for half of a surrogate pair. */
const replacement = 0xfffd

/** The first `length` bytes are the text. `view` sees the same bytes. */
export type Utf8 = { readonly bytes: Uint8Array; readonly view: DataView; readonly length: number }

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
export type WriteText = (text: string, bytes: Uint8Array) => number

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

/** Turns texts into UTF-8, one at a time: the bytes are valid until the next call. */
export function createUtf8Writer(write: WriteText = fastestWriter()): (text: string) => Utf8 {
  const kept = new Uint8Array(keptBytes)
  const keptView = new DataView(kept.buffer)
  return (text) => {
    const needed = text.length * bytesPerUnit + slackBytes
    const bytes = needed <= keptBytes ? kept : new Uint8Array(needed)
    const view = needed <= keptBytes ? keptView : new DataView(bytes.buffer)
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
