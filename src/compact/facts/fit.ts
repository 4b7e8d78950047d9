import type { Channel } from "../../message/channel.ts"
import type { Tokens } from "../../message/ids.ts"
import { type Argument, createAsked } from "./asked.ts"
import { createChooser, type Priced, placeOf } from "./choose.ts"
import type { Fact } from "./fact.ts"
import { createFocus } from "./focus.ts"
import type { Ledger } from "./ledger.ts"
import { quoteValue } from "./quote-value.ts"
import { renderFacts } from "./render.ts"
import { score, weights } from "./score.ts"

export type FitOptions = {
  readonly count: (text: string) => Tokens
  /** Does a value stand elsewhere in the context to the letter? Then nothing is spent on it. */
  readonly shown?: (value: string) => boolean
  /** May words of this channel be shown? Asked of what could be a sentence: values, labels and subjects of several words. */
  readonly admits?: (value: string, channel: Channel) => boolean
  /** The arguments that the request's tools take: what fits one is likelier needed. */
  readonly arguments?: readonly Argument[]
}

/** A ledger cut to its budget: the text, and the facts whose values stand in it. */
export type FittedLedger = { readonly text: string; readonly facts: readonly Fact[]; readonly tokens: Tokens }

/** How much a long value has to be worth more: 0 not at all, 1 in proportion to its tokens. */
const thrift = 0.1

/** More than almost anything: a stale value in plain sight misleads. */
const staleWorth = 12

/** Below this a value is noise: a duration, a count, a word that one output printed once. Its tokens are better spent on the messages. */
const leastWorth = 1.5

/** What is left of the rank of a value once others of its label were singled out and it was not. */
const passedOverShare = 0.75

/** Tries at filling the budget: prices are estimates, and two corrections come within a percent of it. */
const maxTries = 4

/** The facts most likely needed again that the budget holds, as text for a person and a model; `parseLedger` reads it back. */
export function fitLedger(ledger: Ledger, budgetTokens: number, options: FitOptions): FittedLedger {
  const { count } = options
  const ranked = rankFacts(ledger, options)
  const choose = createChooser(ranked)
  let best: FittedLedger = { text: "", facts: [], tokens: count("") }
  let allowance = budgetTokens
  for (let tries = 0; tries < maxTries || (best.facts.length === 0 && allowance >= 1); tries++) {
    const facts = [...choose(allowance)].sort(byAppearance)
    const text = renderFacts(facts)
    const fitted: FittedLedger = { text, facts, tokens: count(text) }
    const fits = fitted.tokens <= budgetTokens
    if (fits && fitted.tokens > best.tokens) best = fitted
    if (fitted.tokens === 0 || (fits && (facts.length === ranked.length || fitted.tokens > budgetTokens * 0.99))) break
    allowance *= (budgetTokens / fitted.tokens) * (fits ? 1 : 0.98)
  }
  return best
}

/** Order of first mention; what was said in one breath stands by value, so that the same facts always read the same. */
function byAppearance(one: Fact, other: Fact): number {
  if (one.first !== other.first) return one.first - other.first
  if (one.value !== other.value) return one.value < other.value ? -1 : 1
  const [a = "", b = ""] = [one, other].map(({ label, subject = "", channel }) => `${label}\n${subject}\n${channel}`)
  return a === b ? 0 : a < b ? -1 : 1
}

/** What stands between words, or a letter of a script that may do without. */
const severalWords = /[\s\u0800-\uffff]/

/** The fact without what its channel may not show, or nothing if that is its value. */
function admitted(fact: Fact, admits: FitOptions["admits"]): readonly Fact[] {
  if (admits === undefined) return [fact]
  const isFree = (text: string): boolean => !severalWords.test(text) || admits(text, fact.channel)
  if (!isFree(fact.value)) return []
  const named: Fact = isFree(fact.label) ? fact : { ...fact, label: fact.kind, labelFrom: "kind" }
  if (named.subject === undefined || isFree(named.subject)) return [named]
  const { subject: _, ...rest } = named
  return [rest]
}

/** Tokens beside a value and its label: the signs between them. */
const overhead = 1

function rankFacts({ facts, length }: Ledger, options: FitOptions): readonly Priced[] {
  const { count, shown } = options
  const all = [...facts.values()].flatMap((fact) => admitted(fact, options.admits))
  const isAsked = createAsked([
    ...all.flatMap(({ usedInCalls, label, labelFrom }) => (usedInCalls > 0 && labelFrom !== "kind" ? [label] : [])),
    ...(options.arguments ?? []).map(({ name }) => name),
  ])
  const { isInFocus, isPassedOver } = createFocus(all)
  const allowed = new Set((options.arguments ?? []).flatMap(({ values }) => values))
  const costs = new Map<string, number>()
  const costOf = (text: string): number => {
    const known = costs.get(text) ?? count(text) + overhead
    costs.set(text, known)
    return known
  }
  const priced = all.flatMap((fact): readonly Priced[] => {
    const { value, subject, label, labelFrom } = fact
    const stale = fact.state === "superseded"
    if (!stale && shown?.(value)) return []
    const cost = costOf(quoteValue(value))
    const labelCost = costOf(label)
    const subjectCost = subject === undefined ? 0 : costOf(subject)
    const asked = (labelFrom !== "kind" && isAsked(label)) || allowed.has(value)
    const warns = stale && shown?.(value) === true
    const worth = warns
      ? staleWorth
      : score(fact, length - 1) + (asked ? weights.askedFor : 0) + (!stale && isInFocus(fact) ? weights.inFocus : 0)
    if (worth < leastWorth) return []
    const share = isPassedOver(fact) ? passedOverShare : 1
    const rank = (share * worth) / (cost + (subject === undefined ? 0 : labelCost)) ** thrift
    return [{ fact, cost, labelCost, subjectCost, rank, warns, ...placeOf(fact) }]
  })
  return thinned(priced.sort(byRank))
}

const byRank = (one: Priced, other: Priced): number => other.rank - one.rank || byAppearance(one.fact, other.fact)

/** So many values of one label count in full; of a long list each further one is less likely the one that is needed. */
const freeOfLabel = 6
const halfAfter = 12

function thinned(ranked: readonly Priced[]): readonly Priced[] {
  const met = new Map<string, number>()
  const weighed = ranked.map((priced) => {
    const { label, kind, givenByUser } = priced.fact
    const key = `${kind}\n${label}`
    const n = met.get(key) ?? 0
    met.set(key, n + 1)
    return givenByUser ? priced : { ...priced, rank: priced.rank / (1 + Math.max(0, n - freeOfLabel) / halfAfter) }
  })
  return weighed.sort(byRank)
}
