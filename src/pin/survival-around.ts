import type { SurvivalChange } from "./survival-compare.ts"
import type { Meaning } from "./survival-meaning.ts"

/** What stands beside a rule and bears on it. */
export type Doubt = { readonly verdict: "weakened" | "contradicted"; readonly change: SurvivalChange }

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
  if (counts.some > 0) return weakened("scope")
  if (counts.condition > 0 && rest.subjects.some(({ narrows }) => narrows)) return weakened("scope")
  return undefined
}

/** What a heading, or the line that leads to a list, does to what stands under it. */
export function doubtAbove(lead: Meaning): Doubt | undefined {
  const { counts, negated } = lead
  if (counts.lapse > 0) return negated ? weakened("rescinded") : contradicted("rescinded")
  if (counts.former > 0 || (counts.past > 0 && counts.rule > 0)) return contradicted("rescinded")
  if (counts.false > 0 || counts.waive > 0) return contradicted("doubted")
  if (negated) return contradicted("negation")
  if (counts.permit > 0) return contradicted("modality")
  if (counts.hedge > 0) return weakened("doubted")
  if (counts.soft > 0 || counts.should > 0) return weakened("modality")
  if (counts.except + counts.without > 0) return weakened("exception")
  if (counts.condition > 0 && lead.subjects.some(({ narrows }) => narrows)) return weakened("scope")
  return undefined
}

/** Subjects of its own with which a sentence speaks of something else. */
const ownSubjects = 3

/** What a sentence next to the rule does to it: "this no longer applies", "exceptions are fine". */
export function doubtBeside(next: Meaning, rule: Meaning): Doubt | undefined {
  const { counts, negated } = next
  const foreign = next.subjects.filter(({ concept }) => !rule.says.has(concept)).length
  if (foreign >= ownSubjects && !refers(next)) return undefined
  const about = refers(next) || foreign < next.subjects.length || next.subjects.length <= 1
  if (!about) return undefined
  if (counts.lapse > 0 && !negated) return contradicted("rescinded")
  if (counts.false > 0 && !negated) return contradicted("doubted")
  if (refers(next) && foreign <= ownSubjects) {
    if (counts.former > 0 || (counts.past > 0 && counts.rule > 0 && counts.former > 0)) return contradicted("rescinded")
    if (counts.except > 0 && next.permits) return weakened("exception")
    if (counts.waive > 0 || next.permits) return contradicted("modality")
    if (negated && counts.rule > 0) return contradicted("negation")
    if (counts.soft > 0) return weakened("modality")
    if (counts.except + counts.without > 0 && !negated) return weakened("exception")
    if (counts.hedge > 0) return weakened("doubted")
  }
  if (counts.former > 0 && counts.rule > 0 && next.subjects.length <= 1) return contradicted("rescinded")
  if (counts.except + counts.without > 0 && next.subjects.length <= ownSubjects && !negated)
    return weakened("exception")
  return undefined
}

/** Does a sentence anywhere take this rule back, or all rules? */
export function rescinds(said: Meaning, rule: Meaning): boolean {
  const { counts, negated, subjects } = said
  if (counts.lapse === 0 || counts.rule === 0 || negated) return false
  return subjects.some(({ concept }) => rule.says.has(concept)) || counts.every > 0 || subjects.length === 0
}
