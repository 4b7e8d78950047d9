import { digestHeading, fence, unfence } from "../../message/fence.ts"
import { present } from "../../message/present.ts"
import {
  type Digest,
  type Goal,
  type LineState,
  type SchemaName,
  type Summary,
  type SummaryLine,
  type SummarySection,
  schemas,
  shortenLine,
  stateLabels,
} from "./summary.ts"

type RenderOptions = { readonly brief?: boolean }

const tag = "summary"
const author = "holdfast"
/** Left out of a brief digest. */
const usualSchema: SchemaName = "handoff"

/** The digest as one fenced text for a person and a model, from which `parseDigest` reads it back. `brief` spends the fewest tokens on framing. */
export function renderDigest(digest: Digest, { brief = digest.brief === true }: RenderOptions = {}): string {
  const { schema } = digest.summary
  const named: Readonly<Record<string, string>> = brief && schema === usualSchema ? {} : { schema }
  return fence(tag, bodyText(digest, brief), { by: author, ...named, covered: String(digest.covered) })
}

const opening = /^<summary by="holdfast"(?: schema="(handoff|snapshot)")? covered="(0|[1-9]\d{0,14})">\n/

/** Longer texts are no digest: one takes a share of a context, not a multiple. */
const maxDigestLength = 4_000_000

/** Read a digest back, or nothing if the text is not one of ours verbatim. Facts come back as text alone, lines without their sources. */
export function parseDigest(text: string): Digest | undefined {
  const head = text.length > maxDigestLength ? null : opening.exec(text.slice(0, 200))
  const body = head === null ? undefined : unfence(tag, text)
  if (head === null || body === undefined) return undefined
  const schema: SchemaName = head[1] === "snapshot" ? "snapshot" : usualSchema
  const digest = readBody(body, schema, Number(head[2]))
  // Whatever was read must print as the very text it was read from: a cut or edited digest is no digest.
  return digest !== undefined && renderDigest(digest) === text ? digest : undefined
}

const states: readonly LineState[] = ["done", "failed", "pending", "next"]

/** A line of a section that the schema does not know. */
const unknownWorth = 5

/** Read what stands between the tags of a digest. Reads too much rather than too little: whoever asked compares it with what it prints as. */
function readBody(body: string, schema: SchemaName, covered: number): Digest | undefined {
  const lines = body.split("\n")
  const brief = lines[0] !== digestHeading
  let at = brief ? 0 : 1
  const skipBlank = (): void => {
    if (!brief && lines[at] === "") at++
  }
  skipBlank()
  const goal = goalAt(lines, at)
  if (goal !== undefined) at += goal.text.split("\n").length
  const sections: SummarySection[] = []
  for (skipBlank(); at < lines.length; skipBlank()) {
    const title = lines[at]
    if (title?.startsWith("## ") !== true || title === `## ${factsTitle}`) break
    const section = sectionAt(lines, at, schema)
    sections.push(section)
    at += 1 + section.lines.length
  }
  const facts = lines[at] === `## ${factsTitle}` ? lines.slice(at + 1) : []
  const text = facts.map((line) => (line.startsWith("\\") ? line.slice(1) : line)).join("\n")
  return {
    covered,
    ...present({ goal, brief: brief ? (true as const) : undefined }),
    summary: { schema, sections },
    ledger: { text, facts: [] },
  }
}

function goalAt(lines: readonly string[], at: number): Goal | undefined {
  const first = lines[at] ?? ""
  const head = [goalHead, cutGoalHead].find((start) => first.startsWith(start))
  if (head === undefined) return undefined
  const text = [first.slice(head.length)]
  for (let next = at + 1; lines[next]?.startsWith(indent) === true; next++)
    text.push(lines[next]?.slice(indent.length) ?? "")
  return { text: text.join("\n"), source: "", whole: head === goalHead }
}

function sectionAt(lines: readonly string[], at: number, schema: SchemaName): SummarySection {
  const title = (lines[at] ?? "").slice(3)
  const known = schemas[schema].find((section) => section.title === title || section.short === title)
  const own: SummaryLine[] = []
  for (let next = at + 1; lines[next]?.startsWith("- ") === true; next++) {
    own.push(readLine((lines[next] ?? "").slice(2), known?.worth ?? unknownWorth))
  }
  return { name: known?.name ?? title, lines: own }
}

/** Nobody can tell any more whose words a printed line was: it comes back as memory, which instructs no one. */
function readLine(line: string, worth: number): SummaryLine {
  const state = states.find((one) => line.startsWith(`${stateLabels[one]} `))
  const text = state === undefined ? line : line.slice(stateLabels[state].length + 1)
  const unescaped = text.startsWith("\\") && likeLabel.test(text) ? text.slice(1) : text
  return { text: unescaped, sources: [], ...present({ state }), channel: "memory", worth }
}

const goalHead = "Goal: "
/** The goal is shown up to where it was cut. */
const cutGoalHead = "Goal (beginning): "
const factsTitle = "Facts"
/** Before every further line of the goal, so that none can pass for a line of ours. */
const indent = "  "

const breaking = /[\p{Cc}\u2028\u2029]+/gu

/** What would read as a state or as an escape gets a backslash before it. */
const likeLabel: RegExp = new RegExp(
  `^\\\\*(?:${Object.values(stateLabels)
    .map((label) => label.replace(/[[\]]/g, "\\$&"))
    .join("|")})`,
)

/** A line as it stands below its heading. */
function lineText({ text, state }: Pick<SummaryLine, "text" | "state">): string {
  const line = text.replace(breaking, " ")
  const safe = likeLabel.test(line) ? `\\${line}` : line
  return state === undefined ? `- ${safe}` : `- ${stateLabels[state]} ${safe}`
}

