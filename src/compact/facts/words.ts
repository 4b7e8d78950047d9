import { maxLabelLength, maxValueLength } from "./limits.ts"
import { sortOf, sorts } from "./shape.ts"

/** A word longer than a key and its value is data: base64, a minified line. */
const maxWordLength = 2 * maxLabelLength + maxValueLength

/** Prose: letters only, with no capital inside. */
const common = /^[A-Z]?[a-z]+[.:!?]*$/

const untilValue = /^(?:#!|[-+!:=&?])*(?=[\p{L}\p{N}_.$€£¥₹/#@\\~-])/u
/** An option of a command without a value: a program's word, not the work's. */
const isOption = /^--[a-zA-Z][a-zA-Z-]*$/
/** A short option with its value in one word. */
const optionWithValue = /^-[A-Za-z]+\d[\w.]*$/
const afterValue = /[.:!?=&+\\-]+$/
const inOtherScript = /[\x21-\x7e]{3,}/g
const writtenWithoutBlanks = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Texts shorter than this hardly say a word twice. */
const worthRemembering = 64

/** Shows the words that may be values, each once, in order. A script written without blanks is searched for the Latin runs in it. */
export function eachWord(text: string, visit: (word: string, start: number) => void): void {
  const seen = text.length < worthRemembering ? undefined : new Set<string>()
  eachRun(text, (found, start, shape) => {
    if ((shape & unplain) === 0 && common.test(found)) return
    // One look instead of two: what was known leaves the set as it was.
    const known = seen?.size
    if (seen?.add(found).size === known && known !== undefined) return
    if (found.startsWith("--") && isOption.test(found)) return
    const lead = leadOf(found)
    const whole = lead === 0 ? found : found.slice(lead)
    const word = letters & (sortOf[whole.charCodeAt(whole.length - 1)] ?? 0) ? whole : whole.replace(afterValue, "")
    if (word.length < 2) return
    visit(word, start + lead)
    if ((shape & sorts.beyond) === 0 || !writtenWithoutBlanks.test(word)) return
    for (const run of word.matchAll(inOtherScript)) visit(run[0].replace(afterValue, ""), start + lead + run.index)
  })
}

/** How many signs stand before the value in a word. */
function leadOf(found: string): number {
  if (letters & (sortOf[found.charCodeAt(0)] ?? 0) || optionWithValue.test(found)) return 0
  return untilValue.exec(found)?.[0].length ?? 0
}

const letters = sorts.lower | sorts.upper | sorts.digit
/** What no word of prose has. */
const unplain = ~(sorts.lower | sorts.upper | sorts.dot | sorts.colon | sorts.sign)

/** What stands between parting signs, without the words that are letters only with no capital inside. */
function eachRun(text: string, visit: (run: string, start: number, shape: number) => void): void {
  let start = 0
  let shape = 0
  for (let at = 0; at <= text.length; at++) {
    const sort = at < text.length ? (sortOf[text.charCodeAt(at)] ?? 0) : 0
    if (sort !== 0) {
      // A capital counts as a small letter where a word of prose may have one.
      shape |= at === start && sort === sorts.upper ? sorts.lower : sort
      continue
    }
    const length = at - start
    if (length >= 2 && length <= maxWordLength && shape !== sorts.lower) visit(text.slice(start, at), start, shape)
    start = at + 1
    shape = 0
  }
}
