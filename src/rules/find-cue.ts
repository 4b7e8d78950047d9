import { atomsOf, gap, minAtom } from "./find-atoms.ts"

/** A pattern that is tried only on texts that have what every match of it has. It answers as the pattern does. */
export type Cue = { readonly test: (text: string) => boolean }

/** Codes of what is no word, of letters, of digits and of the underscore: six bits each. */
const codes = new Uint8Array(128)
for (let n = 0; n < 26; n++) codes[97 + n] = codes[65 + n] = 1 + n
for (let n = 0; n < 10; n++) codes[48 + n] = 27 + n
codes[95] = 37

/** Rows of one length, each as a number, and the cues that need it or another. */
type Table = {
  readonly size: number
  readonly mask: number
  /** A bit for each place that is taken: small enough to be at hand. */
  readonly taken: Int32Array
  readonly rows: Map<number, number[]>
}

/** Several times the rows that there are, so that few others share a place. */
const tableBits = 16
const createTable = (size: number): Table => ({
  size,
  mask: 2 ** (6 * size) - 1,
  taken: new Int32Array(2 ** (tableBits - 5)),
  rows: new Map(),
})
/** Of an atom five signs are looked for, or three where it is shorter: as few texts have those, and they fit a number. */
const long = createTable(5)
const short = createTable(minAtom)

const placeOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> (32 - tableBits)

let cues = 0

/** Texts are sentences, and pages of some thousand characters now and then; of longer ones nothing is told. */
const maxLength = 2200
const signs = new Uint8Array(maxLength + 2)

type Scanned = { text: string | undefined; readonly found: Uint8Array }

/** More patterns than there are. */
const maxCues = 512
/** A sentence is looked at as it is, without its label, and without what it says of its speaker. */
const scanned: readonly Scanned[] = Array.from({ length: 4 }, () => ({
  text: undefined,
  found: new Uint8Array(maxCues),
}))
let oldest = 0

/** Patterns whose atoms are still to be noted: whoever never reads a text need not wait for that. */
let pending: { readonly pattern: RegExp; readonly own: number }[] = []

/** The pattern as a cue. Each text is read once for all cues together. */
export function cue(pattern: RegExp): Cue {
  if (cues === maxCues || pattern.global || pattern.sticky) return pattern
  const own = cues++
  pending.push({ pattern, own })
  // What is known of a text knows nothing of this one.
  latest = unread
  return {
    test: (text) => {
      // Most cues are asked about the text that the one before was asked about.
      const found = text === latest.text ? latest.found : foundIn(text)
      return found[own] === 1 && pattern.test(text)
    },
  }
}

/** Note what the patterns need. One that needs nothing is tried on every text. */
function notePending(): void {
  for (const { pattern, own } of pending) {
    const needed = atomsOf(pattern)
    if (needed === undefined) always.push(own)
    else for (const atom of needed) noteAtom(atom, own)
  }
  pending = []
  for (const slot of scanned) slot.text = undefined
}

const always: number[] = []

function noteAtom(text: string, own: number): void {
  const signsOfAtom = [...text].map((sign) => (sign === gap ? 0 : (codes[sign.charCodeAt(0)] ?? 0)))
  const table = signsOfAtom.length < long.size ? short : long
  const at = rarest(signsOfAtom, table.size)
  const key = signsOfAtom.slice(at, at + table.size).reduce((sum, code) => (sum << 6) | code, 0)
  const place = placeOf(key)
  table.taken[place >>> 5] = (table.taken[place >>> 5] ?? 0) | (1 << (place & 31))
  const there = table.rows.get(key) ?? []
  if (!there.includes(own)) table.rows.set(key, [...there, own])
}

/** How common gaps, letters and digits are in English, in thousandths of all signs; only speed depends on it. */
const shares: readonly number[] = [
  180, 65, 12, 22, 32, 103, 18, 16, 50, 57, 1, 5, 33, 20, 57, 62, 15, 1, 50, 53, 75, 23, 8, 19, 1, 16, 1,
]

/** Where so many signs of an atom stand that fewest texts have. */
function rarest(row: readonly number[], size: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (let at = 0; at + size <= row.length; at++) {
    const share = row.slice(at, at + size).reduce((product, code) => product * (shares[code] ?? 2), 1)
    if (share < least) [best, least] = [at, share]
  }
  return best
}

const everything = new Uint8Array(maxCues).fill(1)
const unread: Scanned = { text: undefined, found: everything }
let latest = unread

/** Which cues may match a text, by their numbers. */
function foundIn(text: string): Uint8Array {
  if (pending.length > 0) notePending()
  if (text.length > maxLength) return everything
  latest = scanned.find((slot) => slot.text === text) ?? scan(text)
  return latest.found
}

function scan(text: string): Scanned {
  oldest = (oldest + 1) % scanned.length
  const slot = scanned[oldest]
  if (slot === undefined) return { text, found: everything }
  slot.text = text
  const length = readSigns(text)
  slot.found.fill(length < 0 ? 1 : 0)
  for (const own of always) slot.found[own] = 1
  let key = 0
  for (let at = 0; at < length; at++) {
    key = ((key << 6) | (signs[at] ?? 0)) & long.mask
    const five = placeOf(key)
    if ((((long.taken[five >>> 5] ?? 0) >>> (five & 31)) & 1) === 1 && at + 1 >= long.size)
      noteRow(long, key, slot.found)
    const three = placeOf(key & short.mask)
    if ((((short.taken[three >>> 5] ?? 0) >>> (three & 31)) & 1) === 1 && at + 1 >= short.size)
      noteRow(short, key & short.mask, slot.found)
  }
  return slot
}

function noteRow({ rows }: Table, key: number, found: Uint8Array): void {
  const needing = rows.get(key)
  if (needing !== undefined) for (let n = 0; n < needing.length; n++) found[needing[n] ?? 0] = 1
}

/** A text as codes, with one gap between words and at both ends; -1 if it is not ASCII. */
function readSigns(text: string): number {
  signs[0] = 0
  let length = 1
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit > 127) return -1
    const code = codes[unit] ?? 0
    if (code !== 0 || signs[length - 1] !== 0) signs[length++] = code
  }
  if (signs[length - 1] !== 0) signs[length++] = 0
  return length
}
