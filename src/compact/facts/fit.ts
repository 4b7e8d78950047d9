import type { Channel, Tokens, Tool } from "../../message/message.ts"
import { blockOf, describesValue, type Fact, quoteValue } from "./fact.ts"
import { readTree, type Tree } from "./json-tree.ts"
import type { Ledger } from "./ledger.ts"
import { renderFacts } from "./render.ts"
import { score, weights } from "./score.ts"

type FitOptions = {
  readonly count: (text: string) => Tokens
  /** Does a value stand elsewhere in the context verbatim? Then nothing is spent on it. */
  readonly shown?: (value: string) => boolean
  /** May words of this channel be shown? Asked of what could be a sentence: values, labels and subjects of several words. */
  readonly admits?: (value: string, channel: Channel) => boolean
  /** The arguments that the request's tools take: what fits one is likelier needed. */
  readonly arguments?: readonly Argument[]
}

/** A ledger cut to its budget: the text, and the facts whose values stand in it. */
type FittedLedger = { readonly text: string; readonly facts: readonly Fact[]; readonly tokens: Tokens }

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

type Focus = {
  /** Does a value belong to a record that was singled out: one of whose names somebody spoke of or passed to a tool? */
  readonly isInFocus: (fact: Fact) => boolean
  /** Does it belong to none such, while others with its label do? */
  readonly isPassedOver: (fact: Fact) => boolean
}

/** Of twenty records that a search lists, the one that is talked about is the one whose other values are needed. */
export function createFocus(facts: readonly Fact[]): Focus {
  const names = new Set<string>()
  for (const { kind, value, subject, said, usedInCalls } of facts) {
    if (describesValue(kind) || (said !== true && usedInCalls === 0)) continue
    names.add(value)
    if (subject !== undefined) names.add(subject)
  }
  const isInFocus = ({ value, subject }: Fact): boolean => names.has(subject ?? value)
  const labels = new Set<string>()
  for (const fact of facts) if (fact.labelFrom === "key" && isInFocus(fact)) labels.add(fact.label)
  return {
    isInFocus,
    isPassedOver: (fact) => fact.labelFrom === "key" && labels.has(fact.label) && !isInFocus(fact),
  }
}

/** A fact with what it takes to print it and how soon it is chosen. */
type Priced = {
  readonly fact: Fact
  /** Tokens of the value, of its label, and of the value that it belongs to. */
  readonly cost: number
  readonly labelCost: number
  readonly subjectCost: number
  readonly rank: number
  /** It was superseded and stands in sight all the same: that has to be said. */
  readonly warns: boolean
  /** The line that it stands on, and the owner that opens the line if it has one. */
  readonly line: string
  readonly owner: string
}

const ownerKey = (fact: Fact, owner: string): string => `${blockOf(fact)}\n${owner}`

/** Where a fact stands in print: a description beside its owner, a name by its label alone. */
function placeOf(fact: Fact): Pick<Priced, "line" | "owner"> {
  const owner = ownerKey(fact, describesValue(fact.kind) ? (fact.subject ?? "") : "")
  return { owner, line: `${owner}\n${fact.label}` }
}

/**
 * What to print for so many tokens, best first while there is room: once each value that no chosen one contains; then the rest, which
 * completes the records; what was superseded only if all that stands fits.
 */
function createChooser(ranked: readonly Priced[]): (budgetTokens: number) => readonly Fact[] {
  const isDue = ({ fact, warns }: Priced): boolean => fact.state !== "superseded" || warns
  const current = ranked.filter(isDue)
  const superseded = ranked.filter((priced) => !isDue(priced))
  // The fact that a description's owner is, so that it is shown under its own label.
  const owners = new Map(current.map((priced) => [ownerKey(priced.fact, priced.fact.value), priced]))
  return (budgetTokens) => {
    const { chosen, spend } = createPurse(owners, budgetTokens)
    const repeated = current.filter((priced) => !spend(priced))
    let all = true
    for (const priced of repeated) all = spend(priced, true) && all
    if (!all) return withoutFarOwners([...chosen])
    for (const priced of superseded) spend(priced, true)
    return [...chosen]
  }
}

type Purse = { readonly chosen: ReadonlySet<Fact>; readonly spend: (priced: Priced, again?: boolean) => boolean }

