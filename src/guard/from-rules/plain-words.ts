import { lazy, lazyPattern } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { entriesOf } from "../../message/present.ts"
import glossary from "./glossary.json" with { type: "json" }
import { grammar, plainly } from "./grammar.ts"

/**
 * The words of a rule in the form in which it is read: small letters, plain quotation marks, whole words for those of a chat, words of other
 * languages as their English ones where a rule may turn on them, and one way to forbid, to ask and to confine for the many there are.
 */
export function inPlainWords(text: string): string {
  const plain = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘´]/g, "'")
    .replace(/["“”„«»`「」『』]|\*{2,}|(?<=^|\s)\*(?=\p{L})|(?<=\p{L})\*(?=\s|$)/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
  return oneWayOfSaying(inEnglish(spelledOut(plain).replace(grammar("namedFolder", "gu"), "$1/")))
}

/** What people leave out when they type. */
const typed: ReadonlyMap<string, string> = new Map(Object.entries(glossary.typed))

/** A word that is none of a value's: no part of an address, a path or an option. */
const [before, behind] = ["(?<![\\p{L}\\p{N}@./_*#'-])", "(?![\\p{L}\\p{N}@/_*-]|\\.[\\p{L}\\p{N}]|'\\p{L})"]

const typedWord = lazy(
  () =>
    new RegExp(
      `${before}(?:${[...typed.keys()].sort((one, other) => other.length - one.length).join("|")})(?=[\\s,.;:!?)]|$)`,
      "gu",
    ),
)

const spelledOut = (text: string): string => text.replace(typedWord(), (word) => typed.get(word) ?? word)

/** English words, each with its forms in other languages as a pattern. */
type Forms = Readonly<Record<string, string | readonly string[]>>

/** The forms of tables as one pattern whose groups are in the order of the English words. */
function tableOf(...tables: readonly Forms[]): { readonly pattern: RegExp; readonly english: readonly string[] } {
  const all = tables.flatMap((table) => Object.entries(table))
  const groups = all.map(([, forms]) => `(${anyOf(forms).replace(/\((?!\?)/g, "(?:")})`)
  return {
    pattern: new RegExp(`${before}(?:${groups.join("|")})(?<!\\s)${behind}`, "gu"),
    english: all.map(([english]) => english),
  }
}

/** What is said with several words comes first. None of these forms is an English word. */
const foreignWords = lazy(() => tableOf(glossary.phrases, glossary.words))

/** Some of the small words are English words too, so they count only beside others that are not. */
const smallWords = lazy(() => tableOf(glossary.small))

/** A text with every word of a table in English. */
const translated = (text: string, { pattern, english }: ReturnType<typeof tableOf>): string =>
  text.replace(pattern, (word: string, ...groups: readonly unknown[]) => english[groups.indexOf(word)] ?? word)

/** Two parts of one German verb, at the head and at the end of its clause. */
const separablePatterns = lazy(() =>
  glossary.separable.map(({ first, last, english }): readonly [RegExp, string] => [
    new RegExp(`^((?:bitte )?)(?:${first}) ([^,;:]{1,160}?) (?:${last})(?=[.!]*$|,)`, "u"),
    english,
  ]),
)

/** "D'effacer", "l'outil": the verb or noun is a word of its own. */
const elided = /(?<![\p{L}\p{N}])([ld])'(?=\p{L})/gu

/** A text in English words, or the same one. */
function inEnglish(text: string): string {
  if (/[\u3040-\u30ff]/u.test(text)) return japaneseInEnglish(text)
  let whole = text
    .replace(elided, "$1e ")
    .replace(/(?<![\p{L}\p{N}])n'(?=\p{L})/gu, "ne ")
    .replace(/(?<![\p{L}\p{N}])ne (\p{L}+(?: [\p{L}'-]+){0,4}?) qu(?:e |')/gu, "$1 seulement ")
  const asTyped = whole
  for (const [pattern, english] of separablePatterns())
    whole = whole.replace(pattern, (_, please: string, middle: string) => {
      // What is given out is money where a sum is named.
      const verb = english === "print" && /\d/.test(middle) ? "spend" : english
      return `${please}${verb} ${middle}`
    })
  let read = translated(whole, foreignWords())
  if (read === asTyped) return text
  // "No" is "in the" in Portuguese, behind other words.
  if (portuguese.test(read)) read = read.replace(/(?<=\p{L} )no(?= \p{L})/gu, "in the")
  return negationFirst(translated(read, smallWords()).replace(/\s+/g, " "))
}

const portuguese = lazyPattern(`${before}(?:você|não|uma|um|em|pelo|pela|ao|do|da|é|com|mande|enviar?)${behind}`, "u")

/** "Benutze nie …", "n'utilise jamais …" and "no uses nunca …" put the word that forbids behind the verb, or twice. */
const negationFirst = (text: string): string =>
  text
    .replace(/^((?:please )?)(?:don't|no|not) (?:you )?(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(/^((?:please )?)(?!never|don't|no |not )(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(grammar("noBeforeVerb"), "$1don't ")

/**
 * The many ways to forbid, to ask for a question and to confine, each as the one that the families are read in: "I forbid you to run",
 * "refrain from running" and "running … is not permitted" are all "never run". Nothing but the way of saying changes.
 */
function oneWayOfSaying(text: string): string {
  const read = plainly(text, "forbid", "leave", "ask", "confine")
  return read === text ? text : read.replace(/\s+/g, " ").trim()
}

const { nouns, verbs, joints } = glossary.japanese

/** A word that is in none of the lists: what it changes in the rule cannot be told. */
const unknown = /[\u30a0-\u30ff\u4e00-\u9fff]/u

const beforehand = /(?:する)?(?:前に|前には)/u

/**
 * A Japanese sentence in English words, the verb before what it is done to. Only words that rules turn on are known; with a condition, a
 * permission or a question it stays as it is, and no policy is made of it.
 */
function japaneseInEnglish(text: string): string {
  if (grammar("hedged").test(text)) return text
  const negated = grammar("japaneseBan").test(text)
  const [first = "", ...rest] = text.split(beforehand)
  if (rest.length > 0) {
    const asked = rest.join(" ")
    const act = verbFirst(first)
    return asksMe.test(asked) && !unknown.test(act) ? `ask me before ${act}` : text
  }
  const read = verbFirst(text.replace(grammar("japaneseBan"), ""))
  if (unknown.test(read)) return text
  return negated ? `never ${read.replace(/^never /, "")}` : `always ${read.replace(/^always /, "")}`
}

const asksMe = lazyPattern(anyOf(verbs["ask me"]), "u")

/** The words of a sentence without its particles, the last verb of it at its head. */
function verbFirst(text: string): string {
  let read = text.replace(/(\d[\d,.]*)\s?円/gu, " $1 yen ").replace(/(\d[\d,.]*)\s?ドル/gu, " $1 dollars ")
  for (const [english, forms] of entriesOf(nouns)) read = read.replace(new RegExp(anyOf(forms), "gu"), ` ${english} `)
  for (const [english, forms] of entriesOf(verbs)) read = read.replace(new RegExp(anyOf(forms), "gu"), ` ‹${english}› `)
  for (const [english, forms] of entriesOf(joints)) read = read.replace(new RegExp(anyOf(forms), "gu"), ` ${english} `)
  const words = read.replace(/[\u3040-\u309fー。、！？・（）]+|下さい/gu, " ")
  const last = [...words.matchAll(/‹([^›]+)›/gu)].at(-1)?.[1]
  const others = words.replace(/‹([^›]+)›/gu, (_, verb: string) => (verb === last ? " " : verb))
  return `${last ?? ""} ${others}`.replace(/\s+/g, " ").trim()
}
