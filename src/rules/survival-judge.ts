import { doubtAbove, doubtBeside, doubtInSentence, takesBack } from "./survival-around.ts"
import { candidateOf } from "./survival-candidates.ts"
import type { SurvivalChange, SurvivalVerdict } from "./survival-compare.ts"
import { faint } from "./survival-concepts.ts"
import { type Doubt, doubtAfter, doubtBefore } from "./survival-frame.ts"
import { type IndexedText, loosening, mayQuote, sharing } from "./survival-index.ts"
import { type Meaning, meaningOf } from "./survival-meaning.ts"
import type { Sentence } from "./survival-reading.ts"
import type { Language } from "./survival-stem.ts"
import type { Term } from "./survival-terms.ts"
import type { Unit } from "./survival-units.ts"
import { verbatimIn } from "./survival-verbatim.ts"

/** A sentence of the text as a witness for one sentence of the rule. */
export type Witness = {
  readonly verdict: SurvivalVerdict
  readonly missing: readonly string[]
  readonly changes: readonly SurvivalChange[]
  readonly from: number
  readonly to: number
  readonly coverage: number
  readonly strangers: number
  /** It rules nothing and tells of nothing done, yet it is about the same. */
  readonly idle?: boolean
}

export const ranks: Readonly<Record<SurvivalVerdict, number>> = {
  preserved: 4,
  paraphrased: 3,
  weakened: 2,
  contradicted: 1,
  dropped: 0,
}

/** With more subjects of its own than this a sentence against the rule is about something else; beside the rule itself, with any. */
export const maxStrangers = 2

const lowered = (witness: Witness, doubt: Doubt | undefined): Witness =>
  doubt === undefined || (witness.verdict === "contradicted" && doubt.verdict === "weakened")
    ? witness
    : { ...witness, verdict: doubt.verdict, changes: [...new Set([...witness.changes, doubt.change])] }

/** The first and the last sentence that a witness stands in. */
type Stretch = { readonly at: number; readonly end: number }

