import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { entriesOf } from "../../message/present.ts"
import lists from "./vocabulary.json" with { type: "json" }

/** The words by which rules are read: patterns of whole words, and words in all their regular forms, by what they stand for. */

/** Any of the words, whole. */
export const any = (list: string | readonly string[]): LazyPattern =>
  lazyPattern(`(?<![\\p{L}\\p{N}_-])${anyOf(list)}(?![\\p{L}\\p{N}_-])`, "u")

/** Any of the words in any of their regular forms: `send` is also `sends`, `sending` and `sended`, which does no harm. */
function inForms(list: string | readonly string[]): LazyPattern {
  const all = [...wordSet(...[list].flat())].flatMap((word) => {
    const stem = word.replace(/e$/, "")
    const last = word.at(-1) ?? ""
    const doubled = /[^aeiou][aeiou][bdgklmnprt]$/.test(word) ? [`${word}${last}ed`, `${word}${last}ing`] : []
    const changed = word.endsWith("y") ? [`${word.slice(0, -1)}ies`, `${word.slice(0, -1)}ied`] : []
    return [word, `${word}s`, `${word}es`, `${word}'s`, `${stem}ed`, `${stem}ing`, ...doubled, ...changed]
  })
  return any([...new Set(all)].map((word) => word.replace(/_/g, " ")))
}

const patterns = new Map<string | readonly string[], LazyPattern>()

/** The pattern of a list of the vocabulary, made when it is first asked for. */
function patternOf(
  list: string | readonly string[],
  make: (list: string | readonly string[]) => LazyPattern,
): LazyPattern {
  const pattern = patterns.get(list) ?? make(list)
  patterns.set(list, pattern)
  return pattern
}

/** The words under a name of the vocabulary, as they are said. */
export const said = (name: keyof typeof lists.said): LazyPattern => patternOf(lists.said[name], any)

/** The words under a name of the vocabulary, in any of their forms. */
export const anyForm = (name: keyof typeof lists.forms): LazyPattern => patternOf(lists.forms[name], inForms)

/** What rules name without a value: acts, security controls, kinds of personal data, what is done with secrets. */
export const { acts, controls, personKinds, secretActs } = lists.tables

type Certainty = "sure" | "likely"

/**
 * What of a table a text names. Words that leave no doubt come first; without any, those count that may mean something else, and it is not
 * sure.
 */
export function namedIn<Name extends string>(
  table: Readonly<Record<Name, { readonly [certainty in Certainty]?: string | readonly string[] }>>,
  text: string,
): { readonly names: readonly Name[]; readonly isSure: boolean } {
  const by = (certainty: Certainty): readonly Name[] =>
    entriesOf(table).flatMap(([name, words]) => {
      const list = words[certainty]
      return list !== undefined && patternOf(list, any).test(text) ? [name] : []
    })
  const names = by("sure")
  return names.length > 0 ? { names, isSure: true } : { names: by("likely"), isSure: false }
}

const grammar = wordSet(...lists.grammar)

/** Words of grammar, of emphasis and of command, which narrow nothing. */
export const isGrammar = (word: string): boolean => grammar.has(word)
