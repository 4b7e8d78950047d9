import { originalSpan, type View } from "../language/view.ts"
import type { Span } from "../message/request.ts"
import { type Clause, clausesOf } from "./survival-clauses.ts"
import { type Meaning, meaningOf } from "./survival-meaning.ts"
import { type Passage, passagesOf } from "./survival-passages.ts"
import type { Language } from "./survival-stem.ts"
import { languageIn, type Term, termsOf } from "./survival-terms.ts"
import { type Unit, unitsOf } from "./survival-units.ts"
import { comparable } from "./survival-view.ts"

/** A sentence with its terms, and all that it says taken together. */
export type Sentence = Passage & {
  readonly terms: readonly Term[]
  readonly language: Language
  readonly meaning: Meaning
  readonly clauses: readonly Clause[]
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
export const maxText = 150_000

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

/** Reads a text once; its sentences can then be had for words of any language, where they do not tell themselves. */
export function createReader(text: string): (otherwise: Language) => Reading {
  const source = text.slice(0, maxText)
  const view = comparable(source)
  const units = unitsOf(view, source)
  const parts = passagesOf(units).map((passage) => ({ passage, words: units.slice(passage.from, passage.to) }))
  const known = parts.map(() => new Map<Language, Sentence>())
  const struck = strikes(units)
  return (otherwise) => {
    const sentences = parts.map(({ passage, words }, at) => {
      const language = languageIn(words, otherwise)
      const sentence = known[at]?.get(language) ?? sentenceOf(passage, words, language)
      known[at]?.set(language, sentence)
      return sentence
    })
    return { view, units, sentences, struck, cut: text.length > maxText }
  }
}

export const readText = (text: string, otherwise: Language): Reading => createReader(text)(otherwise)

function sentenceOf(passage: Passage, units: readonly Unit[], language: Language): Sentence {
  const terms = termsOf(units, language)
  let known: Meaning | undefined
  let parts: readonly Clause[] | undefined
  return {
    ...passage,
    terms,
    language,
    /** Worked out when first asked for: most sentences have nothing to do with a rule. */
    get meaning(): Meaning {
      known ??= meaningOf(terms, language)
      return known
    },
    get clauses(): readonly Clause[] {
      parts ??= clausesOf(terms, language)
      return parts
    },
  }
}

/** Where some units stand in the text as it was given. */
export function placeOf({ view, units }: Reading, from: number, to: number): Span {
  const start = units[from]?.start ?? 0
  return originalSpan(view, { start, end: units[to - 1]?.end ?? start })
}
