import { decodeBase64, decodeHex, decodeUrl, isNoise, rotate } from "../../language/encoding.ts"
import { isAsciiLetter } from "../../language/letters.ts"
import { type Survey, survey } from "../../language/normalize.ts"
import type { Span } from "../../message/message.ts"

/** A span of a text that is readable when decoded. */
type Decoding = {
  readonly encoding: "base64" | "hex" | "url" | "rot13"
  readonly span: Span
  readonly text: string
}

/** Maximum number of decoded blobs per encoding; a real document has few that decode to prose. */
const maxBlobs = 1000
/** Maximum number of characters decoded of one blob: instructions are short, images are long. */
const maxBlobLength = 16_384
/** Number of characters decoded first, to see whether the blob is readable at all. */
const sampleLength = 96

type Encoding = {
  readonly encoding: Decoding["encoding"]
  /** True if a text may contain this encoding: a fast check that skips the search for most texts. */
  readonly isIn: (text: string) => boolean
  readonly blob: RegExp
  readonly decode: (blob: string) => string
}

/** ROT13 of words that an injection can hardly avoid; nothing else shows that a line is rotated. */
const rotated =
  "vtaber qvfertneq sbetrg cerivbhf cevbe vafgehpgvba vafgehpgvbaf flfgrz cebzcg bireevqr nffvfgnag fhzznel ehyrf cbyvpl".split(
    " ",
  )
const rotatedWords = new RegExp(`\\b(?:${rotated.join("|")})\\b`, "i")

/** Lookup table of the first three letters of these words: faster than trying the pattern at each position. */
const rotatedStarts: Uint8Array = new Uint8Array(1 << 15)
for (const word of rotated)
  rotatedStarts[[...word.slice(0, 3)].reduce((key, sign) => (key << 5) | (sign.charCodeAt(0) & 31), 0)] = 1

/**
 * True if one of these words may be in the text: looks up the first letters of each word in the table, ignoring case, and runs the pattern
 * on a hit.
 */
function mayBeRotated(text: string): boolean {
  const { length } = text
  for (let at = 0; at < length; at++) {
    const first = text.charCodeAt(at)
    if (!isAsciiLetter(first)) continue
    const start = at
    while (at + 1 < length && isAsciiLetter(text.charCodeAt(at + 1))) at++
    if (at - start < 2) continue
    const key = ((first & 31) << 10) | ((text.charCodeAt(start + 1) & 31) << 5) | (text.charCodeAt(start + 2) & 31)
    if (rotatedStarts[key] === 1 && rotatedWords.test(text.slice(Math.max(0, start - 1), start + maxRotated)))
      return true
  }
  return false
}
/** More than the length of the longest of these words and the character after it. */
const maxRotated = 16

const encodings: readonly Encoding[] = [
  { encoding: "hex", isIn: (text) => text.includes("\\x"), blob: /(?:\\x[\dA-Fa-f]{2}){8,}/g, decode: decodeHex },
  {
    encoding: "base64",
    isIn: () => true,
    blob: /[A-Za-z\d+/_-]{20,}(?:\r?\n[A-Za-z\d+/_-]{20,})*={0,2}/y,
    decode: decodeBase64,
  },
  {
    encoding: "url",
    isIn: (text) => text.includes("%") && percentPair.test(text),
    blob: /[^\s"'<>()]+/y,
    decode: decodeUrl,
  },
  { encoding: "rot13", isIn: mayBeRotated, blob: /[^\n]+/g, decode: rotate },
]

const percentPair = /%[\da-f]{2}/i
const percentPairs = /%[\da-f]{2}/gi

/** True if the text looks like prose (mostly letters and spaces, and more than one word or an ideographic script), or like another blob. */
function isReadable(text: string): boolean {
  if (text.length < 8) return false
  if (/^[\w+/=-]{20,}$/.test(text)) return true
  const letters = text.match(/[\p{L}\p{N} \n.,!?:;'"-]/gu)?.length ?? 0
  return letters >= text.length * 0.85 && (/\p{L}\s+\p{L}/u.test(text) || /\p{Script=Han}{4}/u.test(text))
}

/** A run of letters and digits is hex if it has no letter beyond f; otherwise it is base64. */
const isHex = /^(?:[\dA-Fa-f]{2})+$/

function decodeBlob({ encoding, decode }: Encoding, written: string): Omit<Decoding, "span"> | undefined {
  const hex = encoding === "base64" && isHex.test(written)
  const read = hex ? decodeHex : decode
  const sampled = encoding === "base64" || encoding === "hex"
  const sample = written.slice(0, sampleLength)
  if (sampled && ((encoding === "base64" && isNoise(sample, hex)) || !isReadable(read(sample)))) return undefined
  const text = read(written.slice(0, maxBlobLength))
  return text !== written && isReadable(text) ? { encoding: hex ? "hex" : encoding, text } : undefined
}

type Blob = { readonly 0: string; readonly index: number }

const urlSign = /[^\s"'<>()]/
const minUrl = 12

/** Yields the URL-like runs of characters that contain a percent escape. */
function* urlsIn(text: string, blob: RegExp): Generator<Blob> {
  let end = 0
  for (const { index } of text.matchAll(percentPairs)) {
    if (index < end) continue
    let start = index
    while (start > end && urlSign.test(text.charAt(start - 1))) start--
    blob.lastIndex = start
    const match = blob.exec(text)
    end = start + (match?.[0].length ?? 1)
    if (match !== null && match[0].length >= minUrl) yield match
  }
}

/** Yields the blobs of an encoding. For base64 only the given starts of runs are tried. */
function* blobsIn(text: string, { encoding, isIn, blob }: Encoding, runs: readonly number[]): Generator<Blob> {
  if (encoding === "url") {
    if (isIn(text)) yield* urlsIn(text, blob)
    return
  }
  if (encoding !== "base64") {
    if (isIn(text)) yield* text.matchAll(blob)
    return
  }
  let end = 0
  for (const start of runs) {
    if (start < end) continue
    blob.lastIndex = start
    const match = blob.exec(text)
    if (match === null) continue
    end = start + match[0].length
    yield match
  }
}

/** Decodes the readable texts hidden in encoded blobs, with limits on their number and size. Linear in the text. */
export function decodings(text: string, { runs }: Survey = survey(text)): readonly Decoding[] {
  return encodings.flatMap((encoding) => {
    const found: Decoding[] = []
    for (const { 0: written, index } of blobsIn(text, encoding, runs)) {
      const isHinted = encoding.encoding === "rot13" ? rotatedWords.test(written) : encoding.isIn(written)
      const decoded = isHinted ? decodeBlob(encoding, written) : undefined
      if (decoded !== undefined) found.push({ ...decoded, span: { start: index, end: index + written.length } })
      if (found.length >= maxBlobs) break
    }
    return found
  })
}
