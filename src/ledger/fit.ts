import type { Tokens } from "../message/ids.ts"
import type { Fact } from "./fact.ts"
import type { Ledger } from "./ledger.ts"
import { quoteValue, renderFacts } from "./render.ts"
import { score, weights } from "./score.ts"

export type FitOptions = { readonly count: (text: string) => Tokens }

/** A ledger cut to its budget: the text, and the facts whose values stand in it. */
export type FittedLedger = { readonly text: string; readonly facts: readonly Fact[]; readonly tokens: Tokens }

type Priced = { readonly fact: Fact; readonly cost: number; readonly labelCost: number; readonly rank: number }

/** How much a long value has to be worth more: 0 not at all, 1 in proportion to its tokens. */
const thrift = 0.4

/** Tries at filling the budget: prices are estimates, and two corrections come within a percent of it. */
const maxTries = 4

/** The facts most likely needed again that the budget holds, as text for a person and a model. */
export function fitLedger(ledger: Ledger, budgetTokens: number, { count }: FitOptions): FittedLedger {
  const ranked = rankFacts(ledger, count)
  let best: FittedLedger = { text: "", facts: [], tokens: count("") }
  let allowance = budgetTokens
  for (let tries = 0; tries < maxTries || (best.facts.length === 0 && allowance >= 1); tries++) {
    const chosen = choose(ranked, allowance)
    const fitted = write(ledger, chosen, budgetTokens, count)
    const fits = fitted.tokens <= budgetTokens
    if (fits && fitted.tokens > best.tokens) best = fitted
    if (fitted.tokens === 0 || (fits && (chosen.length === ranked.length || fitted.tokens > budgetTokens * 0.99))) break
    allowance *= (budgetTokens / fitted.tokens) * (fits ? 1 : 0.98)
  }
  return best
}

function write(
  ledger: Ledger,
  chosen: readonly Priced[],
  budgetTokens: number,
  count: FitOptions["count"],
): FittedLedger {
  const facts = chosen.map(({ fact }) => fact).sort(byAppearance)
  const text = renderFacts(facts, { positions: false })
  const tokens = count(text)
  if (chosen.length < ledger.facts.size || tokens > budgetTokens) return { text, facts, tokens }
  const placed = renderFacts(facts, { positions: true })
  const placedTokens = count(placed)
  return placedTokens <= budgetTokens ? { text: placed, facts, tokens: placedTokens } : { text, facts, tokens }
}

/** Order of first mention; what was said in one breath stands by value, so that the same facts always read the same. */
function byAppearance(one: Fact, other: Fact): number {
  if (one.first !== other.first) return one.first - other.first
  const [a, b] = [one, other].map(({ value, label, subject }) => `${value}\n${label}\n${subject ?? ""}`)
  return a === b ? 0 : (a ?? "") < (b ?? "") ? -1 : 1
}

/** Tokens beside a value and its label: the signs between them. */
const overhead = 1

function rankFacts({ facts, length }: Ledger, count: FitOptions["count"]): readonly Priced[] {
  const asked = new Set([...facts.values()].filter(({ usedInCalls }) => usedInCalls > 0).map(({ label }) => label))
  const labels = new Map<string, number>()
  const labelCost = (label: string): number => {
    const known = labels.get(label) ?? count(label) + overhead
    labels.set(label, known)
    return known
  }
  const priced = [...facts.values()].map((fact): Priced => {
    const cost = count(quoteValue(fact.value)) + overhead
    const label = labelCost(fact.label)
    const worth = score(fact, length - 1) + (asked.has(fact.label) ? weights.askedFor : 0)
    return { fact, cost, labelCost: label, rank: worth / (cost + (fact.subject === undefined ? 0 : label)) ** thrift }
  })
  return priced.sort((one, other) => other.rank - one.rank || byAppearance(one.fact, other.fact))
}

/** Best first while there is room: once each value that no chosen one contains, then, if room is left, the rest that completes the records. */
function choose(ranked: readonly Priced[], budgetTokens: number): readonly Priced[] {
  const covered = new Set<string>()
  const labelled = new Set<string>()
  const chosen = new Set<Priced>()
  let left = budgetTokens
  for (const repeats of [false, true]) {
    for (const priced of ranked) {
      const { value, label, subject = "" } = priced.fact
      const line = `${subject}\n${label}`
      const cost = priced.cost + (labelled.has(line) ? 0 : priced.labelCost)
      if (cost > left || chosen.has(priced) || (covered.has(value) && !repeats)) continue
      left -= cost
      labelled.add(line)
      chosen.add(priced)
      for (const piece of piecesOf(value)) covered.add(piece)
    }
  }
  return [...chosen]
}

/** A value, its words, and the shorter paths that end it. */
function piecesOf(value: string): readonly string[] {
  const words = value.split(/[\s"'`()=,;:]+/)
  return [
    value,
    ...words.flatMap((word) => [word, ...[...word.matchAll(/[\\/]/g)].map(({ index }) => word.slice(index + 1))]),
  ]
}
