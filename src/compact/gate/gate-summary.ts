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

/** A line that a summarizer wrote, and the ids of the sources that it says the line rests on; none, if it does not say. */
type DraftedLine = {
  readonly text: string
  readonly sources: readonly string[]
  /** It stands where a reader looks for what to do next. */
  readonly promises?: boolean
}

/** Why a line may not stand in a summary. */
export type DropReason =
  | { readonly code: "injection-found"; readonly kinds: readonly FindingKind[] }
  | { readonly code: "approval-from-data" }
  | { readonly code: "rule-change-from-data" }
  | { readonly code: "value-not-in-source"; readonly values: readonly string[] }
  | { readonly code: "words-not-in-source" }
  /** It lays down something about what a rule in force is about, in other words than the rule's, or takes it back. */
  | { readonly code: "against-rule"; readonly rule: string }

/** What became of a line that does not stand where the summarizer put it: left out, or told as what a tool's output says. */
export type GateEvent =
  | { readonly type: "line-dropped"; readonly line: number; readonly reason: DropReason }
  | { readonly type: "line-quoted"; readonly line: number }

type GatedSummary = {
  /** Lines that rest on the words of the user, the operator or the assistant. */
  readonly lines: readonly DraftedLine[]
  /** Lines that rest on data: they may be told only as what was seen there, quoted. */
  readonly seen: readonly DraftedLine[]
  readonly events: readonly GateEvent[]
}

/** All sources, prepared once for all lines. */
type Grounds = {
  readonly attribute: (text: string) => Attribution
  readonly byId: ReadonlyMap<string, SummarySource>
  /** Does a value stand in a source, or in one of these grounds? */
  readonly stands: (value: string, grounds?: readonly LineAuthority[]) => boolean
}

/** Fewer terms than this say too little by themselves: such a clause goes with its line. */
const minTerms = 2

