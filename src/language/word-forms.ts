import { entriesOf } from "../message/present.ts"
import { anyOf } from "./word-lists.ts"
import lists from "./words.json" with { type: "json" }

/**
 * Stemming and stop words, for searching in the languages most used with agents. Terms are in lower case and without accents, as
 * `searchTerms` makes them.
 */

/** Makes a set of words from lines with a blank between the words. */
export const wordSet = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")))

/** Makes such a set for each name of a table. */
export const wordSetsOf = <Name extends string>(table: Readonly<Record<Name, string | readonly string[]>>) =>
  entriesOf(table).map(([name, words]) => [name, wordSet(...[words].flat())] as const)

/** Returns each pattern of a table with its name. */
export const namedPatterns = <Name extends string>(table: Readonly<Record<Name, readonly RegExp[]>>) =>
  entriesOf(table).flatMap(([name, patterns]) => patterns.map((pattern) => [name, pattern] as const))

/** Splits a name in code into words in lower case: `getUserDetails`, `get-user-details` and `GET_USER_DETAILS` give the same three. */
export const nameWords = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[a-z\d]+/g) ?? []

/** True for a word of grammar or courtesy, which says nothing about what is searched for. */
export const isStopWord = (term: string): boolean => stopWords.has(term)

const stopWords = wordSet(lists.stopWords)

/** Matches endings in Latin script, longest first: plurals, cases, tenses and nouns made of verbs. */
const latin = new RegExp(`${anyOf(lists.latinEndings)}$`)

/** Matches endings of nouns, adjectives and verbs in Cyrillic. */
const cyrillic = new RegExp(`${anyOf(lists.cyrillicEndings)}$`)

/** Minimum length of a word that is stemmed. */
const leastLength = 3
/** Minimum length of a stem. */
const leastStem = 3
/** Maximum length of a stem: a longer word is recognized by its beginning, and compound words differ after it. */
const maxStem = 8

/**
 * Returns what a word has in common with its other forms: `refunds`, `refunded` and `refunding` have the same stem. Meant for searching:
 * words of different meaning may share a stem, so a match by stem counts less than one by word. Undefined for a term without forms, such as
 * an id.
 */
export function stemOf(term: string): string | undefined {
  const isLatin = /^[a-zæœøłđþð]+$/.test(term)
  if (term.length < leastLength || (!isLatin && !/^[а-яё]+$/.test(term))) return undefined
  let stem = term
  for (let round = 0; round < 2; round++) {
    const without = [isLatin ? latin : cyrillic, /(?<![aious])s$/].map((ending) => stem.replace(ending, ""))
    stem = without.find((one) => one.length >= leastStem && one !== stem) ?? stem
  }
  // stopped and stop, cancelled and cancel
  return stem.replace(/(?<=..)([bcdfghklmnprtvz])\1$/, "$1").slice(0, maxStem)
}
