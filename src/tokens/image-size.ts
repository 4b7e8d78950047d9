export type ImageSize = { readonly width: number; readonly height: number }

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
/** Characters of a block searched for the start of its base64, which follows its first fields. */
const searchedUnits = 1024
/** Maximum number of JPEG segments before the size; real images have a dozen. */
const segmentLimit = 64

type ByteAt = (index: number) => number

/** Returns the start of the base64 of an inline image in its block, or -1. */
function dataStart(wire: string): number {
  const head = wire.slice(0, searchedUnits)
  const found = /;base64,|"data"\s*:\s*"/.exec(head)
  return found === null ? -1 : found.index + found[0].length
}

/** Reads single bytes of base64 without decoding the rest; -1 beyond the end. */
function byteReader(text: string, start: number): ByteAt {
  const digit = (at: number): number => (at < text.length ? base64.indexOf(text.charAt(at)) : -1)
  return (index) => {
    const at = start + Math.floor(index / 3) * 4 + (index % 3)
    const high = digit(at)
    const low = digit(at + 1)
    if (high < 0 || low < 0) return -1
    const shift = 2 * ((index % 3) + 1)
    return ((high << shift) | (low >> (6 - shift))) & 0xff
  }
}

const big = (byteAt: ByteAt, at: number): number => (byteAt(at) << 8) | byteAt(at + 1)
const little = (byteAt: ByteAt, at: number): number => byteAt(at) | (byteAt(at + 1) << 8)
const starts = (byteAt: ByteAt, at: number, text: string): boolean =>
  Array.from(text).every((character, index) => byteAt(at + index) === character.charCodeAt(0))

function jpegSize(byteAt: ByteAt): ImageSize | undefined {
  let at = 2
  for (let segment = 0; segment < segmentLimit && byteAt(at) === 0xff; segment++) {
    const marker = byteAt(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: big(byteAt, at + 5), width: big(byteAt, at + 7) }
    at += 2 + big(byteAt, at + 2)
  }
  return undefined
}

function webpSize(byteAt: ByteAt): ImageSize | undefined {
  if (starts(byteAt, 12, "VP8X")) {
    const edge = (at: number): number => 1 + (little(byteAt, at) | (byteAt(at + 2) << 16))
    return { width: edge(24), height: edge(27) }
  }
  if (starts(byteAt, 12, "VP8L")) {
    const bits = little(byteAt, 21) | (little(byteAt, 23) << 16)
    return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
  }
  if (!starts(byteAt, 12, "VP8 ")) return undefined
  return { width: little(byteAt, 26) & 0x3fff, height: little(byteAt, 28) & 0x3fff }
}

function sizeOf(byteAt: ByteAt): ImageSize | undefined {
  if (starts(byteAt, 1, "PNG")) return { width: big(byteAt, 18), height: big(byteAt, 22) }
  if (starts(byteAt, 0, "GIF8")) return { width: little(byteAt, 6), height: little(byteAt, 8) }
  if (byteAt(0) === 0xff && byteAt(1) === 0xd8) return jpegSize(byteAt)
  return starts(byteAt, 8, "WEBP") ? webpSize(byteAt) : undefined
}

/** Reads the size of an inline PNG, JPEG, GIF or WebP from the first bytes in its block's JSON. */
export function inlineImageSize(wire: string): ImageSize | undefined {
  const start = dataStart(wire)
  const size = start < 0 ? undefined : sizeOf(byteReader(wire, start))
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}
