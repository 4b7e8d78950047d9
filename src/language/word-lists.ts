/**
 * Word lists stand in a JSON file beside their reader, as arrays of lines of some hundred characters. For a pattern the words have `|`
 * between them, and a word may bring its other forms as a pattern has them (`users?`, `polic(?:y|ies)`). For a set of words they have a
 * blank between them: `wordSet` of word-forms.ts.
 */
type WordList = string | readonly string[]

/** Any of the words of these lists, or any of these pieces, as a part of a pattern. */
export const anyOf = (...lists: readonly WordList[]): string => `(?:${lists.flat().join("|")})`
