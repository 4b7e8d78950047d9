import { pageBias, pageWeights, talkBias, talkWeights, weightStep } from "./generated/rule-weights.ts"
import { featuresOf, type StatementView, tableSize } from "./statement-features.ts"

/** What is read: what a person says in a conversation, or a page that was written to be followed. */
export type Register = "talk" | "page"

/** The first sign of the weights, the one that is left out of them (a backslash), and the sign of nothing in between. */
const [firstSign, leftOut, zero] = [35, 92, 45]

/** Weights are written one sign each; the roots of them are, so that small ones keep their difference. */
function weightsOf(signs: string): Float32Array {
  const weights = new Float32Array(tableSize)
  for (let at = 0; at < tableSize; at++) {
    const sign = signs.charCodeAt(at)
    const level = sign - firstSign - (sign > leftOut ? 1 : 0) - zero
    weights[at] = Math.sign(level) * level * level * weightStep
  }
  return weights
}

let tables: Readonly<Record<Register, { readonly weights: Float32Array; readonly bias: number }>> | undefined

/** How sure the model is that a sentence is a standing rule: the logarithm of the odds. */
export function statementScore(view: StatementView, register: Register): number {
  tables ??= {
    talk: { weights: weightsOf(talkWeights), bias: talkBias },
    page: { weights: weightsOf(pageWeights), bias: pageBias },
  }
  const { weights, bias } = tables[register]
  const { ids, length } = featuresOf(view)
  let score = bias
  for (let at = 0; at < length; at++) score += weights[ids[at] ?? 0] ?? 0
  return score
}

/** Where a sentence of talk parts into clauses that may bind by themselves: "fix it, and never push". */
const clauseEnd = /[,;] (?:and |but |so |then )?|(?<=\S) (?:but|because|that|-|–|—) |\? /
/** Shorter sentences have one point, shorter clauses none. */
const minParted = 50
const minClauseWords = 4
const maxClauses = 8
/** A clause lacks what stands around it, and has to be surer. */
const clauseMargin = 1

/** How sure the model is of a sentence or of the surest of its clauses. */
export function scoreWithClauses(view: StatementView): number {
  const whole = statementScore(view, "talk")
  let best = whole
  for (const clause of clausesOf(view)) best = Math.max(best, statementScore(clause, "talk") - clauseMargin)
  return best
}

/** The clauses of a longer sentence, each as if it stood alone. */
export function clausesOf(view: StatementView): readonly StatementView[] {
  if (view.text.length < minParted) return []
  return view.text
    .split(clauseEnd)
    .map((clause) => clause.trim())
    .filter((clause) => clause.split(" ").length >= minClauseWords && clause.length < view.text.length - 3)
    .slice(0, maxClauses)
    .map((text) => ({ ...view, text, before: "", isFirst: false, isLast: false }))
}
