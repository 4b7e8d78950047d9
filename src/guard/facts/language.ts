import { sentencesIn } from "../../language/sentences.ts"
import { type Leaf, maxLanguageLength } from "./leaf.ts"
import lists from "./words.json" with { type: "json" }
import { isAscii } from "./words.ts"

/** Languages written in Latin letters, by the small words that no sentence of theirs does without. */
const smallWords: Readonly<Record<string, string>> = lists.smallWords

/** Their names; below a language is known by its place. */
const languages: readonly string[] = Object.keys(smallWords)

/** Each small word's languages, by its number; the first is that of every word that is none. */
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

/** The small words in ASCII as a tree: for each node the next by letter, and the number of the word that ends there. */
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

/** The scores of one block, and the languages that have one in the order in which they were met. Used again for the next block. */
const scores = new Uint16Array(languages.length)
const met = new Uint8Array(languages.length)
const block = { metCount: 0, words: 0 }

function startBlock(): void {
  scores.fill(0)
  block.metCount = 0
  block.words = 0
}

/** Count a word, given by its number, into the block. */
function addWord(word: number): void {
  if (word === foreign) return
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

/** Sentences are told apart, so that one foreign one among others shows; a short one counts with the next. */
const leastWords = 4
/** Words of one block; a longer one is looked at in pieces. */
const blockWords = 40
/** So many words without a small word of any language are of an unknown one. */
const unknownWords = 20

/** The language whose small words the block has most of. */
function languageOfBlock(): string | undefined {
  if (block.metCount === 0) return block.words >= unknownWords ? "und" : undefined
  // Of languages with the same score the one that was met first.
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

/** Signs of names and code; looking for each is faster than for any of them. */
const namingSigns = [..."/\\_=<>{}@"]

/** A text without what is the same in every language: code, addresses, names of things. */
function proseOf(text: string): string {
  const prose = text.slice(0, maxLanguageLength).replace(/```[^`]*```|`[^`\n]*`/g, " ")
  if (!/\d/.test(prose) && !namingSigns.some((sign) => prose.includes(sign))) return prose
  return prose.replace(/[\x21-\x7e]+/g, (run) => (/[/\\_=<>{}@\d]/.test(run) ? " " : run))
}

/** The number of a word in other letters, which counts where blocks are cut and nowhere else. */
const foreign = -1

const numberOf = (word: string): number =>
  /^[a-z]|\p{Script=Latin}/u.test(word) ? (numberOfWord.get(word) ?? 0) : foreign

/** What stands behind a colon or on a line of its own may be a quotation. */
const clauseEnds = /[;:\n]+/

/** Count the words of a text in blocks of whole clauses; `take` is called when one is complete. */
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

/** The same for a stretch in ASCII, letter by letter: most calls are in it, and making a string of each word takes most of the time. */
function readPlain(prose: string, start: number, end: number, add: (word: number) => void, cut: () => void): void {
  const { next, ends } = tree
  let isWord = false
  let node = 0
  for (let at = start; at < end; at++) {
    const code = prose.charCodeAt(at)
    const letter = (code | 0x20) - 0x61
    if (letter >= 0 && letter < 26) {
      // No word leads back to the root: behind it there is none.
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

/** The languages that a text is written in; `und` for one that is not known. */
function languagesIn(text: string): ReadonlySet<string> {
  const prose = proseOf(text)
  const found = new Set<string>()
  // Every word of a text in ASCII is Latin.
  const isPlain = isAscii(text) || !/[\u0080-\uffff]/.test(prose)
  if (!isPlain && /[\u0370-\uffff]/.test(prose)) {
    for (const [language, letters, least] of scripts)
      if ((prose.match(letters)?.length ?? 0) >= least && !(language === "zh" && found.has("ja"))) found.add(language)
  }
  eachBlock(prose, isPlain, () => {
    const language = languageOfBlock()
    if (language !== undefined) found.add(language)
  })
  // What stands behind the part that was read may be in any language.
  if (text.length > maxLanguageLength) found.add("und")
  return found
}

/** The languages of the texts that a call carries to be read by people. */
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
