import { takesBack } from "./survival-around.ts"
import { candidateOf } from "./survival-candidates.ts"
import type { SurvivalChange } from "./survival-compare.ts"
import { faint } from "./survival-concepts.ts"
import { type IndexedText, indexText, loosening, sharing } from "./survival-index.ts"
import { framed, judge, maxStrangers, type Witness } from "./survival-judge.ts"
import { type Meaning, meaningOf, type Subject } from "./survival-meaning.ts"
import { createReader, type Reading, readText, type Sentence } from "./survival-reading.ts"
import type { Language } from "./survival-stem.ts"

/** A line that speaks against a rule, or makes less of it: both by their places. */
export type LineAgainst = {
  readonly line: number
  readonly rule: number
  readonly verdict: "contradicted" | "weakened"
  readonly changes: readonly SurvivalChange[]
}

type Against = Pick<LineAgainst, "verdict" | "changes">

/** From this share of a rule on a line is about the rule. */
const minCoverage = 0.7
/** So many of its subjects, faint ones aside, must be there too: one word is shared by chance. */
const minShared = 2

/** Findings of one summary: whoever has more has nothing but lines against rules. */
const maxFindings = 10_000

/**
 * Which lines of a summary say the contrary of a rule, take it back, soften it or except something from it. What was done or is to be done
 * next is no such line, though it may break the rule; nor is one that has a rule verbatim.
 */
export function linesAgainst(rules: readonly string[], lines: readonly string[]): readonly LineAgainst[] {
  const asked = rules.map((rule) => readText(rule, "en"))
  const findings: LineAgainst[] = []
  lines.forEach((line, at) => {
    const texts = createTexts(line)
    const own = asked.flatMap((rule, place) => {
      const found = againstRule(rule, texts)
      return found === undefined ? [] : [{ line: at, rule: place, ...found }]
    })
    if (own.length > 0 && !asked.some((rule) => isKept(rule, texts)))
      findings.push(...own.slice(0, maxFindings - findings.length))
  })
  return findings
}

type Texts = (language: Language) => IndexedText

/** A line, read once for each language that its rules are in. */
function createTexts(line: string): Texts {
  const read = createReader(line)
  const known = new Map<Language, IndexedText>()
  return (language) => {
    const text = known.get(language) ?? indexText(read(language))
    known.set(language, text)
    return text
  }
}

const languageOf = ({ sentences }: Reading): Language => sentences[0]?.language ?? "en"

const isKept = (rule: Reading, texts: Texts): boolean =>
  rule.sentences.length > 0 &&
  rule.sentences.every(
    ({ from, to, meaning }) =>
      judge(rule.units.slice(from, to), meaning, texts(languageOf(rule))).verdict === "preserved",
  )

/** What the line says against the first sentence of a rule that it says something against. */
function againstRule(rule: Reading, texts: Texts): Against | undefined {
  const text = texts(languageOf(rule))
  for (const { meaning } of rule.sentences) {
    if (solid(meaning.subjects).length < minShared) continue
    const found = statedAgainst(meaning, text) ?? takenBack(meaning, text)
    if (found !== undefined) return found
  }
  return undefined
}

function statedAgainst(rule: Meaning, text: IndexedText): Against | undefined {
  for (const at of sharing(text, rule)) {
    const sentence = text.sentences[at]
    const found = sentence === undefined || sentence.asks ? undefined : sentenceAgainst(rule, sentence)
    if (found !== undefined) return found
  }
  return undefined
}

const solid = (subjects: readonly Subject[]): readonly Subject[] =>
  subjects.filter(({ concept }) => !faint.has(concept))

/** Subjects of the rule that a statement has, and how many others it has. */
function common({ subjects }: Meaning, rule: Meaning): { readonly shared: number; readonly others: number } {
  const own = solid(subjects)
  const shared = own.filter(({ concept }) => rule.says.has(concept)).length
  return { shared, others: own.length - shared }
}

function sentenceAgainst(rule: Meaning, sentence: Sentence): Against | undefined {
  const { terms, language } = sentence
  const { verdict, changes, missing, coverage, strangers, from, to } = candidateOf(sentence, rule, new Set())
  if (verdict === "dropped" || strangers > maxStrangers) return undefined
  const said = meaningOf(terms.slice(from, to), language)
  const { shared, others } = common(said, rule)
  if (shared < minShared || others > shared) return undefined
  const replaced = changes.includes("value") || changes.includes("order")
  if (coverage < (replaced ? minCoverage / 2 : minCoverage)) return undefined
  if (verdict === "contradicted") return rules(said, rule) ? { verdict, changes } : undefined
  const alone: Witness = { verdict: "preserved", changes: [], missing, from, to, coverage, strangers }
  const around = framed(alone, terms.slice(0, from), terms.slice(to), language)
  if (around.verdict === "contradicted") return { verdict: "contradicted", changes: around.changes }
  const other = changes.includes("subject") || changes.includes("order")
  const softer = !other && said.counts.soft > rule.counts.soft && said.counts.past === 0
  const excepts = changes.includes("exception") && rules(said, rule)
  return softer || excepts ? { verdict: "weakened", changes } : undefined
}

/** Does a statement rule, allow or take back, and not only tell what happened or what comes next? */
function rules({ counts, subjects }: Meaning, rule: Meaning): boolean {
  const told = counts.past > rule.counts.past || subjects.some(({ past }) => past)
  if (counts.lapse > rule.counts.lapse || counts.waive > rule.counts.waive || counts.false > rule.counts.false)
    return counts.rule > 0 || !told
  if (told) return false
  return counts.permit + counts.require + counts.forbid + counts.not + counts.concord + counts.only + counts.every > 0
}

/** Does a sentence take back the rule, or all rules? One that merely speaks of it, or of another rule, does not. */
function takenBack(rule: Meaning, text: IndexedText): Against | undefined {
  for (const at of loosening(text, rule)) {
    const sentence = text.sentences[at]
    const doubt = sentence === undefined || sentence.asks ? undefined : takesBack(sentence.meaning, rule)
    if (sentence === undefined || doubt === undefined || doubt.change === "doubted") continue
    const { shared, others } = common(sentence.meaning, rule)
    const { rule: named, every, pronoun } = sentence.meaning.counts
    const told = sentence.meaning.counts.past > 0 || sentence.meaning.subjects.some(({ past }) => past)
    if (named === 0 && told) continue
    const sweeping = named > 0 && shared === 0 && others <= (every + pronoun > 0 ? 1 : 0)
    const enough = shared >= minShared && others <= shared && (named > 0 || shared >= solid(rule.subjects).length / 2)
    if (sweeping || enough) return { verdict: doubt.verdict, changes: [doubt.change] }
  }
  return undefined
}
