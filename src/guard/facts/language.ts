import { sentencesIn } from "../../language/sentences.ts"
import { type Leaf, maxLanguageLength } from "./leaf.ts"
import lists from "./words.json" with { type: "json" }
import { isAscii } from "./words.ts"

/** Languages in Latin letters, with small words that no sentence in them does without. */
const smallWords: Readonly<Record<string, string>> = lists.smallWords

/** Names of the languages; below, a language is its index in this list. */
const languages: readonly string[] = Object.keys(smallWords)

/** Languages of each small word, by the number of the word; number 0 is any other word. */
const owners: (readonly number[])[] = [[]]

const numberOfWord: ReadonlyMap<string, number> = (() => {
  const map = new Map<string, number>()
  for (const [place, words] of Object.values(smallWords).entries())
    for (const word of words.split(" ")) {
      const number = map.get(word) ?? owners.push([]) - 1
      map.set(word, number)
      owners[number] = [...(owners[number] ?? []), place]
    }
  return map
})()

/** Prefix tree of the small words in ASCII: for each node the next node by letter, and the number of the word that ends there. */
const tree = (() => {
  const plain = [...numberOfWord].filter(([word]) => /^[a-z]+$/.test(word))
  const size = 1 + plain.reduce((sum, [word]) => sum + word.length, 0)
  const next = new Uint16Array(size * 26)
  const ends = new Uint16Array(size)
  let nodes = 1
  for (const [word, number] of plain) {
    let node = 0
    for (let at = 0; at < word.length; at++) {
      const place = node * 26 + word.charCodeAt(at) - 0x61
      if (next[place] === 0) next[place] = nodes++
      node = next[place] ?? 0
    }
    ends[node] = number
  }
  return { next, ends }
})()

/** Buffers reused for every block: the score of each language, and the languages with a score in the order in which they appeared. */
const scores = new Uint16Array(languages.length)
const met = new Uint8Array(languages.length)
const block = { metCount: 0, words: 0 }

function startBlock(): void {
  scores.fill(0)
  block.metCount = 0
  block.words = 0
}

/** Adds a word, given by its number, to the block. */
function addWord(word: number): void {
  if (word === otherScript) return
  block.words++
  if (word === 0) return
  const own = owners[word] ?? []
  for (const place of own) {
    if (scores[place] === 0) met[block.metCount++] = place
    // A word of one language says more than one that several share.
    scores[place] = (scores[place] ?? 0) + (own.length === 1 ? 2 : 1)
  }
}

