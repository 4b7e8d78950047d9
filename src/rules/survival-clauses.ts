import { type Meaning, meaningOf } from "./survival-meaning.ts"
import type { Language } from "./survival-stem.ts"
import type { Term } from "./survival-terms.ts"

/** A stretch of a sentence that may state a rule by itself, and what it says. */
export type Clause = { readonly from: number; readonly to: number; readonly meaning: Meaning }

/** Clauses tried of one sentence; a sentence with more is judged as a whole. */
const maxClauses = 24

const governs = ({ operators }: Term): boolean =>
  operators.has("not") ||
  operators.has("concord") ||
  operators.has("require") ||
  operators.has("permit") ||
  operators.has("forbid")

/** Where one clause ends and the next begins: at a mark, and at "and" or "but" before a word that rules. */
function cutsOf(terms: readonly Term[], strong: boolean): readonly number[] {
  return terms.flatMap((term, at) => {
    if (term.mark === "colon" || /^[;()—[\]-]$/.test(term.surface)) return [at]
    if (strong) return []
    if (term.mark === "comma") return [at]
    const joins = /^(?:and|but|y|pero|并|但)$/.test(term.surface)
    const next = terms.slice(at + 1, at + 4)
    return joins && next.some(governs) ? [at] : []
  })
}

type Range = { readonly from: number; readonly to: number }

function rangesOf(terms: readonly Term[], strong: boolean): readonly Range[] {
  const cuts = cutsOf(terms, strong)
  if (cuts.length === 0 || cuts.length > maxClauses) return []
  return [-1, ...cuts].map((cut, at) => ({ from: cut + 1, to: cuts[at] ?? terms.length }))
}

/** The clauses of a sentence, cut at strong marks and at all marks; none where it is all one. */
export const clausesOf = (terms: readonly Term[], language: Language): readonly Clause[] =>
  [...rangesOf(terms, true), ...rangesOf(terms, false)]
    .filter(({ from, to }) => to > from)
    .map(({ from, to }) => ({ from, to, meaning: meaningOf(terms.slice(from, to), language) }))
