import { type Comparison, compare } from "./survival-compare.ts"
import { type Meaning, meaningOf } from "./survival-meaning.ts"
import type { Sentence } from "./survival-reading.ts"
import type { Term } from "./survival-terms.ts"

/** A stretch of a sentence that may state the rule, compared with it, and what the rest of the sentence says. */
export type Candidate = Comparison & { readonly rest: Meaning; readonly from: number; readonly to: number }

/** Clauses tried of one sentence; a sentence with more is judged as a whole. */
const maxClauses = 24
/** What a stranger costs against a share of the rule's subjects, when the best stretch is chosen. */
const strangerCost = 0.08

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

/** The stretch of a sentence that comes closest to the rule: the whole of it unless a clause alone comes closer. */
export function candidateOf(sentence: Sentence, rule: Meaning, context: ReadonlySet<string>): Candidate {
  const { terms, language, meaning } = sentence
  const ranges = [{ from: 0, to: terms.length }, ...rangesOf(terms, true), ...rangesOf(terms, false)]
  let best: Candidate | undefined
  for (const range of ranges) {
    if (range.to <= range.from) continue
    const whole = range.to - range.from === terms.length
    const said = whole ? meaning : meaningOf(terms.slice(range.from, range.to), language)
    const label = whole ? context : new Set([...context, ...labelOf(terms, range.from)])
    const compared = compare(rule, said, label)
    if (best !== undefined && worth(compared) <= worth(best)) continue
    const rest = whole
      ? empty(language)
      : meaningOf([...terms.slice(0, range.from), ...terms.slice(range.to)], language)
    best = { ...compared, rest, ...range }
  }
  return best ?? { ...compare(rule, meaning, context), rest: empty(language), from: 0, to: terms.length }
}

const worth = ({ coverage, strangers }: Comparison): number => coverage - strangerCost * strangers

const empty = (language: Sentence["language"]): Meaning => meaningOf([], language)

/** What a label before a colon is about: "Spending: at most $100" is about spending. */
function labelOf(terms: readonly Term[], from: number): readonly string[] {
  if (terms[from - 1]?.mark !== "colon") return []
  return terms.slice(0, from).flatMap(({ concept }) => (concept === undefined ? [] : [concept]))
}
