import { type Comparison, compare } from "./survival-compare.ts"
import type { Meaning } from "./survival-meaning.ts"
import type { Sentence } from "./survival-reading.ts"
import type { Term } from "./survival-terms.ts"

/** A stretch of a sentence that may state the rule, compared with it. */
export type Candidate = Comparison & { readonly from: number; readonly to: number }

/** What a stranger costs against a share of the rule's subjects, when the best stretch is chosen. */
const strangerCost = 0.08

/** The stretch of a sentence that comes closest to the rule: the whole of it unless a clause alone comes closer. */
export function candidateOf(sentence: Sentence, rule: Meaning, context: ReadonlySet<string>): Candidate {
  const { terms, meaning, clauses } = sentence
  let best = { ...compare(rule, meaning, context), from: 0, to: terms.length }
  for (const { from, to, meaning: said } of clauses) {
    const label = labelOf(terms, from)
    const compared = compare(rule, said, label.length === 0 ? context : new Set([...context, ...label]))
    if (worth(compared) > worth(best)) best = { ...compared, from, to }
  }
  return best
}

const worth = ({ coverage, strangers }: Comparison): number => coverage - strangerCost * strangers

/** What a label before a colon is about: "Spending: at most $100" is about spending. */
function labelOf(terms: readonly Term[], from: number): readonly string[] {
  if (terms[from - 1]?.mark !== "colon") return []
  return terms.slice(0, from).flatMap(({ concept }) => (concept === undefined ? [] : [concept]))
}
