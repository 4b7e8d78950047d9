import type { SurvivalChange } from "./survival-compare.ts"
import { faint } from "./survival-concepts.ts"
import { actsOver, affirms, type Doubt, isActedOn, pointsBack, tellsOf } from "./survival-frame.ts"
import type { Meaning } from "./survival-meaning.ts"
import type { Sentence } from "./survival-reading.ts"
import type { Term } from "./survival-terms.ts"

const contradicted = (change: SurvivalChange): Doubt => ({ verdict: "contradicted", change })
const weakened = (change: SurvivalChange): Doubt => ({ verdict: "weakened", change })

const refers = ({ counts }: Meaning): boolean => counts.rule > 0 || counts.pronoun > 0

/** What the rest of the rule's own sentence does to it: "it is not true that", "unless asked", "as we used to say". */
export function doubtInSentence(rest: Meaning): Doubt | undefined {
  const { counts } = rest
  const odd = rest.negated
  if (counts.lapse > 0) return odd ? weakened("rescinded") : contradicted("rescinded")
  if (counts.false > 0) return contradicted("doubted")
  if (counts.waive > 0) return contradicted("modality")
  if (odd && (rest.subjects.length <= 1 || refers(rest))) return contradicted("negation")
  if (counts.former > 0) return contradicted("rescinded")
  if (counts.past > 0 && counts.rule > 0) return contradicted("rescinded")
  if (counts.permit > 0 && (rest.subjects.length <= 1 || refers(rest))) return contradicted("modality")
  if (counts.except + counts.without > 0) return weakened("exception")
  if (counts.soft > 0 || counts.should > 0) return weakened("modality")
  if (counts.hedge > 0) return weakened("doubted")
  if (counts.some + counts.only > 0) return weakened("scope")
  if (counts.condition > 0 && rest.subjects.some(({ narrows }) => narrows)) return weakened("scope")
  return undefined
}

/** What a heading, or the line that leads to a list, does to what stands under it. */
export const doubtAbove = (lead: Sentence): Doubt | undefined =>
  doubtIn(lead) ?? (actsOver(lead.terms) ? weakened("doubted") : undefined)

/** Is something done, in a line over rules, to what stands under it, or told of someone? */
export const acted = ({ terms, meaning: { counts } }: Sentence): boolean =>
  isActedOn(terms) || tellsOf(terms) || counts.only + counts.some > 0

/** What the words of a line over rules that bear on any rule do to what stands under it. */
export function doubtIn({ meaning: lead }: Sentence): Doubt | undefined {
  const { counts, negated } = lead
  if (counts.lapse > 0) return negated ? weakened("rescinded") : contradicted("rescinded")
  if (counts.former > 0 || (counts.past > 0 && counts.rule > 0)) return contradicted("rescinded")
  if (counts.false > 0 || counts.waive > 0) return contradicted("doubted")
  if (negated) return contradicted("negation")
  if (counts.permit > 0) return contradicted("modality")
  if (counts.hedge > 0) return weakened("doubted")
  if (counts.soft > 0 || counts.should > 0) return weakened("modality")
  if (counts.except + counts.without > 0) return weakened("exception")
  return counts.condition > 0 && lead.subjects.some(({ narrows }) => narrows) ? weakened("scope") : undefined
}

/** Subjects of its own with which a sentence speaks of something else. */
const ownSubjects = 3

/** What a sentence next to the rule does to it: "this no longer applies", "exceptions are fine". */
export function doubtBeside(sentence: Sentence, rule: Meaning, side: "before" | "behind"): Doubt | undefined {
  const { meaning: next } = sentence
  const { counts, negated } = next
  const foreign = next.subjects.filter(({ concept }) => !rule.says.has(concept)).length
  const excepts = counts.except + (next.language === "zh" ? counts.beyond : 0)
  if (side === "behind" && !sentence.fresh && excepts > 0 && !negated && foreign <= ownSubjects)
    return weakened("exception")
  const behind = side === "behind" ? doubtBehind(sentence, foreign) : undefined
  if (foreign >= ownSubjects && !refers(next)) return behind
  const about = refers(next) || foreign < next.subjects.length || next.subjects.length <= 1
  if (!about) return behind
  if (counts.lapse > 0 && !negated) return contradicted("rescinded")
  if (counts.false > 0 && !negated) return contradicted("doubted")
  const doubt = refers(next) && foreign <= ownSubjects ? doubtAbout(next) : undefined
  if (doubt !== undefined) return doubt
  if (counts.former > 0 && counts.rule > 0 && next.subjects.length <= 1) return contradicted("rescinded")
  if (counts.except + counts.without > 0 && next.subjects.length <= ownSubjects && !negated)
    return weakened("exception")
  return behind
}

