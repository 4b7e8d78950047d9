import { type Doubt, doubtAbove, doubtBeside, doubtInSentence, rescinds } from "./survival-around.ts"
import { candidateOf } from "./survival-candidates.ts"
import type { SurvivalChange, SurvivalVerdict } from "./survival-compare.ts"
import { type Meaning, meaningOf } from "./survival-meaning.ts"
import { placeOf, type Reading, readText, type Sentence } from "./survival-reading.ts"
import type { Language } from "./survival-stem.ts"
import { verbatimIn } from "./survival-verbatim.ts"

export type { SurvivalChange, SurvivalVerdict } from "./survival-compare.ts"

/** What became of a rule in a text. */
export type Survival = {
  readonly verdict: SurvivalVerdict
  /** The passage that the verdict rests on; none where nothing of the rule is left. */
  readonly place?: { readonly start: number; readonly end: number }
  /** Words and values of the rule that the passage lacks. */
  readonly missing: readonly string[]
  /** In what the passage differs. */
  readonly changes: readonly SurvivalChange[]
}

export type SurvivalOptions = {
  /** Language of words that do not tell; English unless said otherwise. */
  readonly language?: Language
}

/** A sentence of the text as a witness for one sentence of the rule. */
type Witness = Omit<Survival, "place"> & {
  readonly from: number
  readonly to: number
  readonly coverage: number
  readonly strangers: number
}

const ranks: Readonly<Record<SurvivalVerdict, number>> = {
  preserved: 4,
  paraphrased: 3,
  weakened: 2,
  contradicted: 1,
  dropped: 0,
}

/** With more subjects of its own than this a sentence against the rule is about something else; beside the rule itself, with any. */
const maxStrangers = 2

const lowered = (witness: Witness, doubt: Doubt | undefined): Witness =>
  doubt === undefined || (witness.verdict === "contradicted" && doubt.verdict === "weakened")
    ? witness
    : { ...witness, verdict: doubt.verdict, changes: [...new Set([...witness.changes, doubt.change])] }

/** What the sentences over and beside a witness do to it. */
function inContext(witness: Witness, at: number, reading: Reading, rule: Meaning): Witness {
  const { sentences, struck } = reading
  const sentence = sentences[at]
  if (sentence === undefined) return witness
  let result = witness
  for (const place of sentence.under) {
    const lead = sentences[place]
    if (lead !== undefined && lead !== sentence) result = lowered(result, doubtAbove(lead.meaning))
  }
  if (struck.subarray(witness.from, witness.to).includes(1))
    result = lowered(result, { verdict: "contradicted", change: "rescinded" })
  if (sentence.asks) result = lowered(result, { verdict: "weakened", change: "doubted" })
  const before = sentences[at - 1]
  if (before !== undefined && before.meaning.counts.rule > 0 && !before.leads)
    result = lowered(result, doubtBeside(before.meaning, rule))
  for (const next of [sentences[at + 1], sentences[at + 2]]) {
    if (next === undefined || (next.fresh && next.meaning.counts.rule === 0)) break
    result = lowered(result, doubtBeside(next.meaning, rule))
  }
  return result
}

/** Is there nothing in the clause beside the rule's own words that could change them? */
function bare(sentence: Sentence, from: number, to: number): boolean {
  const inside = ({ from: start, to: end }: { readonly from: number; readonly to: number }): boolean =>
    sentence.from + start >= from && sentence.from + end <= to
  const first = sentence.terms.findIndex(inside)
  const last = sentence.terms.findLastIndex(inside)
  const before = sentence.terms.slice(0, Math.max(first, 0))
  const after = last < 0 ? [] : sentence.terms.slice(last + 1)
  const mark = before.findLastIndex((term) => term.mark !== undefined && term.mark !== "quote")
  const stop = after.findIndex((term) => term.mark !== undefined && term.mark !== "quote")
  return [...before.slice(mark + 1), ...(stop < 0 ? after : after.slice(0, stop))].every(
    ({ concept, operators }) => concept === undefined && [...operators].every((name) => harmless.has(name)),
  )
}

/** Places looked at where the rule stands word for word; nobody repeats a rule more often. */
const maxQuotations = 32

const harmless = new Set<string>(["light", "rule", "pronoun", "every", "require"])

/** Places where a sentence of the rule stands word for word, as witnesses. */
function quotations(part: Reading, text: Reading, rule: Meaning): readonly Witness[] {
  let at = 0
  return verbatimIn(part.units, text.units)
    .slice(0, maxQuotations)
    .flatMap(({ from, to }) => {
      while (at < text.sentences.length && (text.sentences[at]?.to ?? 0) <= from) at++
      const sentence = text.sentences[at]
      if (sentence === undefined) return []
      let end = at
      while (end < text.sentences.length - 1 && (text.sentences[end]?.to ?? to) < to) end++
      const closing = text.sentences[end] ?? sentence
      if (!bare(sentence, from, to) || (closing !== sentence && !bare(closing, from, to))) return []
      const outside = [
        ...sentence.terms.filter((term) => sentence.from + term.to <= from),
        ...closing.terms.filter((term) => closing.from + term.from >= to),
      ]
      const found: Witness = { verdict: "preserved", missing: [], changes: [], from, to, coverage: 1, strangers: 0 }
      const doubted = lowered(found, doubtInSentence(meaningOf(outside, sentence.language)))
      return [inContext(doubted, at, text, rule)]
    })
}

