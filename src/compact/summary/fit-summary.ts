import { headingText, lineText } from "./digest-body.ts"
import { shorten } from "./line.ts"
import type { SchemaName, Summary, SummaryLine } from "./summary.ts"

export type FitOptions = {
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
    if (costOf({ ...line, text: shorten(line.text, middle) }, count) <= maxTokens) low = middle
    else high = middle
  }
  return { ...line, text: shorten(line.text, low) }
}
