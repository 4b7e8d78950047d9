/** Letters by which two forms of a word are taken for the same. */
const stemLength = 5

/** Shorter words say too little. */
const minLength = 3

/** Words that stand in any text, of the languages most written; the rest is left to how often a word occurs. */
const empty: ReadonlySet<string> = new Set(
  "the and for was are but not you all can had her his its our out has him how who did may now with that this from have will been were they their there which would about your what when into than then them these some could also any she does done los las una por que con para del der die das und ist ein eine den dem mit von les des est une dans pour que qui что это как для".split(
    " ",
  ),
)

/** Scripts written without blanks, and Korean, whose words carry their endings. */
const unspaced = /[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af]/

/** A word or number of a text, as two ways to put the same thing share it, and where it stands in the view. */
export type Term = { readonly term: string; readonly at: number }

/** The terms of a normalized text: stems of words, numbers, and pairs of characters where a script has no blanks. One pass. */
export function* termsOf(seen: string): Generator<Term> {
  for (const { 0: word, index } of seen.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (unspaced.test(word)) {
      for (let at = 0; at + 2 <= word.length; at++) yield { term: word.slice(at, at + 2), at: index + at }
    } else if (word.length >= minLength ? !empty.has(word) : /^\d\d$/.test(word)) {
      yield { term: /\d/.test(word) ? word.slice(0, 24) : word.slice(0, stemLength), at: index }
    }
  }
}
