import { actions, things } from "./survival-concepts.ts"
import { type Operator, operators } from "./survival-operators.ts"
import { operatorsAbroad } from "./survival-operators-abroad.ts"
import { type Language, stem } from "./survival-stem.ts"

/** What a word or phrase means to survival: what it does to a rule, what it is about, or both. */
export type Sense = {
  readonly operators: ReadonlySet<Operator>
  readonly concept?: string
  readonly action: boolean
}

const isIdeographic = (word: string): boolean => word.charCodeAt(0) >= 0x2e80

const keyOf = (phrase: string): string =>
  isIdeographic(phrase) ? [...phrase.replace(/_/g, "")].join(" ") : phrase.replace(/_/g, " ")

const operatorNames = new Set<string>(Object.keys(operators))
const isOperator = (name: string): name is Operator => operatorNames.has(name)

const exact: ReadonlyMap<string, Sense> = (() => {
  const senses = new Map<string, { operators: Set<Operator>; concept?: string; action: boolean }>()
  const senseOf = (phrase: string) => {
    const key = keyOf(phrase)
    const found = senses.get(key) ?? { operators: new Set<Operator>(), action: false }
    senses.set(key, found)
    return found
  }
  for (const [name, listed] of [...Object.entries(operators), ...Object.entries(operatorsAbroad)]) {
    if (isOperator(name)) for (const phrase of listed.split(" ")) senseOf(phrase).operators.add(name)
  }
  for (const [rows, action] of [[actions, true] as const, [things, false] as const]) {
    for (const [name, ...lists] of rows) {
      for (const phrase of lists.flatMap((list) => list.split(" "))) {
        const sense = senseOf(phrase)
        sense.concept ??= name
        sense.action ||= action
      }
    }
  }
  return senses
})()

/** Stems of the words that stand for an idea, by language; operators are told by their very form. */
const stems: Readonly<Record<Language, ReadonlyMap<string, Sense>>> = (() => {
  const tables = { en: new Map<string, Sense>(), es: new Map<string, Sense>(), zh: new Map<string, Sense>() }
  for (const [rows, action] of [[actions, true] as const, [things, false] as const]) {
    for (const [name, english, spanish] of rows) {
      const note = (table: Map<string, Sense>, list: string, language: Language): void => {
        for (const phrase of list.split(" ")) {
          const key = phrase
            .split("_")
            .map((word) => stem(word, language))
            .join(" ")
          if (!table.has(key)) table.set(key, { operators: new Set(), concept: name, action })
        }
      }
      note(tables.en, english, "en")
      note(tables.es, spanish, "es")
    }
  }
  return tables
})()

/** Phrases by their words, one after another. */
type Branch = { readonly next: Map<string, Branch>; sense?: Sense }

function treeOf(phrases: ReadonlyMap<string, Sense>): Branch {
  const root: Branch = { next: new Map() }
  for (const [key, sense] of phrases) {
    let branch = root
    for (const word of key.split(" ")) {
      const next = branch.next.get(word) ?? { next: new Map() }
      branch.next.set(word, next)
      branch = next
    }
    branch.sense = sense
  }
  return root
}

const exactTree = treeOf(exact)
const stemTrees: Readonly<Record<Language, Branch>> = {
  en: treeOf(stems.en),
  es: treeOf(stems.es),
  zh: treeOf(stems.en),
}

function longest(tree: Branch, words: readonly string[], at: number): readonly [Sense, number] | undefined {
  let found: readonly [Sense, number] | undefined
  let branch: Branch | undefined = tree
  for (let length = 1; branch !== undefined && at + length <= words.length; length++) {
    branch = branch.next.get(words[at + length - 1] ?? "")
    if (branch?.sense !== undefined) found = [branch.sense, length]
  }
  return found
}

/** The longest phrase that means something from a word on, and its length: by its very words, or else by their stems. */
export function phraseAt(
  words: readonly string[],
  stemmed: readonly string[],
  at: number,
  language: Language,
): readonly [Sense, number] | undefined {
  const exactly = longest(exactTree, words, at)
  const loosely = longest(stemTrees[language], stemmed, at)
  return loosely !== undefined && loosely[1] > (exactly?.[1] ?? 0) ? loosely : exactly
}

const marksOf: Readonly<Record<"en" | "es", ReadonlySet<string>>> = {
  en: new Set(
    "the a an of to be is are and or not never must may for with without any by on in before after only must no do at than more per use".split(
      " ",
    ),
  ),
  es: new Set(
    "el la los las un una de del al que se no nunca sin con para por y o en es son su antes solo debe deben".split(" "),
  ),
}

/** The language of some words, or the one that is given if they do not tell. */
export function languageOf(words: readonly string[], otherwise: Language): Language {
  let ideographs = 0
  const counts = { en: 0, es: 0 }
  for (const word of words) {
    if (isIdeographic(word)) ideographs++
    if (marksOf.en.has(word)) counts.en++
    if (marksOf.es.has(word)) counts.es++
  }
  if (ideographs * 3 > words.length) return "zh"
  if (counts.en === counts.es) return otherwise === "zh" ? "en" : otherwise
  return counts.en > counts.es ? "en" : "es"
}