function createPurse(owners: ReadonlyMap<string, Priced>, budgetTokens: number): Purse {
  const chosen = new Set<Fact>()
  const covered = new Set<string>()
  const lines = new Set<string>()
  let left = budgetTokens
  const take = ({ fact, line }: Priced): void => {
    chosen.add(fact)
    lines.add(line).add(ownerKey(fact, fact.value))
    for (const piece of piecesOf(fact.value)) covered.add(piece)
  }
  const spend: Purse["spend"] = (priced, again = false) => {
    const { fact, cost, labelCost, subjectCost, line, owner } = priced
    if (chosen.has(fact)) return true
    if (cost > left || (!again && covered.has(fact.value))) return false
    const isFirst = describesValue(fact.kind) && fact.subject !== undefined && !lines.has(owner)
    const head = isFirst ? owners.get(owner) : undefined
    const headCost = head === undefined || lines.has(head.line) ? 0 : head.labelCost
    const price = cost + (lines.has(line) ? 0 : labelCost) + (isFirst ? subjectCost + headCost : 0)
    if (price > left) return false
    left -= price
    if (head !== undefined) take(head)
    lines.add(owner)
    take(priced)
    return true
  }
  return { chosen, spend }
}

/** Where room is short, a name that stands for itself need not say whose it is if its owner is not shown beside it. */
function withoutFarOwners(facts: readonly Fact[]): readonly Fact[] {
  const shown = new Set(facts.map((fact) => `${blockOf(fact)}\n${fact.value}`))
  return facts.map((fact) => {
    if (describesValue(fact.kind) || fact.subject === undefined || shown.has(`${blockOf(fact)}\n${fact.subject}`))
      return fact
    const { subject: _, ...rest } = fact
    return rest
  })
}

/** A value, its words, and the shorter paths that end it. */
function piecesOf(value: string): readonly string[] {
  const words = value.split(/[\s"'`()=,;:]+/)
  return [
    value,
    ...words.flatMap((word) => [word, ...[...word.matchAll(/[\\/]/g)].map(({ index }) => word.slice(index + 1))]),
  ]
}

/** An argument that a tool takes, and the values that it is limited to, if it is. */
export type Argument = { readonly name: string; readonly values: readonly string[] }

/** Arguments read from the declarations; the largest sets of tools have a few hundred. */
const maxArguments = 1_000

/** The arguments that tools declare, whatever the format: the members of each `properties` of their JSON Schema. */
export function argumentsOf(tools: readonly Tool[]): readonly Argument[] {
  const found: Argument[] = []
  const look = (tree: Tree, isProperties: boolean): void => {
    if (tree.type === "list") for (const item of tree.items) look(item, false)
    if (tree.type !== "record") return
    for (const [key, value] of tree.entries) {
      if (isProperties && found.length < maxArguments) found.push({ name: key, values: valuesIn(value) })
      look(value, !isProperties && key === "properties")
    }
  }
  for (const { wire } of tools) {
    const tree = readTree(wire)
    if (tree !== undefined) look(tree, false)
  }
  return found
}

function valuesIn(schema: Tree): readonly string[] {
  const allowed = schema.type === "record" ? schema.entries.find(([key]) => key === "enum")?.[1] : undefined
  return allowed?.type === "list" ? allowed.items.flatMap((item) => (item.type === "scalar" ? [item.text] : [])) : []
}

/** Words that say what form a name has rather than what it names. */
const formal = new Set("id ids number no code key name value list the of to new all current".split(" "))

/** Is a label the name of something that calls take: `reservations` of `reservation_id`, `user ID` of `user_id`? */
export function createAsked(names: Iterable<string>): (label: string) => boolean {
  const byWord = new Map<string, (readonly string[])[]>()
  for (const name of new Set(names)) {
    const words = wordsOf(name)
    for (const word of words) byWord.set(word, [...(byWord.get(word) ?? []), words])
  }
  const known = new Map<string, boolean>()
  return (label) => {
    const answer = known.get(label)
    if (answer !== undefined) return answer
    const words = wordsOf(label)
    const fits = words.some((word) => byWord.get(word)?.some((name) => isWithin(name, words) || isWithin(words, name)))
    known.set(label, fits)
    return fits
  }
}

const isWithin = (some: readonly string[], all: readonly string[]): boolean => some.every((word) => all.includes(word))

/** The words of a name in snake, kebab or camel case, in the singular, without those of form if others are left. */
function wordsOf(name: string): readonly string[] {
  const words = name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
  const telling = words.filter((word) => !formal.has(word))
  return (telling.length > 0 ? telling : words).map((word) => word.replace(/(?<=\p{L}{2})s$/u, ""))
}
