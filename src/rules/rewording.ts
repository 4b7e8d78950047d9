import { lazyPattern } from "../language/lazy.ts"
import { letters } from "../language/letters.ts"
import { wordSet } from "../language/word-forms.ts"
import { binds, clitic, isIn, parse, wordAt } from "./parsed-sentence.ts"
import lists from "./paste-words.json" with { type: "json" }

/** Recognizes requests for a text to be reworded. All input is in lower case and of bounded length. */

const rewordVerbs = wordSet(...lists.rewording)
const besideVerb = wordSet(...lists.beside)
const targets = wordSet(...lists.targets)
/** Pronouns and other words for a text that is at hand. */
const atHand = wordSet(
  "this these it that the following below dies diese diesen das esto este ceci ça isto isso questo dit это",
)
const alternatives = (list: readonly string[]): string => [...wordSet(...list)].join("|")
/** Matches the first words of such a request. */
const rewording = lazyPattern(
  `^[^${letters}]{0,20}(?:(?:${alternatives(lists.askers)})[^${letters}]{1,3}){0,6}(?:${alternatives(lists.rewording)})(?![${letters}])`,
)
/** Maximum number of words between a verb of rewording and the end of a request that names no text of its own. */
const maxObject = 6

/** Matches such a request in a script without blanks. */
const rewordsElsewhere =
  /^\s*(?:请|请你|帮我|麻烦)?(?:把?(?:这|下面|以下)[^，。]{0,6})?(?:翻译|总结|概括|润色|改写|校对|要約|翻訳|校正)(?:[成为一下到]{1,2}[^，。]{0,6})?(?:して(?:ください)?)?\s*[。.!！:：]?\s*$/

/**
 * True if a sentence asks for a text to be reworded, and names none but the one at hand: "Translate to French", "Proofread this." Whatever
 * follows is that text.
 */
export function asksForText(sentence: string): boolean {
  if (rewordsElsewhere.test(sentence)) return true
  if (!rewording.test(sentence) || /\d/.test(sentence)) return false
  const parsed = parse(sentence)
  let at = parsed.words.findIndex((word) => rewordVerbs.has(word.replace(clitic, ""))) + 1
  while (isIn(parsed, at, besideVerb)) at++
  const left = parsed.words.length - at
  if (left <= 0) return true
  if (left > maxObject || binds.test(sentence)) return false
  if (isIn(parsed, at, targets)) return true
  return isIn(parsed, at, atHand) && (wordAt(parsed, at) !== "the" || isIn(parsed, at + 1, atHand))
}

/** Number of first letters in which a verb and its noun agree. */
const stemLength = 6

/** Returns the stem of the verb in such a request: a sentence that has it too says how to do it. */
export const requestVerb = (sentence: string): string =>
  (parse(sentence).words.find((word) => rewordVerbs.has(word.replace(clitic, ""))) ?? sentence).slice(0, stemLength)

/** Maximum number of sentences of a line in which such a request is looked for. */
const maxSentences = 3
const sentenceStop = /[.?!。？！]+(?=\s|$)|[。？！]+/g

/** Returns the offset in a line behind a sentence that asks for a text to be reworded, if there is one at its start. */
export function requestEnd(line: string): number | undefined {
  let start = 0
  for (let count = 0; count < maxSentences && start < line.length; count++) {
    sentenceStop.lastIndex = start
    const stop = sentenceStop.exec(line)
    const end = stop === null ? line.length : stop.index + stop[0].length
    if (asksForText(line.slice(start, end))) return end
    start = end
  }
  return undefined
}
