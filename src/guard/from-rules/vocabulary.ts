import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { entriesOf } from "../../message/present.ts"
import lists from "./vocabulary.json" with { type: "json" }

/**
 * The words that rules are read by, from `vocabulary.json`, as patterns that match them whole: as listed, or in all their regular forms.
 */

/** Matches any of the words as whole words. */
export const wholeWords = (list: string | readonly string[]): LazyPattern =>
  lazyPattern(`(?<![\\p{L}\\p{N}_-])${anyOf(list)}(?![\\p{L}\\p{N}_-])`, "u")

/** Matches any of the words in any regular form: `send` also as `sends`, `sending` and `sended`, which does no harm. */
function inForms(list: string | readonly string[]): LazyPattern {
  const all = [...wordSet(...[list].flat())].flatMap((word) => {
    const stem = word.replace(/e$/, "")
    const last = word.at(-1) ?? ""
    const doubled = /[^aeiou][aeiou][bdgklmnprt]$/.test(word) ? [`${word}${last}ed`, `${word}${last}ing`] : []
    const changed = word.endsWith("y") ? [`${word.slice(0, -1)}ies`, `${word.slice(0, -1)}ied`] : []
    return [word, `${word}s`, `${word}es`, `${word}'s`, `${stem}ed`, `${stem}ing`, ...doubled, ...changed]
  })
  return wholeWords([...new Set(all)].map((word) => word.replace(/_/g, " ")))
}

const patterns = new Map<string | readonly string[], LazyPattern>()

/** Returns the pattern of a vocabulary list, made on first use. */
function patternOf(
  list: string | readonly string[],
  make: (list: string | readonly string[]) => LazyPattern,
): LazyPattern {
  const pattern = patterns.get(list) ?? make(list)
  patterns.set(list, pattern)
  return pattern
}

/** Matches the words of a vocabulary list as they are. */
export const listedWords = (name: keyof typeof lists.said): LazyPattern => patternOf(lists.said[name], wholeWords)

/** Matches the words of a vocabulary list in any regular form. */
export const anyForm = (name: keyof typeof lists.forms): LazyPattern => patternOf(lists.forms[name], inForms)

/** What rules name without a value: acts, security controls, kinds of personal data, uses of secrets. */
export const { acts, controls, personKinds, secretActs } = lists.tables

type Certainty = "sure" | "likely"

/**
 * Returns the names in a table whose words occur in a text. Only if no unambiguous ("sure") word occurs do the ambiguous ("likely") ones
 * count, and then `isSure` is false.
 */
export function namedIn<Name extends string>(
  table: Readonly<Record<Name, { readonly [certainty in Certainty]?: string | readonly string[] }>>,
  text: string,
): { readonly names: readonly Name[]; readonly isSure: boolean } {
  const namesWith = (certainty: Certainty): readonly Name[] =>
    entriesOf(table).flatMap(([name, words]) => {
      const list = words[certainty]
      return list !== undefined && patternOf(list, wholeWords).test(text) ? [name] : []
    })
  const names = namesWith("sure")
  return names.length > 0 ? { names, isSure: true } : { names: namesWith("likely"), isSure: false }
}

const grammar = wordSet(...lists.grammar)

/** True for words of grammar, emphasis and command, which narrow nothing. */
export const isGrammarWord = (word: string): boolean => grammar.has(word)
