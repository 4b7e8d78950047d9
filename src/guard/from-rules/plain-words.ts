import { lazy, lazyPattern } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { entriesOf } from "../../message/present.ts"
import glossary from "./glossary.json" with { type: "json" }
import { grammar, plainly } from "./grammar.ts"

/**
 * Normalizes the words of a rule: lower case, no quotation marks, chat abbreviations spelled out, words of other languages that rules
 * depend on in English, and one wording each for forbidding, asking and restricting.
 */
export function inPlainWords(text: string): string {
  const plain = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘´]/g, "'")
    .replace(/["“”„«»`「」『』]|\*{2,}|(?<=^|\s)\*(?=\p{L})|(?<=\p{L})\*(?=\s|$)/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
  return unifyWordings(inEnglish(spelledOut(plain).replace(grammar("namedFolder", "gu"), "$1/")))
}

/** Abbreviations of typed chat, with their full forms. */
const typed: ReadonlyMap<string, string> = new Map(Object.entries(glossary.typed))

/** Around a whole word that is not part of an address, a path or an option. */
const [before, behind] = ["(?<![\\p{L}\\p{N}@./_*#'-])", "(?![\\p{L}\\p{N}@/_*-]|\\.[\\p{L}\\p{N}]|'\\p{L})"]

const typedWord = lazy(
  () =>
    new RegExp(
      `${before}(?:${[...typed.keys()].sort((one, other) => other.length - one.length).join("|")})(?=[\\s,.;:!?)]|$)`,
      "gu",
    ),
)

const spelledOut = (text: string): string => text.replace(typedWord(), (word) => typed.get(word) ?? word)

/** English words, each with a pattern of its forms in other languages. */
type Forms = Readonly<Record<string, string | readonly string[]>>

/** Builds one pattern from tables; its groups are in the order of the English words. */
function tableOf(...tables: readonly Forms[]): { readonly pattern: RegExp; readonly english: readonly string[] } {
  const all = tables.flatMap((table) => Object.entries(table))
  const groups = all.map(([, forms]) => `(${anyOf(forms).replace(/\((?!\?)/g, "(?:")})`)
  return {
    pattern: new RegExp(`${before}(?:${groups.join("|")})(?<!\\s)${behind}`, "gu"),
    english: all.map(([english]) => english),
  }
}

/** Phrases come before single words. None of these forms is an English word. */
const foreignWords = lazy(() => tableOf(glossary.phrases, glossary.words))

/** Short words, some of which are English words too: translated only if something else in the text was foreign. */
const smallWords = lazy(() => tableOf(glossary.small))

/** Replaces each word of a table by its English word. */
const translated = (text: string, { pattern, english }: ReturnType<typeof tableOf>): string =>
  text.replace(pattern, (word: string, ...groups: readonly unknown[]) => english[groups.indexOf(word)] ?? word)

/** German separable verbs: the two parts stand at the start and at the end of the clause. */
const separablePatterns = lazy(() =>
  glossary.separable.map(({ first, last, english }): readonly [RegExp, string] => [
    new RegExp(`^((?:bitte )?)(?:${first}) ([^,;:]{1,160}?) (?:${last})(?=[.!]*$|,)`, "u"),
    english,
  ]),
)

/** A French elision, "d'effacer" or "l'outil": what follows is a word of its own. */
const elided = /(?<![\p{L}\p{N}])([ld])'(?=\p{L})/gu

/** Translates the known foreign words of a text; returns the same text if there are none. */
function inEnglish(text: string): string {
  if (/[\u3040-\u30ff]/u.test(text)) return japaneseInEnglish(text)
  let whole = text
    .replace(elided, "$1e ")
    .replace(/(?<![\p{L}\p{N}])n'(?=\p{L})/gu, "ne ")
    .replace(/(?<![\p{L}\p{N}])ne (\p{L}+(?: [\p{L}'-]+){0,4}?) qu(?:e |')/gu, "$1 seulement ")
  const asTyped = whole
  for (const [pattern, english] of separablePatterns())
    whole = whole.replace(pattern, (_, please: string, middle: string) => {
      // German "ausgeben" means both to print and to spend; with a number it means to spend.
      const verb = english === "print" && /\d/.test(middle) ? "spend" : english
      return `${please}${verb} ${middle}`
    })
  let read = translated(whole, foreignWords())
  if (read === asTyped) return text
  // Portuguese "no" after another word means "in the".
  if (portuguese.test(read)) read = read.replace(/(?<=\p{L} )no(?= \p{L})/gu, "in the")
  return negationFirst(translated(read, smallWords()).replace(/\s+/g, " "))
}

const portuguese = lazyPattern(`${before}(?:você|não|uma|um|em|pelo|pela|ao|do|da|é|com|mande|enviar?)${behind}`, "u")

/** Moves the negation before the verb, and drops a double one: "Benutze nie …", "n'utilise jamais …", "no uses nunca …". */
const negationFirst = (text: string): string =>
  text
    .replace(/^((?:please )?)(?:don't|no|not) (?:you )?(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(/^((?:please )?)(?!never|don't|no |not )(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(grammar("noBeforeVerb"), "$1don't ")

/**
 * Reduces the many wordings for forbidding, asking and restricting to those the families read: "I forbid you to run", "refrain from
 * running" and "running … is not permitted" all become "never run".
 */
function unifyWordings(text: string): string {
  const read = plainly(text, "forbid", "leave", "ask", "confine")
  return read === text ? text : read.replace(/\s+/g, " ").trim()
}

const { nouns, verbs, joints } = glossary.japanese

/** Matches a word in none of the lists, whose effect on the rule is unknown. */
const unknown = /[\u30a0-\u30ff\u4e00-\u9fff]/u

const beforehand = /(?:する)?(?:前に|前には)/u

/**
 * Translates a Japanese sentence, with the verb before its object. Only words that rules depend on are known; a sentence with an unknown
 * word, a condition, a permission or a question is returned as it is, and no policy is made of it.
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

/** Drops the particles of a Japanese sentence and moves its last verb to the front. */
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
