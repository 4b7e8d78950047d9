/**
 * Word lists are kept in a JSON file next to their reader, as arrays of lines of about a hundred characters. For a pattern the words are
 * separated by `|`, and a word may include its other forms as a regular expression (`users?`, `polic(?:y|ies)`). For a set of words they
 * are separated by blanks: `wordSet` in word-forms.ts.
 */
type WordList = string | readonly string[]

/** Returns the source of a pattern that matches any word of these lists, or any of these alternatives. */
export const anyOf = (...lists: readonly WordList[]): string => `(?:${lists.flat().join("|")})`