/** What a sentence that speaks of a rule, or of something that was said, does to it. */
function doubtAbout(next: Meaning): Doubt | undefined {
  const { counts, negated } = next
  if (counts.former > 0) return contradicted("rescinded")
  if (counts.except > 0 && next.permits) return weakened("exception")
  if (counts.waive > 0 || next.permits) return contradicted("modality")
  if (negated && counts.rule > 0 && counts.except === 0) return contradicted("negation")
  if (counts.soft > 0) return weakened("modality")
  if (counts.except + counts.without > 0 && !negated) return weakened("exception")
  return counts.hedge > 0 ? weakened("doubted") : undefined
}

/** A sentence that comes back to what was said before it is a doubt unless it plainly stresses it: "scratch that", "wait, no". */
function doubtBehind({ terms, meaning, fresh, leads }: Sentence, foreign: number): Doubt | undefined {
  const { counts, negated, subjects, firmness } = meaning
  const back = fresh ? counts.pronoun > 0 && (counts.rule > 0 || foreign <= 1) : pointsBack(terms)
  if (negated && subjects.length <= 1 && counts.except === 0 && !opensRule(terms) && (!fresh || back))
    return contradicted("negation")
  if (affirms(meaning)) return undefined
  if (back && foreign <= (fresh ? ownSubjects : maxBehind)) return weakened("doubted")
  const few = subjects.filter(({ concept }) => !faint.has(concept)).length <= 1
  const fragment = few && firmness < 3 && terms.length <= maxFragment
  if (!fresh && !leads && fragment && counts.past === 0) return weakened("doubted")
  const turns = counts.not + counts.concord + counts.permit + counts.waive + counts.only + counts.hedge > 0
  if (!fresh && counts.every + counts.amend > 0 && foreign < subjects.length && !opensRule(terms))
    return weakened("doubted")
  const near = foreign < subjects.length || foreign <= 2
  return !fresh && !leads && turns && near && !opensRule(terms) ? weakened("doubted") : undefined
}

/** Words of a sentence that is none by itself. */
const maxFragment = 6

/** Subjects of its own with which a sentence right behind the rule may still come back to it. */
const maxBehind = 6

/** Is the sentence a command or a prohibition of its own, which is judged by itself? */
const opensRule = (terms: readonly Term[]): boolean =>
  /^(?:do|never|always|only|no|nunca|siempre|no|solo|不得|不要|禁止|必须|请)$/.test(terms[0]?.surface ?? "") ||
  terms.some(({ operators }) => operators.has("require") || operators.has("forbid"))

/** What is done to a rule that is taken back. */
const undoing: ReadonlySet<string> = new Set(["delete", "cancel", "disable", "change", "close"])

/** Words that say nothing of what a sentence is about. */
const fillers: ReadonlySet<string> = new Set(["other", "too", "now", "anyon", "otro", "tambien", "其", "他"])

/** From this share on a sentence is about the same as a rule, and about little else. */
const minOwnShare = 0.6

/** What a sentence anywhere in the text does to a rule: it takes it back, or all rules, or allows what the rule is about. */
export function takesBack(said: Meaning, rule: Meaning): Doubt | undefined {
  const { counts, subjects } = said
  const negated = counts.not % 2 === 1
  const shared = subjects.filter(({ concept }) => rule.says.has(concept) && !faint.has(concept))
  const others = subjects.length - shared.length
  const lapses = counts.lapse > rule.counts.lapse && !negated
  if (counts.rule + counts.forbid > 0) {
    const undone = subjects.some(({ concept }) => undoing.has(concept) && !rule.says.has(concept))
    if (lapses && (shared.length > 0 || counts.every > 0 || subjects.length === 0)) return contradicted("rescinded")
    if (undone && !negated && shared.length > 0) return contradicted("rescinded")
  }
  const binds = counts.require + counts.forbid + counts.not + counts.only > 0
  if (counts.rule > 0 && shared.length > 0 && others <= ownSubjects && !binds && !affirms(said))
    return weakened("doubted")
  const solid = subjects.filter(({ concept }) => !faint.has(concept) && !fillers.has(concept))
  if (shared.length === 0 || shared.length < solid.length * minOwnShare) return undefined
  if (counts.waive > rule.counts.waive || lapses) return weakened("rescinded")
  if (said.permits && !rule.permits) return weakened("modality")
  const told = counts.past > 0 || subjects.some(({ past }) => past)
  const changed = counts.amend > rule.counts.amend && said.firmness <= 1 && !told
  return changed && shared.length > 1 ? weakened("doubted") : undefined
}