/** What the sentences over and beside a witness do to it. */
function inContext(witness: Witness, { at, end }: Stretch, reading: IndexedText, rule: Meaning): Witness {
  const { sentences, struck } = reading
  const sentence = sentences[at]
  if (sentence === undefined) return witness
  let result = witness
  for (const place of sentence.under) {
    const lead = sentences[place]
    if (lead !== undefined && lead !== sentence) result = lowered(result, doubtAbove(lead))
  }
  if (struck.subarray(witness.from, witness.to).includes(1))
    result = lowered(result, { verdict: "contradicted", change: "rescinded" })
  if (sentence.asks) result = lowered(result, { verdict: "weakened", change: "doubted" })
  const before = sentences[at - 1]
  if (before !== undefined && before.meaning.counts.rule > 0 && !before.leads)
    result = lowered(result, doubtBeside(before, rule, "before"))
  for (const next of [sentences[end + 1], sentences[end + 2]]) {
    if (next === undefined || (next.fresh && next.meaning.counts.rule + next.meaning.counts.pronoun === 0)) break
    result = lowered(result, doubtBeside(next, rule, "behind"))
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
function quotations(part: readonly Unit[], text: IndexedText, rule: Meaning): readonly Witness[] {
  if (!mayQuote(text, part)) return []
  let at = 0
  return verbatimIn(part, text.units)
    .slice(0, maxQuotations)
    .flatMap(({ from, to }) => {
      while (at < text.sentences.length && (text.sentences[at]?.to ?? 0) <= from) at++
      const sentence = text.sentences[at]
      if (sentence === undefined) return []
      let end = at
      while (end < text.sentences.length - 1 && (text.sentences[end]?.to ?? to) < to) end++
      const closing = text.sentences[end] ?? sentence
      if (!bare(sentence, from, to) || (closing !== sentence && !bare(closing, from, to))) return []
      const found: Witness = { verdict: "preserved", missing: [], changes: [], from, to, coverage: 1, strangers: 0 }
      const before = sentence.terms.filter((term) => sentence.from + term.to <= from)
      const after = closing.terms.filter((term) => closing.from + term.from >= to)
      return [inContext(framed(found, before, after, sentence.language), { at, end }, text, rule)]
    })
}

/** What the words before and behind a witness in its own sentence do to it. */
export function framed(witness: Witness, before: readonly Term[], after: readonly Term[], language: Language): Witness {
  if (before.length + after.length === 0) return witness
  const doubted = lowered(witness, doubtInSentence(meaningOf([...before, ...after], language)))
  return lowered(lowered(doubted, doubtBefore(before)), doubtAfter(after))
}

/** What each sentence of the text makes of a sentence of the rule. */
function statements(text: IndexedText, rule: Meaning): readonly Witness[] {
  return sharing(text, rule).flatMap((at) => {
    const sentence = text.sentences[at]
    if (sentence === undefined) return []
    const context = new Set(sentence.under.flatMap((place) => [...(text.sentences[place]?.meaning.says ?? [])]))
    const { verdict, changes, missing, coverage, strangers, from, to } = candidateOf(sentence, rule, context)
    if (verdict === "dropped") return []
    const first = sentence.from + (sentence.terms[from]?.from ?? 0)
    const last = sentence.from + (sentence.terms[to - 1]?.to ?? 0)
    const idle = isIdle(sentence.meaning) && ideasIn(sentence.meaning, rule) >= minIdeas
    const found: Witness = { verdict, changes, missing, from: first, to: last, coverage, strangers, idle }
    const [before, after] = [sentence.terms.slice(0, from), sentence.terms.slice(to)]
    return [inContext(framed(found, before, after, sentence.language), { at, end: at }, text, rule)]
  })
}

/** From this share on another statement is about the rule, with no more strangers than this. */
const minAbout = 0.6
const isAbout = ({ coverage, strangers }: Witness): boolean => coverage >= minAbout && strangers <= maxStrangers

const isIdle = ({ firmness, counts, subjects }: Meaning): boolean =>
  firmness <= 1 && counts.past === 0 && counts.hedge === 0 && !subjects.some(({ past }) => past)

/** So many ideas, values and faint ones aside, it must share. */
const minIdeas = 2
const ideasIn = ({ says }: Meaning, { subjects }: Meaning): number =>
  subjects.filter(({ concept, sort }) => sort === undefined && !faint.has(concept) && says.has(concept)).length

const gone = ({ subjects }: Meaning): Witness => ({
  verdict: "dropped",
  changes: [],
  missing: subjects.map(({ surface }) => surface),
  from: 0,
  to: 0,
  coverage: 0,
  strangers: 0,
})

/** What became of one sentence of the rule: whoever speaks against it is heard first, then the best that is left. */
export function judge(part: readonly Unit[], rule: Meaning, text: IndexedText): Witness {
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
  const best = all.reduce<Witness>((one, other) => (better(other, one) ? other : one), gone(rule))
  const other = all.find((witness) => witness.idle === true && witness.verdict === "weakened" && isAbout(witness))
  if (other !== undefined && ranks[best.verdict] > ranks.weakened)
    return { ...lowered(best, { verdict: "weakened", change: "doubted" }), from: other.from, to: other.to }
  return takenBack(best, text, rule)
}

/** A witness after what is said of its rule elsewhere in the text. */
function takenBack(best: Witness, text: IndexedText, rule: Meaning): Witness {
  let worst = best
  for (const at of loosening(text, rule)) {
    const { from = 0, to = 0, meaning } = text.sentences[at] ?? {}
    if (meaning === undefined || (best.verdict === "dropped" && meaning.counts.lapse === 0)) continue
    const doubt = best.from < to && from < best.to ? undefined : takesBack(meaning, rule)
    if (doubt?.verdict === "contradicted")
      return { ...gone(rule), verdict: "contradicted", changes: [doubt.change], missing: [], from, to }
    if (doubt !== undefined && ranks[worst.verdict] > ranks.weakened) worst = { ...lowered(best, doubt), from, to }
  }
  return worst
}

/** Is one a better witness than the other? */
export const better = (one: Witness, other: Witness): boolean =>
  ranks[one.verdict] !== ranks[other.verdict]
    ? ranks[one.verdict] > ranks[other.verdict]
    : one.coverage > other.coverage
