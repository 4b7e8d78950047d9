import { directs } from "../../language/imperative.ts"
import { type Channel, instructs } from "../../message/message.ts"
import {
  type Attribution,
  authorityOf,
  createAttribution,
  type LineAuthority,
  type SummarySource,
} from "./attribute.ts"
import { affirms, type Claim, claimIn, grants, steers, withholdsApproval } from "./claim.ts"
import type { FindingKind } from "./finding.ts"
import { scanText } from "./scan.ts"

/** A line written by a summarizer, and the ids of its claimed sources, which may be empty. */
type DraftedLine = {
  readonly text: string
  readonly sources: readonly string[]
  /** True if the line is in a section that tells the reader what to do next. */
  readonly promises?: boolean
}

/** Why a line is removed from a summary. */
export type DropReason =
  | { readonly code: "injection-found"; readonly kinds: readonly FindingKind[] }
  | { readonly code: "approval-from-data" }
  | { readonly code: "rule-change-from-data" }
  | { readonly code: "value-not-in-source"; readonly values: readonly string[] }
  | { readonly code: "words-not-in-source" }
  /** The line contradicts or revokes a rule in force, or states something else about its subject. */
  | { readonly code: "against-rule"; readonly rule: string }

/** What happened to a line that was not kept as written: dropped, or moved to the quotations of tool output. */
export type GateEvent =
  | { readonly type: "line-dropped"; readonly line: number; readonly reason: DropReason }
  | { readonly type: "line-quoted"; readonly line: number }

type GatedSummary = {
  /** Lines supported by words of the user, the operator or the assistant. */
  readonly lines: readonly DraftedLine[]
  /** Lines supported by data: they may only be quoted as seen there. */
  readonly seen: readonly DraftedLine[]
  readonly events: readonly GateEvent[]
}

/** Lookups over all sources, built once for all lines. */
type SourceIndex = {
  readonly attribute: (text: string) => Attribution
  readonly byId: ReadonlyMap<string, SummarySource>
  /** True if a value occurs in a source, or in a source with one of these authorities. */
  readonly stands: (value: string, grounds?: readonly LineAuthority[]) => boolean
}

/** Minimum number of terms of a clause to be attributed by itself: with fewer it is attributed with its line. */
const minTerms = 2

