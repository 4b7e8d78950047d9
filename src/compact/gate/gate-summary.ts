import { directs } from "../../language/imperative.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { type Attribution, createAttribution, type SummarySource } from "./attribute.ts"
import { affirms, type Claim, claimIn, grants, steers, withholdsApproval } from "./claim.ts"
import type { FindingKind } from "./finding.ts"
import { scan } from "./scan.ts"

/** A line that a summarizer wrote, and the ids of the sources that it says the line rests on; none, if it does not say. */
type DraftedLine = { readonly text: string; readonly sources: readonly string[] }

/** Why a line may not stand in a summary. */
export type DropReason =
  | { readonly code: "injection-found"; readonly kinds: readonly FindingKind[] }
  | { readonly code: "imperative-from-data" }
  | { readonly code: "approval-from-data" }
  | { readonly code: "rule-change-from-data" }
  | { readonly code: "request-from-data" }
  | { readonly code: "value-not-in-source"; readonly values: readonly string[] }
  | { readonly code: "words-not-in-source" }
  /** It lays down something about what a rule in force is about, in other words than the rule's, or takes it back. */
  | { readonly code: "against-rule"; readonly rule: string }

export type GateEvent = { readonly type: "line-dropped"; readonly line: number; readonly reason: DropReason }

type GatedSummary = { readonly lines: readonly DraftedLine[]; readonly events: readonly GateEvent[] }

/** All sources, prepared once for all lines. */
type Grounds = {
  readonly attribute: (text: string) => Attribution
  readonly byId: ReadonlyMap<string, SummarySource>
  readonly stands: (value: string) => boolean
}

/** Fewer terms than this say too little by themselves: such a clause goes with its line. */
const minTerms = 2
/** Of the terms of a line, so many must stand in one place of a source; the rest is the summarizer's own way to put it. */
const minTogether = 0.25
/** Lines with fewer terms are not measured. */
const minMeasured = 3

const destination = /https?:\/\/|[\w+-]@[\w-]|\b[A-Z]{2}\d{2}[A-Z\d]{10,30}\b|\+\d[\d -]{7,20}/

const dropCodes = {
  approval: "approval-from-data",
  "rule-change": "rule-change-from-data",
  request: "request-from-data",
} as const

/** What one clause may not take from where it rests. */
function reasonOfClause(clause: string, at: Attribution, claiming: boolean): DropReason | undefined {
  const claim = claimIn(clause)
  if (claim !== undefined && !backs(claim, clause, at)) return { code: dropCodes[claim] }
  if (at.restsOn === "authority" || at.restsOn === "assistant") return undefined
  if (directs(clause) || steers(clause)) return { code: "imperative-from-data" }
  // Who says that somebody asked for something also says where it shall go.
  return claiming && at.restsOn === "data" && destination.test(clause) ? { code: "request-from-data" } : undefined
}

/** What a line may not take from data alone; each of its clauses answers for itself. */
function reasonOfAuthority(text: string, whole: Attribution, attribute: Grounds["attribute"]): DropReason | undefined {
  const clauses = clausesOf(text).map((clause) => {
    const own = attribute(clause)
    return { clause, at: own.terms < minTerms ? whole : own }
  })
  const given = [whole, ...clauses.map(({ at }) => at)].every(({ restsOn }) => restsOn === "authority")
  const { findings } = given ? { findings: [] } : scan(text, { channel: "tool" })
  if (findings.length > 0) return { code: "injection-found", kinds: [...new Set(findings.map(({ kind }) => kind))] }
  const claiming = claimIn(text) !== undefined
  const reasons = [{ clause: text, at: whole }, ...clauses].map(({ clause, at }) =>
    reasonOfClause(clause, at, claiming),
  )
  return reasons.find((reason) => reason !== undefined)
}

/** Across scripts no words are shared: the plan or report of a claimed source passes for it, unless data says otherwise. */
function acrossScripts(text: string, at: Attribution, claimed: readonly SummarySource[]): Attribution {
  const script = scriptOf(text)
  const speaker = claimed.find(({ channel, text: said }) => channel !== "tool" && scriptOf(said) !== script)
  const foreign = at.restsOn === "nothing" && speaker !== undefined && !["document", "memory"].includes(speaker.channel)
  return foreign ? { ...at, restsOn: "assistant" } : at
}

/** Does the line speak of what some source speaks of, in one place? Across scripts nobody can tell, and the line passes. */
function speaksOf(text: string, { support, terms }: Attribution, sources: Iterable<SummarySource>): boolean {
  const together = Math.max(support.authority.share, support.assistant.share, support.data.share)
  if (terms < minMeasured ? together > 0 : together >= minTogether) return true
  const script = scriptOf(text)
  return [...sources].every((source) => scriptOf(source.text) !== script)
}

function reasonToDrop({ text, sources: ids }: DraftedLine, grounds: Grounds): DropReason | undefined {
  const claimed = ids.flatMap((id) => grounds.byId.get(id) ?? [])
  const whole = acrossScripts(text, grounds.attribute(text), claimed)
  const unfit = reasonOfAuthority(text, whole, (clause) => acrossScripts(clause, grounds.attribute(clause), claimed))
  if (unfit !== undefined) return unfit
  const values = valuesIn(text).filter((value) => !grounds.stands(value))
  if (values.length > 0) return { code: "value-not-in-source", values }
  return speaksOf(text, whole, grounds.byId.values()) ? undefined : { code: "words-not-in-source" }
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
  const lookups = sources.map(({ text }) => createLookup(text))
  return {
    attribute: createAttribution(sources, texts),
    byId: new Map(sources.map((source) => [source.id, source])),
    stands: (value) => lookups.some((stands) => stands(value)),
  }
}

/**
 * The gate behind a summarizer, whatever the summarizer did: a line passes only if it rests on the sources, and it never gains
 * authority on the way. On whom it rests is measured by its wording; what it claims is believed only where no words tell. A line that
 * passes keeps its text; its sources are put right where they were missing or wrong.
 */
export function gateSummary(lines: readonly DraftedLine[], sources: readonly SummarySource[]): GatedSummary {
  const grounds = createGrounds(lines, sources)
  const events: GateEvent[] = []
  const kept: DraftedLine[] = []
  for (const [at, line] of lines.entries()) {
    const reason = reasonToDrop(line, grounds)
    if (reason === undefined) kept.push(withSources(line, grounds))
    else events.push({ type: "line-dropped", line: at, reason })
  }
  return { lines: kept, events }
}

const scripts: readonly RegExp[] = [
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Devanagari}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Thai}/u,
]

/** The script that a text is written in, Latin if it is none of the others: across scripts no words are shared. */
const scriptOf = (text: string): number => scripts.findIndex((script) => script.test(text))

/** So much of an approval or a rule change must stand in one place of a source that may instruct. */
const minCovered = 0.5

/** Did somebody with a say really say what a line claims of them? Their own words must cover it, and say it. */
function backs(claim: Claim, text: string, { restsOn, support }: Attribution): boolean {
  if (claim === "request") return restsOn === "authority" || restsOn === "assistant"
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
  return scan(value, { channel }).findings.length === 0
}