/** Where something can be sent: an address of the web or of mail, a bank account, a phone. */
const destination =
  /https?:\/\/[^\s"'`<>)\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)*|\b[A-Z]{2}\d{2}[A-Z\d]{10,30}\b|\+\d[\d -]{7,20}\d/g

const dropCodes = { approval: "approval-from-data", "rule-change": "rule-change-from-data" } as const

/** The approval or change of a rule that a clause tells of, where nobody with a say said so. */
function unbacked(clause: string, at: Attribution): DropReason | undefined {
  const claim = claimIn(clause)
  return claim === undefined || claim === "request" || backs(claim, clause, at) ? undefined : { code: dropCodes[claim] }
}

/** A clause of one word that data has and the user does not: nobody else asked for it. */
const isDatas = ({ terms, support }: Attribution): boolean =>
  terms > 0 && support.data.share === 1 && support.authority.share < 1

type Ground = "own" | "data" | "nothing"

/** On whom a line rests, each clause for itself: a harmless half does not speak for the other, and data in one makes it the data's. */
function groundOf(line: DraftedLine, whole: Attribution, clauses: readonly Attribution[], grounds: Grounds): Ground {
  const resting = [whole, ...clauses].map(({ restsOn }) => restsOn)
  const word = clauses.some((clause) => clause.terms < minTerms && isDatas(clause))
  if (word || resting.includes("data")) return "data"
  const toward = line.text.match(destination) ?? []
  const isKnown = (value: string): boolean =>
    grounds.stands(value, line.promises === true ? ["authority"] : ["authority", "assistant"])
  if (!toward.every((value) => isKnown(value.replace(trailing, "")))) return "data"
  return (line.promises === true ? resting : [whole.restsOn]).includes("nothing") ? "nothing" : "own"
}

type Verdict = { readonly ground: "own" | "data" } | { readonly reason: DropReason }

function judge(line: DraftedLine, grounds: Grounds): Verdict {
  const { text } = line
  const whole = grounds.attribute(text)
  const clauses = clausesOf(text).map((clause) => {
    const own = grounds.attribute(clause)
    return { clause, at: own.terms < minTerms && !isDatas(own) ? whole : own }
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
  const ground = groundOf(line, whole, attributions, grounds)
  return ground === "nothing" ? { reason: { code: "words-not-in-source" } } : { ground }
}

/** The line with the sources that it really rests on, where it names none of them; the same object where it does. */
function withSources(line: DraftedLine, { attribute, byId }: Grounds): DraftedLine {
  const { support, restsOn } = attribute(line.text)
  const claimed = line.sources.filter((id) => byId.has(id))
  const found = Object.values(support).toSorted((one, other) => other.share - one.share)[0]?.source
  const misled = restsOn === "data" && claimed.every((id) => byId.get(id)?.channel !== found?.channel)
  if (found !== undefined && (claimed.length === 0 || misled)) return { ...line, sources: [found.id] }
  return claimed.length === line.sources.length ? line : { ...line, sources: claimed }
}

function createGrounds(lines: readonly DraftedLine[], sources: readonly SummarySource[]): Grounds {
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
 * The gate behind a summarizer, whatever the summarizer did and whatever it names as its sources. A line stands where it was put only if it
 * rests, clause by clause, on words of the user, the operator or the assistant. What rests on data may be told as seen there and nothing
 * else, whether it reads as a report or as a request: no list of verbs decides. What rests on nothing is dropped, and so is a claim that
 * somebody allowed something or that a rule changed. A line that passes keeps its text; its sources are put right where they were missing
 * or wrong.
 */
export function gateSummary(lines: readonly DraftedLine[], sources: readonly SummarySource[]): GatedSummary {
  const grounds = createGrounds(lines, sources)
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

/** So much of an approval or a rule change must stand in one place of a source that may instruct. */
const minCovered = 0.5

/** Did somebody with a say really say what a line claims of them? Their own words must cover it, and say it. */
function backs(claim: Exclude<Claim, "request">, text: string, { restsOn, support }: Attribution): boolean {
  const { share, said, source } = support.authority
  if (restsOn !== "authority" || share < minCovered || source === undefined) return false
  if (claim === "rule-change") return claimIn(said) === "rule-change"
  const agreed = grants(said) || affirms(source.text) || directs(source.text)
  return agreed && withholdsApproval(said) === withholdsApproval(text)
}

/** Where one thing that a line says ends and the next begins. */
const joints =
  /[.;!?]\s+|[,:]\s|[。；！？，：、]|\n|\s[-–—]\s|\s(?:and(?: then)?|then|but|und|dann|sowie|et|puis|y|luego|e|и|затем)\s|(?:并且|然后|并|且|以及)/giu

/** Clauses looked at of one line; a line of a summary has a few, and what is left over goes with the last. */
const maxClauses = 24

/** The things that a line says, each by itself: a harmless half must not speak for the other. */
function clausesOf(line: string): readonly string[] {
  const clauses: string[] = []
  let start = 0
  for (const { 0: joint, index } of line.matchAll(joints)) {
    if (clauses.length === maxClauses - 1) break
    clauses.push(line.slice(start, index))
    start = index + joint.length
  }
  clauses.push(line.slice(start))
  return clauses.filter((clause) => /\p{L}/u.test(clause))
}

/** Exact values in any language: what a summary may repeat but never make up. */
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

/** Ordinals and measures are words with a digit, not ids. */
const measure = /^\d{1,4}(?:[a-z]{1,3}|-[a-z]+)$/i

const trailing = /[.,;:!?)\]]+$/

/** The exact values that a line states: addresses, paths, file names, ids, amounts, and what it puts in quotation marks. */
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

/** One spelling for each value: white space as one blank, numbers without grouping and closing zeros. */
const plain = (text: string): string => text.replace(/\s+/g, " ").toLowerCase()
const ungrouped = (text: string): string =>
  text
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/(\d)\.(\d{0,12}?)0+(?!\d)/g, (_, whole: string, rest: string) =>
      rest === "" ? whole : `${whole}.${rest}`,
    )

const isEdge = (sign: string): boolean => !/[\p{L}\p{N}]/u.test(sign)

/** Does a value stand in this text, and not as a piece of a longer one? The text is prepared once, at the first question. */
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

/** Characters of a value that may be repeated outside its fence; what is longer is a text, and texts are fenced. */
const maxValue = 160

/** An attempt takes a sentence; fewer words than this make a name, a path or an amount. */
const minWords = 3

const words = /\p{L}{2,}/gu
/** Scripts without blanks say a sentence in one run, and a run of base64 hides one. */
const dense = /[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]{5}|[A-Za-z\d+/_-]{24}|(?:%[\da-f]{2}|\\x[\da-f]{2}){4}|&#|\\u/i
/** One run of letters and digits says nothing by itself: an id may hold any word. */
const spoken = /\s|[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]/
/** Signs that open a control token, a tag or a turn. */
const control = /<[|/a-z]|\[\/?INST|\u200b|[\u{e0000}-\u{e007f}]/iu

/** One blank for what a path, an address or an id puts between its words: they are one word. */
const joined = /[\p{L}\p{N}]+(?:[./\\_:@#-]+[\p{L}\p{N}]+)+/gu

function isPlain(value: string): boolean {
  if (control.test(value) || dense.test(value)) return false
  const bare = value.includes(" ") ? value.replace(joined, "x") : ""
  return (bare.match(words)?.length ?? 0) < minWords
}

/**
 * May a value that this channel gave be repeated as a fact, outside any fence? Names, ids, paths, addresses and amounts may; a sentence
 * that directs, speaks to its reader, claims a say or hides an attempt may not. Most values are told by a glance.
 */
export function fitForData(value: string, channel: Channel): boolean {
  if (value.length > maxValue) return false
  if (instructs(channel) || isPlain(value)) return true
  if (spoken.test(value) && (directs(value) || steers(value) || claimIn(value) !== undefined)) return false
  return scanText(value, { channel }).findings.length === 0
}
