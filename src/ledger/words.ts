import { maxLabelLength, maxValueLength } from "./limits.ts"

/** A word of a text and where it starts. */
export type Word = { readonly text: string; readonly start: number }

/** The signs that open, close or part things in prose, code and markup of any script; blanks and controls do too. */
const parting = "\"'`<>(){}[],;|*，。；：、！？「」『』（）【】《》“”‘’«»№\u2028\u2029\ufeff\u3000"

/** One look per character, because every text goes through here. */
const isParting = new Uint8Array(0x10000)
isParting.fill(1, 0, 0x21)
isParting.fill(1, 0x7f, 0xa1)
isParting.fill(1, 0x2000, 0x200b)
for (let at = 0; at < parting.length; at++) isParting[parting.charCodeAt(at)] = 1

/** A word longer than a key and its value is data: base64, a minified line. */
const maxWordLength = 2 * maxLabelLength + maxValueLength

/** Prose: letters only, with no capital inside. */
const common = /^[A-Z]?[a-z]+[.:!?]*$/

const untilValue = /^(?:#!|[-+!:=&?])*(?=[\p{L}\p{N}_.$€£¥₹/#@\\~-])/u
const afterValue = /[.:!?=&+\\-]+$/u
const inOtherScript = /[\x21-\x7e]{3,}/g
const writtenWithoutBlanks = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** The words that may be values, each once, in order. A script written without blanks is searched for the Latin runs in it. */
export function* wordsIn(text: string): Generator<Word> {
  const seen = new Set<string>()
  for (const { text: found, start } of runsIn(text)) {
    if (common.test(found) || seen.has(found)) continue
    seen.add(found)
    const lead = untilValue.exec(found)?.[0].length ?? 0
    const word = found.slice(lead).replace(afterValue, "")
    if (word.length < 2) continue
    yield { text: word, start: start + lead }
    if (!writtenWithoutBlanks.test(word)) continue
    for (const run of word.matchAll(inOtherScript)) {
      yield { text: run[0].replace(afterValue, ""), start: start + lead + run.index }
    }
  }
}

/** What stands between parting signs, without the words that are lower-case letters only. */
function* runsIn(text: string): Generator<Word> {
  let start = 0
  let lowerCase = true
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0
    if (isParting[code] === 0) {
      lowerCase &&= code >= 0x61 && code <= 0x7a
      continue
    }
    const length = at - start
    if (length >= 2 && length <= maxWordLength && !lowerCase) yield { text: text.slice(start, at), start }
    start = at + 1
    lowerCase = true
  }
}
