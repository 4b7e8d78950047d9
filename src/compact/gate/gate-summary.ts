import { directs } from "../../language/imperative.ts"
import { type Attribution, createAttribution, type SummarySource } from "./attribute.ts"
import { backs } from "./backs.ts"
import { claimIn } from "./claim.ts"
import { clausesOf } from "./clauses.ts"
import type { FindingKind } from "./finding.ts"
import { scan } from "./scan.ts"
import { scriptOf } from "./script.ts"
import { steers } from "./steers.ts"
import { createLookup, valuesIn } from "./value.ts"

/** A line that a summarizer wrote, and the ids of the sources that it says the line rests on; none, if it does not say. */
export type SummaryLine = { readonly text: string; readonly sources: readonly string[] }

/** Why a line may not stand in a summary. */
export type DropReason =
  | { readonly code: "injection-found"; readonly kinds: readonly FindingKind[] }
  | { readonly code: "imperative-from-data" }
  | { readonly code: "approval-from-data" }
  | { readonly code: "rule-change-from-data" }
  | { readonly code: "request-from-data" }
  | { readonly code: "value-not-in-source"; readonly values: readonly string[] }
  | { readonly code: "words-not-in-source" }
  /** It says the contrary of a rule that stands, or makes less of it. */
  | { readonly code: "against-rule"; readonly rule: string; readonly verdict: "contradicted" | "weakened" }

export type GateEvent = { readonly type: "line-dropped"; readonly line: number; readonly reason: DropReason }

export type GatedSummary = { readonly lines: readonly SummaryLine[]; readonly events: readonly GateEvent[] }

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

function reasonToDrop({ text, sources: ids }: SummaryLine, grounds: Grounds): DropReason | undefined {
  const claimed = ids.flatMap((id) => grounds.byId.get(id) ?? [])
  const whole = acrossScripts(text, grounds.attribute(text), claimed)
  const unfit = reasonOfAuthority(text, whole, (clause) => acrossScripts(clause, grounds.attribute(clause), claimed))
  if (unfit !== undefined) return unfit
  const values = valuesIn(text).filter((value) => !grounds.stands(value))
  if (values.length > 0) return { code: "value-not-in-source", values }
  return speaksOf(text, whole, grounds.byId.values()) ? undefined : { code: "words-not-in-source" }
}

/** The line with the sources that it really rests on, where it names none of them; the same object where it does. */
function withSources(line: SummaryLine, { attribute, byId }: Grounds): SummaryLine {
  const { support, restsOn } = attribute(line.text)
  const claimed = line.sources.filter((id) => byId.has(id))
  const found = Object.values(support).toSorted((one, other) => other.share - one.share)[0]?.source
  const misled = restsOn === "data" && claimed.every((id) => byId.get(id)?.channel !== found?.channel)
  if (found !== undefined && (claimed.length === 0 || misled)) return { ...line, sources: [found.id] }
  return claimed.length === line.sources.length ? line : { ...line, sources: claimed }
}

function createGrounds(lines: readonly SummaryLine[], sources: readonly SummarySource[]): Grounds {
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
export function gateSummary(lines: readonly SummaryLine[], sources: readonly SummarySource[]): GatedSummary {
  const grounds = createGrounds(lines, sources)
  const events: GateEvent[] = []
  const kept: SummaryLine[] = []
  for (const [at, line] of lines.entries()) {
    const reason = reasonToDrop(line, grounds)
    if (reason === undefined) kept.push(withSources(line, grounds))
    else events.push({ type: "line-dropped", line: at, reason })
  }
  return { lines: kept, events }
}
