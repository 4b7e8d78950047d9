import type { Channel } from "../message/message.ts"

/**
 * What stands in every text that a pattern matches: of these, one at least. A text is taken as its words with one sign between any two
 * and at both ends, in lower case; nothing is known of a pattern that may match without any.
 */
type Atoms = readonly string[] | undefined

/** What stands for whatever is no word, and for both ends. */
const gap = "\0"

/** What a piece of a pattern matches: all there is, if that is little; otherwise what must be in it. */
type Piece = { readonly exact?: readonly string[]; readonly atoms: Atoms }

/** So many strings are followed at once; with more, what is known so far is as good. */
const maxStrings = 40
/** Shorter atoms stand in every text. */
const minAtom = 3
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

/** How a text is meant: a page of rules, talk in which rules are rare, or data that may hold one. */
export type Genre = "rules" | "talk" | "data"

/** Names of files that hold rules for whoever works with them. */
const ruleFile =
  /(?:^|[\\/ ])(?!(?:es|style|css|js|ts)?-?lint|firewall|build|css)(?:\w{2,20}[-_]){0,2}(?:agents?|claude|gemini|copilot-instructions|codex|conventions?|contributing|rules|guidelines|style-?guide|memory|instructions|system[-_]?prompt|handbook|runbook)(?:\.\w{1,12})?\.(?:mdx?|mdc|txt|rst|ya?ml)$|\.(?:cursor|windsurf|cline|roo|goose)?rules$|[\\/](?:rules|policies|guidelines)[\\/]|polic(?:y|ies)/i

/** Headings under which rules stand. */
export const ruleHeading: Cue = cue(
  /\b(?:rules?|polic(?:y|ies)|guidelines?|guidance|conventions?|constraints?|restrictions?|requirements?|instructions?|standards?|best practices?|principles?|boundaries|guardrails?|do'?s (?:and|&) don'?ts?|do not|don'?t|never|always|must|prohibited|forbidden|permissions?|limits?|code of conduct|compliance|gotchas|pitfalls|style guide|preferences?|important|critical|security|quality|checklist|expectations|notes? to (?:the )?(?:agent|assistant|self)|standing orders?|reglas?|normas?|politicas?|instrucciones|requisitos|restricciones|directrices|regras|regeln|richtlinien|vorgaben|regles|consignes|directives|politique)\b|规则|規則|规定|規定|政策|准则|準則|守则|要求|限制|约束|注意事项|须知|指令|规范|ルール|規則|方針|禁止|注意|правила|политика|규칙|정책/,
)

/** Headings under which a text tells what there is. */
export const tellingHeading: Cue = cue(
  /^(?:\d+[.)] )?(?:the |key |main |core |public |available |project |system |high-level |quick |basic )*(?:architecture|overview|usage|features?|examples?|reference|apis?|endpoints?|background|history|changelog|glossary|classes|about|introduction|what (?:is|it)|how it works|tech stack|import path|file locations|entry points|problem|why)\b/,
)

/** The genre that a channel has by itself; a tool's output and a message of the user show theirs. */
export function genreOf(channel: Channel, source: string | undefined): Genre {
  if (source !== undefined && ruleFile.test(source)) return "rules"
  if (channel === "user" || channel === "assistant") return "talk"
  return channel === "tool" ? "data" : "rules"
}

/** Words by which a page says of itself that it holds rules. */
export const namesRules: Cue = cue(
  /\b(?:rules?|polic(?:y|ies)|guidelines?|conventions?|constraints?|restrictions?|standards?|best practices?|instructions|code of conduct|compliance|guardrails?|handbook|playbook|runbook|do'?s (?:and|&) don'?ts?|do not|never|must|prohibited|forbidden|agents?\.md|claude\.md|reglas?|normas?|politicas?|directrices|regras|regeln|richtlinien|regles|consignes)\b|规则|規則|规定|規定|政策|准则|守则|规范|制度|规章|条例|须知|ルール|規則|方針/,
)

/** So large a share of the sentences of a page must bind for it to be one of rules, and so many there must be. */
const namedShare = 0.3
const ruleShare = 0.5
const minRuleSentences = 3

/** Is data a page of rules, by its name for itself and its sentences? One that has such a title needs no more than one. */
export const isRulePage = (named: "titled" | "named" | "no", binding: number, sentences: number): boolean =>
  binding >= (named === "titled" ? 1 : minRuleSentences) &&
  binding >= sentences * (named === "no" ? ruleShare : namedShare)

/** Policies of machines, not for whoever reads them. */
const machinery = cue(
  /\b(?:retry|cache|caching|restart|eviction|backoff|scaling|retention_policy|pull|update|rotation|lint|linting|eslint|routing|firewall|iptables|css|grammar|validation|build|make|proxy|scheduling|replication|merge|referrer|security-policy|content security|cors|iam|bucket|password) (?:polic(?:y|ies)|rules?)\b/,
)

/** Words that a title of rules has at most. */
const maxTitle = 8

/** Is a line the title of a page of rules: a few words with the name of such a page among them, and no sentence? */
export const isRuleTitle = (seen: string): boolean =>
  namesRules.test(seen) &&
  !machinery.test(seen) &&
  !/[.!?。](?!\w)|\b(?:the|this|your|is|are|was|were|see|must|never|should|do not|not)\b.*\b/.test(seen) &&
  seen.split(" ").length <= maxTitle

/** Does a name of a field or a file say that rules stand in it? */
export const namesRuleField = (name: string): boolean =>
  ruleFile.test(name) ||
  /^(?:[a-z]+[_ -]?)?(?:policies|policy|rules|guidelines|guardrails|constraints|instructions|politicas?|normas|reglas|normativa|directrices)(?:[_ -]?(?:text|body|id|name|title))?$|政策|制度|规则|规定|守则/i.test(
    name.normalize("NFD").replace(/\p{M}/gu, ""),
  )