/** What each sentence of the text makes of a sentence of the rule. */
function statements(text: Reading, rule: Meaning): readonly Witness[] {
  return text.sentences.flatMap((sentence, at) => {
    if (!sentence.terms.some(({ concept }) => concept !== undefined && rule.says.has(concept))) return []
    const context = new Set(sentence.under.flatMap((place) => [...(text.sentences[place]?.meaning.says ?? [])]))
    const { verdict, changes, missing, coverage, strangers, rest, from, to } = candidateOf(sentence, rule, context)
    const first = sentence.from + (sentence.terms[from]?.from ?? 0)
    const last = sentence.from + (sentence.terms[to - 1]?.to ?? 0)
    const found: Witness = { verdict, changes, missing, from: first, to: last, coverage, strangers }
    if (verdict === "dropped") return []
    return [inContext(lowered(found, doubtInSentence(rest)), at, text, rule)]
  })
}

/** What became of one sentence of the rule: whoever speaks against it is heard first, then the best that is left. */
function judge(part: Reading, rule: Meaning, text: Reading): Witness {
  const quoted = quotations(part, text, rule)
  const stated = statements(text, rule)
  const all = [
    ...quoted,
    ...stated.filter(({ from, to }) => !quoted.some((quote) => quote.from < to && from < quote.to)),
  ]
  const stands = quoted.some(({ verdict }) => verdict === "preserved")
  const allowed = stands ? 0 : maxStrangers
  const against = all.find(({ verdict, strangers }) => verdict === "contradicted" && strangers <= allowed)
  if (against !== undefined) return against
  const rescinding = text.sentences.find(
    (sentence) => sentence.terms.some(({ operators }) => operators.has("lapse")) && rescinds(sentence.meaning, rule),
  )
  const best = all.reduce<Witness | undefined>(
    (one, other) => (one === undefined || better(other, one) ? other : one),
    undefined,
  )
  if (rescinding !== undefined) {
    const { from, to } = rescinding
    return { verdict: "contradicted", changes: ["rescinded"], missing: [], from, to, coverage: 0, strangers: 0 }
  }
  return (
    best ?? {
      verdict: "dropped",
      changes: [],
      missing: rule.subjects.map(({ surface }) => surface),
      from: 0,
      to: 0,
      coverage: 0,
      strangers: 0,
    }
  )
}

const better = (one: Witness, other: Witness): boolean =>
  ranks[one.verdict] !== ranks[other.verdict]
    ? ranks[one.verdict] > ranks[other.verdict]
    : one.coverage > other.coverage

/** The verdict on a rule of several sentences: as its worst sentence, and where some are gone it is weakened. */
function together(parts: readonly Witness[]): SurvivalVerdict {
  const verdicts = parts.map(({ verdict }) => verdict)
  if (verdicts.includes("contradicted")) return "contradicted"
  if (verdicts.every((verdict) => verdict === "dropped")) return "dropped"
  if (verdicts.includes("dropped") || verdicts.includes("weakened")) return "weakened"
  return verdicts.includes("paraphrased") ? "paraphrased" : "preserved"
}

/**
 * Does a standing rule still stand in a text? Deterministic and linear. Only what is there word for word, or with every word of either
 * side accounted for, is certified; whatever is in doubt gets the lesser verdict. Across languages nothing is better than weakened.
 */
export function survival(rule: string, text: string, { language = "en" }: SurvivalOptions = {}): Survival {
  const asked = readText(rule, language)
  const known = asked.sentences[0]?.language ?? language
  const reading = readText(text, known)
  const parts = asked.sentences.map((sentence) => {
    const part = { ...asked, units: asked.units.slice(sentence.from, sentence.to) }
    return judge(part, sentence.meaning, reading)
  })
  const verdict = parts.length === 0 ? "dropped" : together(parts)
  const telling = parts.filter((part) => part.to > part.from)
  const changes = new Set(parts.flatMap((part) => part.changes))
  const unread = reading.cut && ranks[verdict] > ranks.weakened
  if (unread) changes.add("unread")
  const result = {
    verdict: unread ? ("weakened" as const) : verdict,
    missing: parts.flatMap(({ missing }) => missing),
    changes: [...changes],
  }
  const worst = telling.reduce<Witness | undefined>(
    (one, other) => (one === undefined || better(one, other) ? other : one),
    undefined,
  )
  return worst === undefined || verdict === "dropped"
    ? result
    : { ...result, place: placeOf(reading, worst.from, worst.to) }
}