/** Matches destinations to which something can be sent: web or mail address, bank account, phone number. */
const destination =
  /https?:\/\/[^\s"'`<>)\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)*|\b[A-Z]{2}\d{2}[A-Z\d]{10,30}\b|\+\d[\d -]{7,20}\d/g

const dropCodes = { approval: "approval-from-data", "rule-change": "rule-change-from-data" } as const

/** Returns the reason to drop a clause that claims an approval or rule change which no authority made. */
function unbacked(clause: string, at: Attribution): DropReason | undefined {
  const claim = claimIn(clause)
  return claim === undefined || claim === "request" || backs(claim, clause, at) ? undefined : { code: dropCodes[claim] }
}

/** True if all terms of a clause are in one place of data and not in one of the user's messages. */
const isOnlyInData = ({ terms, support }: Attribution): boolean =>
  terms > 0 && support.data.share === 1 && support.authority.share < 1

type Origin = "own" | "data" | "nothing"

/**
 * Returns the origin of a line. Each clause is attributed by itself, so a harmless half does not vouch for the other; one clause from data
 * makes the whole line data.
 */
function originOf(
  line: DraftedLine,
  whole: Attribution,
  clauses: readonly Attribution[],
  grounds: SourceIndex,
): Origin {
  const resting = [whole, ...clauses].map(({ restsOn }) => restsOn)
  const word = clauses.some((clause) => clause.terms < minTerms && isOnlyInData(clause))
  if (word || resting.includes("data")) return "data"
  const toward = line.text.match(destination) ?? []
  const isKnown = (value: string): boolean =>
    grounds.stands(value, line.promises === true ? ["authority"] : ["authority", "assistant"])
  if (!toward.every((value) => isKnown(value.replace(trailing, "")))) return "data"
  return (line.promises === true ? resting : [whole.restsOn]).includes("nothing") ? "nothing" : "own"
}

type Verdict = { readonly ground: "own" | "data" } | { readonly reason: DropReason }

function judge(line: DraftedLine, grounds: SourceIndex): Verdict {
  const { text } = line
  const whole = grounds.attribute(text)
  const clauses = clausesOf(text).map((clause) => {
    const attribution = grounds.attribute(clause)
    return { clause, at: attribution.terms < minTerms && !isOnlyInData(attribution) ? whole : attribution }
  })
  const attributions = clauses.map(({ at }) => at)
  const given = [whole, ...attributions].every(({ restsOn }) => restsOn === "authority")
  const { findings } = given ? { findings: [] } : scanText(text, { channel: "tool" })
  if (findings.length > 0)
    return { reason: { code: "injection-found", kinds: [...new Set(findings.map(({ kind }) => kind))] } }
  for (const { clause, at } of [{ clause: text, at: whole }, ...clauses]) {
    const reason = unbacked(clause, at)
    if (reason !== undefined) return { reason }
  }
  const values = valuesIn(text).filter((value) => !grounds.stands(value))
  if (values.length > 0) return { reason: { code: "value-not-in-source", values } }
  const ground = originOf(line, whole, attributions, grounds)
  return ground === "nothing" ? { reason: { code: "words-not-in-source" } } : { ground }
}

/** Corrects the sources of a line if they are missing or wrong; otherwise returns the same object. */
function withSources(line: DraftedLine, { attribute, byId }: SourceIndex): DraftedLine {
  const { support, restsOn } = attribute(line.text)
  const claimed = line.sources.filter((id) => byId.has(id))
  const found = Object.values(support).toSorted((one, other) => other.share - one.share)[0]?.source
  const misled = restsOn === "data" && claimed.every((id) => byId.get(id)?.channel !== found?.channel)
  if (found !== undefined && (claimed.length === 0 || misled)) return { ...line, sources: [found.id] }
  return claimed.length === line.sources.length ? line : { ...line, sources: claimed }
}

function createSourceIndex(lines: readonly DraftedLine[], sources: readonly SummarySource[]): SourceIndex {
  const texts = lines.flatMap(({ text }) => [text, ...clausesOf(text)])
  const lookups = sources.map(({ text, channel }) => ({ stands: createLookup(text), ground: authorityOf(channel) }))
  return {
    attribute: createAttribution(sources, texts),
    byId: new Map(sources.map((source) => [source.id, source])),
    stands: (value, among) =>
      lookups.some(({ stands, ground }) => (among === undefined || among.includes(ground)) && stands(value)),
  }
}

/**
 * Checks a summarizer's lines against the sources, whatever the summarizer did and claims. A line is kept only if each clause is supported
 * by words of the user, the operator or the assistant. A line supported by data may only be quoted as seen there, whether it reads like a
 * report or a request; no list of verbs decides. Unsupported lines are dropped, and so are claims that somebody allowed something or that a
 * rule changed. Kept lines keep their text; missing or wrong sources are corrected.
 */
export function gateSummary(lines: readonly DraftedLine[], sources: readonly SummarySource[]): GatedSummary {
  const grounds = createSourceIndex(lines, sources)
  const events: GateEvent[] = []
  const kept: DraftedLine[] = []
  const seen: DraftedLine[] = []
  for (const [at, line] of lines.entries()) {
    const verdict = judge(line, grounds)
    if ("reason" in verdict) events.push({ type: "line-dropped", line: at, reason: verdict.reason })
    else if (verdict.ground === "data") {
      seen.push(withSources(line, grounds))
      events.push({ type: "line-quoted", line: at })
    } else kept.push(withSources(line, grounds))
  }
  return { lines: kept, seen, events }
}

/** Minimum share of an approval or rule change that has to be in one place of an instructing source. */
const minCovered = 0.5

/** True if an authority really said what a line claims: its words have to cover the line and express the same claim. */
function backs(claim: Exclude<Claim, "request">, text: string, { restsOn, support }: Attribution): boolean {
  const { share, said, source } = support.authority
  if (restsOn !== "authority" || share < minCovered || source === undefined) return false
  if (claim === "rule-change") return claimIn(said) === "rule-change"
  const agreed = grants(said) || affirms(source.text) || directs(source.text)
  return agreed && withholdsApproval(said) === withholdsApproval(text)
}

/** Matches the separators between the clauses of a line. */
const clauseSeparators =
  /[.;!?]\s+|[,:]\s|[。；！？，：、]|\n|\s[-–—]\s|\s(?:and(?: then)?|then|but|und|dann|sowie|et|puis|y|luego|e|и|затем)\s|(?:并且|然后|并|且|以及)/giu

/** Maximum number of clauses per line; a summary line has a few, and the last one contains the rest. */
const maxClauses = 24

/** Splits a line into clauses, so that a harmless half cannot vouch for the other. */
function clausesOf(line: string): readonly string[] {
  const clauses: string[] = []
  let start = 0
  for (const { 0: separator, index } of line.matchAll(clauseSeparators)) {
    if (clauses.length === maxClauses - 1) break
    clauses.push(line.slice(start, index))
    start = index + separator.length
  }
  clauses.push(line.slice(start))
  return clauses.filter((clause) => /\p{L}/u.test(clause))
}

/** Exact values in any language, which a summary may repeat but must not invent. */
const patterns: readonly RegExp[] = [
  /https?:\/\/[^\s"'`<>)\]]{1,2000}/g,
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  /(?<![\w/\\.:-])(?:[a-z]:[\\/]|~?\.{0,2}\/)[\w.@+~-]{1,255}(?:[\\/][\w.@+~-]{1,255}){0,30}/gi,
  /(?<![\w/.-])[\w@+~-]{1,255}(?:\/[\w.@+~-]{1,255}){1,30}\.\w{1,10}\b/g,
  /(?<![\w.])[\w-]{1,100}\.(?:ts|tsx|js|jsx|py|go|rs|java|rb|c|h|cpp|cs|php|sh|sql|md|json|jsonl|ya?ml|toml|ini|cfg|conf|env|txt|csv|pdf|docx?|xlsx?|html?|css|xml|log|lock|png|jpe?g|zip|gz)\b/gi,
  /(?<![\w-])(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[a-z_])[\w-]{4,80}(?![\w-])/gi,
  /#\d{1,9}\b/g,
  /(?<![\w.,])\d[\d.,]{0,30}\d(?![\w])/g,
]

const quotations = /`([^`\n]{1,200})`|"([^"\n]{2,200})"|“([^”\n]{1,200})”|«([^»\n]{1,200})»|「([^」\n]{1,200})」/g

/** Matches ordinals and measures: words with a digit, not ids. */
const measure = /^\d{1,4}(?:[a-z]{1,3}|-[a-z]+)$/i

const trailing = /[.,;:!?)\]]+$/

/** Returns the exact values of a line: addresses, paths, file names, ids, amounts, and quoted text. */
export function valuesIn(line: string): readonly string[] {
  const stated = patterns.flatMap((pattern) => line.match(pattern) ?? []).map((value) => value.replace(trailing, ""))
  const quoted = [...line.matchAll(quotations)].map(
    (match) => match.slice(1).find((group) => group !== undefined) ?? "",
  )
  return [...new Set([...stated, ...quoted.map((value) => value.trim())])].filter(
    (value) => value.length > 1 && !measure.test(value),
  )
}

const isNumber = /^\d[\d.,]*$/

/** Normalizes values: blanks collapsed, lower case, numbers without digit grouping and trailing zeros. */
const plain = (text: string): string => text.replace(/\s+/g, " ").toLowerCase()
const ungrouped = (text: string): string =>
  text
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/(\d)\.(\d{0,12}?)0+(?!\d)/g, (_, whole: string, rest: string) =>
      rest === "" ? whole : `${whole}.${rest}`,
    )

const isEdge = (sign: string): boolean => !/[\p{L}\p{N}]/u.test(sign)

/** Returns a test whether a value occurs in this text other than as a piece of a longer one. The text is prepared on first use. */
function createLookup(text: string): (value: string) => boolean {
  let words: string | undefined
  let numbers: string | undefined
  return (value) => {
    words ??= plain(text)
    if (!isNumber.test(value)) return stands(plain(value), words)
    numbers ??= ungrouped(words)
    return stands(ungrouped(value), numbers)
  }
}

function stands(value: string, text: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (isEdge(text.charAt(at - 1)) && isEdge(text.charAt(at + value.length))) return true
  }
  return false
}

/** Maximum length in characters of a value outside a fence; longer texts have to be fenced. */
const maxValue = 160

/** Minimum number of words of an injection; with fewer it is a name, a path or an amount. */
const minWords = 3

const words = /\p{L}{2,}/gu
/** Matches scripts without blanks, which hold a sentence in one run, and encoded runs, which may hide one. */
const dense = /[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]{5}|[A-Za-z\d+/_-]{24}|(?:%[\da-f]{2}|\\x[\da-f]{2}){4}|&#|\\u/i
/**
 * Matches what a sentence needs: a blank, or a script without blanks. A single run of letters and digits may be an id that contains any
 * word.
 */
const sentenceLike = /\s|[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]/
/** Matches characters that open a control token, a tag or a turn. */
const control = /<[|/a-z]|\[\/?INST|\u200b|[\u{e0000}-\u{e007f}]/iu

/** Matches words joined by the punctuation of paths, addresses and ids: they count as one word. */
const joined = /[\p{L}\p{N}]+(?:[./\\_:@#-]+[\p{L}\p{N}]+)+/gu

function isPlain(value: string): boolean {
  if (control.test(value) || dense.test(value)) return false
  const bare = value.includes(" ") ? value.replace(joined, "x") : ""
  return (bare.match(words)?.length ?? 0) < minWords
}

/**
 * True if a value from this channel may be repeated as a fact outside a fence. Names, ids, paths, addresses and amounts may; a sentence
 * that commands, addresses its reader, claims an authority's decision or hides an injection may not. Most values are decided by a fast
 * check.
 */
export function fitForData(value: string, channel: Channel): boolean {
  if (value.length > maxValue) return false
  if (instructs(channel) || isPlain(value)) return true
  if (sentenceLike.test(value) && (directs(value) || steers(value) || claimIn(value) !== undefined)) return false
  return scanText(value, { channel }).findings.length === 0
}