const scripts: readonly (readonly [language: string, letters: RegExp, least: number])[] = [
  ["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 4],
  ["ko", /\p{Script=Hangul}/gu, 4],
  ["zh", /\p{Script=Han}/gu, 5],
  ["ru", /\p{Script=Cyrillic}/gu, 12],
  ["ar", /\p{Script=Arabic}/gu, 10],
  ["he", /\p{Script=Hebrew}/gu, 10],
  ["el", /\p{Script=Greek}/gu, 12],
  ["hi", /\p{Script=Devanagari}/gu, 8],
  ["th", /\p{Script=Thai}/gu, 8],
]

/**
 * Minimum number of words in a block. Blocks end with a clause, so that one foreign sentence among others shows; a short clause counts with
 * the next.
 */
const leastWords = 4
/** Maximum number of words in a block; a longer clause is split. */
const blockWords = 40
/** Minimum number of words without any small word that count as an unknown language. */
const unknownWords = 20

/** Language whose small words score highest in the block. */
function languageOfBlock(): string | undefined {
  if (block.metCount === 0) return block.words >= unknownWords ? "und" : undefined
  // Among equal scores, the language that appeared first wins.
  let [best, score, second] = [0, 0, 0]
  for (let n = 0; n < block.metCount; n++) {
    const place = met[n] ?? 0
    const own = scores[place] ?? 0
    if (own > score) {
      second = score
      score = own
      best = place
    } else if (own > second) second = own
  }
  const language = languages[best] ?? "und"
  const least = Math.max(3, block.words * 0.3)
  const margin = score - second
  if (language === "en") return "en"
  return score >= least && margin >= 1 ? language : undefined
}

/** Characters of names and code; searching for each separately is faster than for any of them. */
const namingSigns = [..."/\\_=<>{}@"]

/** Removes what is the same in every language: code, addresses, names of things. */
function proseOf(text: string): string {
  const prose = text.slice(0, maxLanguageLength).replace(/```[^`]*```|`[^`\n]*`/g, " ")
  if (!/\d/.test(prose) && !namingSigns.some((sign) => prose.includes(sign))) return prose
  return prose.replace(/[\x21-\x7e]+/g, (run) => (/[/\\_=<>{}@\d]/.test(run) ? " " : run))
}

/** Number of a word in another script: it counts for the length of blocks and nowhere else. */
const otherScript = -1

const numberOf = (word: string): number =>
  /^[a-z]|\p{Script=Latin}/u.test(word) ? (numberOfWord.get(word) ?? 0) : otherScript

/** Text after a colon or on a line of its own may be a quotation. */
const clauseEnds = /[;:\n]+/

/** Counts the words of a text in blocks of whole clauses; `take` is called when a block is complete. */
function eachBlock(prose: string, isPlain: boolean, take: () => void): void {
  let held = 0
  const give = (): void => {
    take()
    startBlock()
    held = 0
  }
  const cut = (): void => {
    if (held >= leastWords) give()
  }
  const add = (word: number): void => {
    if (held === blockWords) give()
    held++
    addWord(word)
  }
  startBlock()
  for (const { start, end } of sentencesIn(prose, { start: 0, end: prose.length })) {
    if (isPlain) readPlain(prose, start, end, add, cut)
    else
      for (const clause of prose.slice(start, end).toLowerCase().split(clauseEnds)) {
        for (const word of clause.match(/\p{L}+/gu) ?? []) add(numberOf(word))
        cut()
      }
  }
  if (held > 0) give()
}

/** The same for ASCII text, letter by letter: most calls are ASCII, and creating a string for each word takes most of the time. */
function readPlain(prose: string, start: number, end: number, add: (word: number) => void, cut: () => void): void {
  const { next, ends } = tree
  let isWord = false
  let node = 0
  for (let at = start; at < end; at++) {
    const code = prose.charCodeAt(at)
    const letter = (code | 0x20) - 0x61
    if (letter >= 0 && letter < 26) {
      // No edge leads back to the root: at the root within a word, no small word can match.
      node = isWord && node === 0 ? 0 : (next[node * 26 + letter] ?? 0)
      isWord = true
      continue
    }
    if (isWord) add(ends[node] ?? 0)
    isWord = false
    node = 0
    if (code === 0x3a || code === 0x3b || code === 0x0a) cut()
  }
  if (isWord) add(ends[node] ?? 0)
  cut()
}

/** Languages in which a text is written; `und` for an unknown one. */
function languagesIn(text: string): ReadonlySet<string> {
  const prose = proseOf(text)
  const found = new Set<string>()
  // Every word of an ASCII text is Latin.
  const isPlain = isAscii(text) || !/[\u0080-\uffff]/.test(prose)
  if (!isPlain && /[\u0370-\uffff]/.test(prose)) {
    for (const [language, letters, least] of scripts)
      if ((prose.match(letters)?.length ?? 0) >= least && !(language === "zh" && found.has("ja"))) found.add(language)
  }
  eachBlock(prose, isPlain, () => {
    const language = languageOfBlock()
    if (language !== undefined) found.add(language)
  })
  // The part beyond the limit may be in any language.
  if (text.length > maxLanguageLength) found.add("und")
  return found
}

/** Languages of the texts in a call that people will read. */
export function languagesOf(leaves: readonly Leaf[]): ReadonlySet<string> {
  const texts = leaves.filter(
    ({ role, text, value }) =>
      typeof value === "string" &&
      text.length >= 12 &&
      (role === "body" || role === "subject" || role === "other") &&
      /[\s\u3000-\uffef]/.test(text),
  )
  return new Set(texts.flatMap(({ text }) => [...languagesIn(text)]))
}
