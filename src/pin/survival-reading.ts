import { originalSpan, type View } from "../gate/view.ts"
import type { Span } from "../message/request.ts"
import { type Meaning, meaningOf } from "./survival-meaning.ts"
import { type Passage, passagesOf } from "./survival-passages.ts"
import type { Language } from "./survival-stem.ts"
import { type Term, termsOf } from "./survival-terms.ts"
import { type Unit, unitsOf } from "./survival-units.ts"
import { comparable } from "./survival-view.ts"

/** A sentence with its terms, and all that it says taken together. */
export type Sentence = Passage & {
  readonly terms: readonly Term[]
  readonly language: Language
  readonly meaning: Meaning
}

/** A text read once for any number of rules. */
export type Reading = {
  readonly view: View
  readonly units: readonly Unit[]
  readonly sentences: readonly Sentence[]
  /** Whether each unit stands between strike-through marks of its paragraph. */
  readonly struck: Uint8Array
  /** The text was longer than is read. */
  readonly cut: boolean
}

/** Characters that are read of one text: a summary has some thousand, and the longest that clients write a hundred thousand. */
const maxText = 150_000

/** Where strike-through is open; a mark that is never closed in its paragraph strikes nothing out. */
function strikes(units: readonly Unit[]): Uint8Array {
  const struck = new Uint8Array(units.length)
  let opened = -1
  units.forEach(({ kind }, at) => {
    if (kind === "break") opened = -1
    if (kind !== "strike") return
    if (opened >= 0) struck.fill(1, opened, at)
    opened = opened >= 0 ? -1 : at
  })
  return struck
}

export function readText(text: string, otherwise: Language): Reading {
  const source = text.slice(0, maxText)
  const view = comparable(source)
  const units = unitsOf(view, source)
  const sentences = passagesOf(units).map((passage) => {
    const { terms, language } = termsOf(units.slice(passage.from, passage.to), otherwise)
    let known: Meaning | undefined
    return {
      ...passage,
      terms,
      language,
      /** Worked out when first asked for: most sentences have nothing to do with a rule. */
      get meaning(): Meaning {
        known ??= meaningOf(terms, language)
        return known
      },
    }
  })
  return { view, units, sentences, struck: strikes(units), cut: text.length > maxText }
}

/** Where some units stand in the text as it was given. */
export function placeOf({ view, units }: Reading, from: number, to: number): Span {
  const start = units[from]?.start ?? 0
  return originalSpan(view, { start, end: units[to - 1]?.end ?? start })
}
