import { entriesOf } from "../message/present.ts"
import lists from "./words.json" with { type: "json" }

/**
 * Words in their other forms, and words that say nothing by themselves: for searching in any of the languages most used with agents. Terms
 * are in lower case and without accents, as `searchTerms` makes them.
 */

/** A set of words, written as lines with a blank between the words. */
export const wordSet = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")))

/** Such a set under each name of a table. */
export const wordSetsOf = <Name extends string>(table: Readonly<Record<Name, string | readonly string[]>>) =>
  entriesOf(table).map(([name, words]) => [name, wordSet(...[words].flat())] as const)

/** Each pattern of a table with the name that it stands under. */
export const namedPatterns = <Name extends string>(table: Readonly<Record<Name, readonly RegExp[]>>) =>
  entriesOf(table).flatMap(([name, patterns]) => patterns.map((pattern) => [name, pattern] as const))

/** A name in code as words in lower case: `getUserDetails`, `get-user-details` and `GET_USER_DETAILS` are the same three. */
export const nameWords = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[a-z\d]+/g) ?? []

/** Is this a word of grammar or courtesy, which says nothing about what is looked for? */
export const isStopWord = (term: string): boolean => stopWords.has(term)

const stopWords = wordSet(lists.stopWords)

/** Endings of Latin scripts, longest first: plurals, cases, tenses and nouns made of verbs. */
const latin =
  /(?:urations?|ures|ured|uring|ure|isations?|izations?|ations?|ements?|ments?|ungen|ung|ciones|cion|coes|cao|azioni|azione|ando|iendo|aient|aron|ieron|issent|eront|ingly|edly|ings?|ions?|ables?|ibles?|lich(?:e[mnrs]?)?|keiten|keit|heiten|heit|mente|ness(?:es)?|ities|ity|ives?|iert|ieren|ern|ends?|ados?|adas?|idos?|idas?|ied|ies|ers?|ors?|als?|at|ed|en|em|es|ez|ly|os|as|ar|ir|(?<![aious])s|[aeiouny])$/

/** Endings of nouns, adjectives and verbs in Cyrillic. */
const cyrillic =
  /(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ение|ения|ении|ать|ять|ить|еть|ешь|ишь|ает|яет|ила|ала|али|или|ует|ость|ости|ием|ой|ей|ий|ый|ая|яя|ое|ее|ые|ие|ом|ем|ам|ям|ах|ях|ов|ев|ет|ит|ут|ют|ат|ят|ал|ил|ла|ли|ия|ию|[аеиоуыьэюя])$/

/** Shorter words have no stem: they are found as they are. */
const leastLength = 3
/** What has to be left of a word. */
const leastStem = 3
/** A stem is cut here: a longer word is told by its beginning, and languages that write words together differ behind it. */
const maxStem = 8

/**
 * What a word has in common with its other forms: `refunds`, `refunded` and `refunding` have the same stem. It is meant for finding: words
 * of different meaning may share one, so a hit by stem counts less than one by the word. Undefined for what has no forms, such as an id.
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
