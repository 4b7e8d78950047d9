import { letters } from "../language/letters.ts"

/** A sentence in lower case as its words, which are matched one by one. */

/** A sentence and its words. */
export type ParsedSentence = { readonly text: string; readonly words: readonly string[] }

const word = new RegExp(`[${letters}]+(?:['’-][${letters}]+)*`, "g")
const noWords: readonly string[] = []

export const parse = (text: string): ParsedSentence => ({ text, words: text.match(word) ?? noWords })

/**
 * Returns the offset of a word, computed on demand because few callers need it. The words are in order, so each is the first match after
 * the one before it.
 */
export function startOf({ text, words }: ParsedSentence, at: number): number {
  let [start, end] = [0, 0]
  for (let n = 0; n <= at; n++) {
    const word = words[n] ?? ""
    start = text.indexOf(word, end)
    end = start + word.length
  }
  return start
}

export const wordAt = ({ words }: ParsedSentence, at: number): string => words[at] ?? ""
export const isIn = (parsed: ParsedSentence, at: number, set: ReadonlySet<string>): boolean =>
  set.has(wordAt(parsed, at))

/** Matches a pronoun attached to its verb: "traduis-le", "traduce-lo". */
export const clitic = /-(?:l[aeo]s?|l['’]|moi)$/

/** Matches words of a rule: a sentence with one introduces nothing. */
export const binds =
  /\b(?:always|never|must|from now on|whenever|don['’]?t|do not|every|any|rules?|unless|before you)\b/