/** What stands above the lines of a section. One that the schema does not know has its name for a title. */
function headingText(name: string, schema: SchemaName, brief: boolean): string {
  const section = schemas[schema].find((one) => one.name === name)
  return `## ${section === undefined ? name.replace(breaking, " ") : brief ? section.short : section.title}`
}

/** A section as it stands in a digest. */
export const sectionText = ({ name, lines }: SummarySection, schema: SchemaName, brief: boolean): string =>
  [headingText(name, schema, brief), ...lines.map(lineText)].join("\n")

/** A line of the ledger that could pass for a heading or a line of the summary. */
const likeOurs = /^(?:\\|#|- )/gm

/** All that stands between the tags. */
function bodyText({ goal, summary: { schema, sections }, ledger }: Digest, brief: boolean): string {
  const goalText =
    goal === undefined ? [] : [`${goal.whole ? goalHead : cutGoalHead}${goal.text.replaceAll("\n", `\n${indent}`)}`]
  const facts = ledger.text === "" ? [] : [`## ${factsTitle}\n${ledger.text.replace(likeOurs, "\\$&")}`]
  const shown = sections.filter(({ lines }) => lines.length > 0).map((section) => sectionText(section, schema, brief))
  return [...(brief ? [] : [digestHeading]), ...goalText, ...shown, ...facts].join(brief ? "\n" : "\n\n")
}

type FitOptions = {
  readonly count: (text: string) => number
  /** Will the digest be printed in brief? Its headings cost less. */
  readonly brief?: boolean
}

/** How much a long line has to be worth more: 0 not at all, 1 in proportion to its tokens. */
const thrift = 0.5

/** Shorter lines are taken for this long: a word or two is not worth more for being short. */
const minCost = 12

/** Each further line of a section is worth less, so that no section crowds out the others: the tenth counts half. */
const crowding = 10

/** The most that one line of a person takes of the budget before it is shortened at its end. */
const maxShare = 0.2

/** A line of this size is one sentence, and a sentence is shown whole or not at all. */
const minShownTokens = 40

type Candidate = {
  readonly section: string
  readonly line: SummaryLine
  readonly cost: number
  readonly rank: number
}

/** The worthiest lines that the budget holds together with their headings, in their order; only a long line of the user is ever shortened. */
export function fitSummary(summary: Summary, budgetTokens: number, { count, brief = false }: FitOptions): Summary {
  const cut = (line: SummaryLine): SummaryLine =>
    cutToFit(line, Math.max(minShownTokens, budgetTokens * maxShare), count)
  const candidates = summary.sections.flatMap(({ name, lines }) =>
    lines.map((whole): Candidate => {
      const line = whole.channel === "user" ? cut(whole) : whole
      const cost = costOf(line, count)
      return { section: name, line, cost, rank: line.worth / Math.max(minCost, cost) ** thrift }
    }),
  )
  const ranked = [...Map.groupBy(candidates, ({ section }) => section).values()]
    .flatMap((own) =>
      own.toSorted(byRank).map((one, n) => ({ ...one, rank: one.rank / (1 + n / crowding), whole: one })),
    )
    .sort(byRank)
    .map(({ whole }) => whole)
  const chosen = choose(ranked, budgetTokens, (name) => headingCost(name, summary.schema, brief, count))
  const kept = Map.groupBy(
    candidates.filter((one) => chosen.has(one)),
    ({ section }) => section,
  )
  const sections = [...kept].map(([name, own]) => ({ name, lines: own.map(({ line }) => line) }))
  return { schema: summary.schema, sections }
}

const byRank = (one: Candidate, other: Candidate): number => other.rank - one.rank

const costOf = (line: SummaryLine, count: FitOptions["count"]): number => Math.max(1, count(`${lineText(line)}\n`))

const headingCost = (name: string, schema: SchemaName, brief: boolean, count: FitOptions["count"]): number =>
  count(`${brief ? "" : "\n"}${headingText(name, schema, brief)}\n`) + (brief ? 0 : 1)

function choose(
  ranked: readonly Candidate[],
  budgetTokens: number,
  priceOf: (section: string) => number,
): ReadonlySet<Candidate> {
  const chosen = new Set<Candidate>()
  const opened = new Set<string>()
  const said = new Map<string, string[]>()
  let left = budgetTokens
  for (const candidate of ranked) {
    const { section, line, cost } = candidate
    const price = cost + (opened.has(section) ? 0 : priceOf(section))
    if (price > left || isSaid(line, said)) continue
    left -= price
    opened.add(section)
    chosen.add(candidate)
    for (const source of line.sources) {
      const texts = said.get(source)
      if (texts === undefined) said.set(source, [line.text])
      else texts.push(line.text)
    }
  }
  return chosen
}

/** Lines of one message that are compared: it has a handful. */
const maxCompared = 16

/** Does a chosen line that rests on the same message hold these words already? */
function isSaid({ text, sources }: SummaryLine, said: ReadonlyMap<string, readonly string[]>): boolean {
  const [source = ""] = sources
  return (said.get(source) ?? []).slice(0, maxCompared).some((other) => other.includes(text))
}

/** The longest beginning of a line that takes at most so many tokens, found by halving. */
function cutToFit(line: SummaryLine, maxTokens: number, count: FitOptions["count"]): SummaryLine {
  if (costOf(line, count) <= maxTokens) return line
  let low = 0
  let high = line.text.length
  while (high - low > 8) {
    const middle = (low + high) >> 1
    if (costOf({ ...line, text: shortenLine(line.text, middle) }, count) <= maxTokens) low = middle
    else high = middle
  }
  return { ...line, text: shortenLine(line.text, low) }
}
