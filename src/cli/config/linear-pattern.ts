/** Longer ones are programs. */
const maxLength = 1000
/** How many ways there may be to match at one place of a text: one bounded repetition of each part of an address, and little more. */
const maxWays = 500_000
/** The same for two repetitions side by side, between which every split may have to be tried. */
const maxWaysBeside = 10_000

/** How often something may stand: `most` is infinite where there is no limit. */
type Size = { readonly least: number; readonly most: number }

/** What stands at a place of a pattern, as far as its cost goes. */
type Piece = { readonly end: number; readonly ways: number }

type Reading = { readonly source: string; fault: string | undefined }

/**
 * Why a pattern could take long on some text, or undefined. Every text that is stored is put to it, and whoever writes the text may want it
 * to take long: so nothing is repeated that can match in many ways, and without a limit only what stands last.
 */
export function slowPattern(source: string): string | undefined {
  if (source.length > maxLength) return `it is longer than ${maxLength} characters`
  if (/\\[1-9]|\\k</.test(source.replace(/\\\\/g, ""))) return "it refers back to what it matched before"
  if (/\(\?<?[=!]/.test(source.replace(/\\./g, ""))) return "it looks ahead or behind"
  const reading: Reading = { source, fault: undefined }
  const { ways } = readGroup(reading, 0, true)
  if (ways > maxWays) reading.fault ??= "its repetitions taken together can match in too many ways"
  return reading.fault
}

/** From `start` to behind the closing bracket or the end. The ways of a sequence multiply, those of a choice add up. */
function readGroup(reading: Reading, start: number, isTop: boolean): Piece {
  const { source } = reading
  let [at, ways, sum, before] = [start, 1, 0, 1]
  while (at < source.length && source[at] !== ")") {
    if (source[at] === "|") {
      ;[at, ways, sum, before] = [at + 1, 1, sum + ways, 1]
      continue
    }
    const piece = source[at] === "(" ? readGroup(reading, contentOf(source, at), false) : readAtom(source, at)
    const { size, end } = readSize(source, piece.end)
    const isEndless = size.most === Number.POSITIVE_INFINITY
    const isLast = isTop && (end >= source.length || source[end] === "|")
    if (isEndless && piece.ways > 1) reading.fault ??= "it repeats without a limit what can match in several ways"
    if (isEndless && !isLast)
      reading.fault ??= `it repeats without a limit in front of something else; {${size.least},100} has one`
    const here = isEndless ? 1 : (size.most - size.least + 1) * piece.ways ** size.most
    if (before > 1 && here > 1 && before * here > maxWaysBeside)
      reading.fault ??= "it has two long repetitions side by side"
    ;[at, ways, before] = [end, ways * here, here]
  }
  return { end: at + 1, ways: sum + ways }
}

/** Behind `(`, `(?:`, `(?<name>`. */
function contentOf(source: string, at: number): number {
  const head = /\((?:\?(?::|<[^>]*>))?/y
  head.lastIndex = at
  return at + (head.exec(source)?.[0].length ?? 1)
}

/** A character, an escape or a class. */
function readAtom(source: string, at: number): Piece {
  const one = /\\(?:[pPu]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|.)|\[(?:\\.|[^\]\\])*\]|./suy
  one.lastIndex = at
  return { end: at + (one.exec(source)?.[0].length ?? 1), ways: 1 }
}

function readSize(source: string, at: number): { readonly size: Size; readonly end: number } {
  const sign = /(?:([*+?])|\{(\d{1,9})(,?)(\d{0,9})\})\??/y
  sign.lastIndex = at
  const found = sign.exec(source)
  if (found === null) return { size: once, end: at }
  const [whole, short, from, comma, to = ""] = found
  const least = Number(from)
  const long = { least, most: comma === "" ? least : to === "" ? Number.POSITIVE_INFINITY : Number(to) }
  return { size: (short === undefined ? undefined : shortSizes[short]) ?? long, end: at + whole.length }
}

const once: Size = { least: 1, most: 1 }

const shortSizes: Readonly<Record<string, Size>> = {
  "*": { least: 0, most: Number.POSITIVE_INFINITY },
  "+": { least: 1, most: Number.POSITIVE_INFINITY },
  "?": { least: 0, most: 1 },
}
