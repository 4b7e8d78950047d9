import type { SurvivalChange } from "./survival-compare.ts"
import { type Meaning, withoutReasons } from "./survival-meaning.ts"
import type { Term } from "./survival-terms.ts"

/** What stands around a rule and bears on it. */
export type Doubt = { readonly verdict: "weakened" | "contradicted"; readonly change: SurvivalChange }

const weakened = (change: SurvivalChange): Doubt => ({ verdict: "weakened", change })

/** What is done to a rule when it is only told, kept or followed. */
const telling: ReadonlySet<string> = new Set(
  "give ask write answer mention stay store use approve include issue record review obei respect observ honor set".split(
    " ",
  ),
)

/** Words in the form of a verb that tell of a rule and do nothing to it. */
const toldForm =
  /^(?:agreed|confirmed|required|established|pinned|requested|stated|accepted|needed|based|related|shared|detailed|collected|noted|learned|recorded|imposed|voiced|wanted|repeated|stressed|reminded|instructed|demanded|specified|listed|defined|unchanged|needs?)$/

const doer = /^(?:to|we|you|i|they|he|she|user|agent|assistant|must|should|please|not|usuario|agente|用户)$/
const object = /^(?:the|this|that|these|those|it|them|all|every|any|each|el|la|los|las|esta|este|esto|diese|die|das)$/

/** Is something done to a rule in the words around it: "rules we threw out", "strike this"? A label such as "Retry policy" does nothing. */
const acts = ({ action, concept, surface, unknown }: Term, at: number, terms: readonly Term[]): boolean => {
  if (concept === undefined || telling.has(concept) || toldForm.test(surface)) return false
  if (/.{3}ed$/.test(surface)) return true
  if (!action || unknown === true) return false
  if (/^[\u3400-\u9fff]/.test(surface)) return terms.length > at + 2
  return object.test(terms[at + 1]?.surface ?? "") || doer.test(terms[at - 1]?.surface ?? "")
}

const isPart = ({ mark }: Term): boolean => mark !== undefined && mark !== "quote"

/** Words of a label that say what it is about: one with more says something else as well. */
const maxLabel = 1
/** What one ideograph counts: words have two or three. */
const signShare = 0.25

const tells =
  /^(?:is|are|was|were|be|said|says|say|told|tells|stated|states|reads|wrote|we|i|they|people|nosotros|wir|nous|我们|他们|es|son|era|dice|dijo|decia|ist|sind|sagt|est|sont|dit|disait|following|folgende|folgendes|siguiente|以下|是|说)$/

const setsApart = (operators: Term["operators"]): boolean =>
  operators.has("below") || operators.has("above") || operators.has("before")

/** Is more said than a topic or whose rule it is: who else said it, what it is, what to do with it? */
function isTold(terms: readonly Term[]): boolean {
  const own = terms.filter(says)
  const length = own.reduce((sum, { surface }) => sum + (/^[\u3400-\u9fff]/.test(surface) ? signShare : 1), 0)
  if (length > maxLabel) return true
  if (own.length === 0) return false
  return terms.some(({ surface, operators }) => tells.test(surface) || operators.has("pronoun") || setsApart(operators))
}

/** Is something said, and not only who said it, where, or as which point of a list? */
const says = ({ concept, sort }: Term): boolean =>
  concept !== undefined && sort === undefined && concept !== "approve" && concept !== "ask"

/** What stands before a rule in its own sentence: a label with something done in it, or a clause that says when or for whom. */
export function doubtBefore(terms: readonly Term[]): Doubt | undefined {
  const last = terms.findLast(isPart)
  if (last === undefined) return undefined
  const own = withoutReasons(terms)
  if (last.mark === "comma" && last.surface === ",") {
    const from = own.findLastIndex((term) => isPart(term) && term.surface !== ",") + 1
    if (own.slice(from).some(says)) return weakened("scope")
  }
  return own.some(acts) || isTold(own) ? weakened("doubted") : undefined
}

/** What stands behind a rule in its own sentence: a clause of its own without a verb that rules narrows it. */
export function doubtAfter(terms: readonly Term[]): Doubt | undefined {
  const opening = terms.find((term) => term.mark !== "quote")
  if (opening === undefined || !/^[,(—]$/.test(opening.surface)) return undefined
  const own = withoutReasons(terms)
  const binds = own.some(({ operators }) => binding.some((name) => operators.has(name)))
  return !binds && own.some(says) ? weakened("scope") : undefined
}

const binding = ["not", "concord", "forbid", "require"] as const

/** Do these words tell who says or does something, and not only what comes? */
export const tellsOf = (terms: readonly Term[]): boolean => terms.some(({ surface }) => tells.test(surface))

/** Is something done to rules in these words? */
export const isActedOn = (terms: readonly Term[]): boolean => terms.some(acts)

/** Is something done to what stands under a heading or a leading line, or is more than a topic told? */
export const actsOver = (terms: readonly Term[]): boolean => isActedOn(terms) || isTold(terms)

/** Words by which a rule is only made stronger or wider. */
const affirming: ReadonlySet<string> = new Set(
  "strict firm absolut bind seriou essential matter hold legal law complianc everyon alway include extend mean cover also too contractor non negotiabl priority vital crucial".split(
    " ",
  ),
)

const doubtful = [
  "lapse",
  "former",
  "false",
  "hedge",
  "soft",
  "waive",
  "permit",
  "past",
  "some",
  "only",
  "should",
  "amend",
  "without",
  "beyond",
  "instead",
] as const

/** Does a sentence about the rule do nothing but stress or widen it: "this is strict", "that includes contractors"? */
export function affirms({ counts, subjects, negated }: Meaning): boolean {
  if (doubtful.some((name) => counts[name] > 0)) return false
  if (negated) return counts.except > 0 && subjects.length === 0
  if (counts.except > 0) return false
  const widens = subjects.some(({ concept }) => widening.has(concept)) && counts.condition === 0
  return widens || subjects.every(({ concept }) => affirming.has(concept))
}

const widening: ReadonlySet<string> = new Set(["include", "extend", "mean"])

/** Terms at the start of a sentence among which a pronoun points back. */
const opening = 4

const demonstrative =
  /^(?:this|that|these|those|such|the above|eso|esto|ello|lo anterior|dies|das|cela|ceci|isso|这|此|上述|这条|这项|那条)$/

/** Does a sentence speak of what stood before it: "this", "that rule", "such a limit"? */
export function pointsBack(terms: readonly Term[]): boolean {
  const words = terms.filter((term) => !isPart(term))
  return (
    words.some(({ operators, surface }) => operators.has("rule") || demonstrative.test(surface)) ||
    words.slice(0, opening).some(({ operators }) => operators.has("pronoun"))
  )
}
