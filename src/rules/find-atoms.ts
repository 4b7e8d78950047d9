/**
 * What stands in every text that a pattern matches: of these, one at least. A text is taken as its words with one sign between any two
 * and at both ends, in lower case; nothing is known of a pattern that may match without any.
 */
export type Atoms = readonly string[] | undefined

/** What stands for whatever is no word, and for both ends. */
export const gap = "\0"

/** What a piece of a pattern matches: all there is, if that is little; otherwise what must be in it. */
type Piece = { readonly exact?: readonly string[]; readonly atoms: Atoms }

/** So many strings are followed at once; with more, what is known so far is as good. */
const maxStrings = 40
/** Shorter atoms stand in every text. */
export const minAtom = 3
/** Signs of a class that are followed one by one. */
const maxSigns = 8

/** The atoms of a pattern for texts of ASCII: branches that need another character match none of those. */
export function atomsOf({ source }: RegExp): Atoms {
  const reading: Reading = { source, at: 0, broken: false }
  const piece = readChoice(reading)
  return reading.broken || reading.at < source.length ? undefined : needOf(piece)
}

type Reading = { readonly source: string; at: number; broken: boolean }

const unknown: Piece = { atoms: undefined }
const nothing: Piece = { exact: [""], atoms: undefined }
const edge: Piece = { exact: [gap], atoms: undefined }

function readChoice(reading: Reading): Piece {
  const branches = [readBranch(reading)]
  while (reading.source[reading.at] === "|") {
    reading.at++
    branches.push(readBranch(reading))
  }
  if (branches.length === 1) return branches[0] ?? unknown
  const exact = branches.flatMap((piece) => piece.exact ?? [])
  if (branches.every((piece) => piece.exact !== undefined) && exact.length <= maxStrings)
    return { exact: [...new Set(exact)], atoms: undefined }
  const needs = branches.map(needOf)
  return { atoms: needs.every((need) => need !== undefined) ? [...new Set(needs.flat())] : undefined }
}

function readBranch(reading: Reading): Piece {
  let run: readonly string[] = [""]
  let whole = true
  let best: Atoms
  while (reading.at < reading.source.length && !"|)".includes(reading.source.charAt(reading.at))) {
    const piece = repeated(reading, readPiece(reading))
    const { exact } = piece
    if (exact !== undefined && run.length * exact.length <= maxStrings) run = products(run, exact)
    else {
      best = better(best, better(asAtoms(run), piece.atoms))
      run = exact ?? [""]
      whole = false
    }
  }
  return whole ? { exact: run, atoms: undefined } : { atoms: better(best, asAtoms(run)) }
}

const products = (run: readonly string[], more: readonly string[]): readonly string[] => [
  ...new Set(
    run.flatMap((one) =>
      more.map((other) => (one.endsWith(gap) && other.startsWith(gap) ? one + other.slice(1) : one + other)),
    ),
  ),
]

const needOf = ({ exact, atoms }: Piece): Atoms => (exact === undefined ? atoms : asAtoms(exact))

const asAtoms = (strings: readonly string[]): Atoms =>
  strings.every(({ length }) => length >= minAtom) ? strings : undefined

const shortest = (atoms: readonly string[]): number => Math.min(...atoms.map(({ length }) => length))

/** The one that fewer texts have: longer atoms, and fewer of them. */
function better(one: Atoms, other: Atoms): Atoms {
  if (one === undefined || other === undefined) return one ?? other
  const [length, more] = [shortest(one), shortest(other)]
  return length > more || (length === more && one.length <= other.length) ? one : other
}

const count = /^(?:[?*+]|\{(\d+)(?:,\d*)?\})\??/

function repeated(reading: Reading, piece: Piece): Piece {
  const found = "?*+{".includes(reading.source.charAt(reading.at))
    ? count.exec(reading.source.slice(reading.at, reading.at + 16))
    : null
  if (found === null) return piece
  const [sign, least = ""] = found
  reading.at += sign.length
  if (sign.startsWith("?"))
    return piece.exact === undefined ? unknown : { exact: ["", ...piece.exact], atoms: undefined }
  return sign.startsWith("+") || Number(least) > 0 ? { atoms: needOf(piece) } : unknown
}

/** Letters and blanks as they stand, without one that is counted behind. */
const literal = /[a-z ]+(?![a-z ?*+{])/gy

function readPiece(reading: Reading): Piece {
  const { source } = reading
  literal.lastIndex = reading.at
  const said = literal.exec(source)?.[0]
  if (said !== undefined) {
    reading.at += said.length
    return { exact: [said.replace(/ +/g, gap)], atoms: undefined }
  }
  const sign = source.charAt(reading.at++)
  if (sign === "(") return readGroup(reading)
  if (sign === "[") return readClass(reading)
  if (sign === ".") return unknown
  if (sign === "^" || sign === "$") return edge
  if (sign === "\\") return readEscape(reading)
  if ("*+?{}".includes(sign)) reading.broken = true
  return { exact: asText(sign), atoms: undefined }
}

/** A sign as it stands in a text of ASCII; none if it stands in no such text. */
function asText(sign: string): readonly string[] {
  if (/[^\0-\x7f]/.test(sign)) return []
  return /\w/.test(sign) ? [sign.toLowerCase()] : [gap]
}

const looking = /^\?(?:<?[=!])/
/** A look around for the end of a word. */
const wordEdge = /^\?<?!\[\\w[^\]\\]{0,4}\]\)/

function readGroup(reading: Reading): Piece {
  const opening = reading.source.slice(reading.at, reading.at + 24)
  const looks = looking.exec(opening)?.[0].length ?? 0
  const isEdge = wordEdge.test(opening)
  if (looks > 0) reading.at += looks
  else if (opening.startsWith("?:")) reading.at += 2
  else if (opening.startsWith("?")) reading.broken = true
  const inner = readChoice(reading)
  if (reading.source[reading.at++] !== ")") reading.broken = true
  return isEdge ? edge : looks > 0 ? nothing : inner
}

function readEscape(reading: Reading): Piece {
  const sign = reading.source.charAt(reading.at++)
  if (sign === "b") return edge
  if (sign === "B") return nothing
  if (sign === "s" || sign === "W" || "nrtfv".includes(sign)) return edge
  if (/\W/.test(sign)) return { exact: asText(sign), atoms: undefined }
  const brace = /^\{[^}]{0,40}\}/.exec(reading.source.slice(reading.at, reading.at + 44))?.[0].length ?? 0
  if (sign === "p" || sign === "P" || sign === "u") reading.at += brace > 0 ? brace : sign === "u" ? 4 : 0
  else if (sign === "x") reading.at += 2
  else if (!/[wd\dDS]/.test(sign)) reading.broken = true
  return unknown
}

/** A class: its signs if they are few. One that leaves signs out, or has ranges or kinds in it, may be anything. */
function readClass(reading: Reading): Piece {
  const { source } = reading
  const start = reading.at
  while (reading.at < source.length && source[reading.at] !== "]") reading.at += source[reading.at] === "\\" ? 2 : 1
  const body = source.slice(start, reading.at)
  reading.at++
  const plain = body.replace(/\\(.)/gsu, (escaped, sign: string) =>
    sign === "s" ? " " : /\w/.test(sign) ? escaped : sign,
  )
  if (body.startsWith("^") || /\\\w/.test(plain) || /.-./su.test(plain)) return unknown
  const exact = [...new Set([...plain].flatMap(asText))]
  return exact.length <= maxSigns ? { exact, atoms: undefined } : unknown
}
