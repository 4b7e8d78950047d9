import { weight } from "./survival-compare.ts"
import { includes } from "./survival-concepts.ts"
import type { Meaning } from "./survival-meaning.ts"
import type { Operator } from "./survival-operators.ts"
import type { Reading, Sentence } from "./survival-reading.ts"
import type { Unit } from "./survival-units.ts"
import { said } from "./survival-verbatim.ts"

/** A text read for any number of rules, with what is needed to pass over the sentences that have nothing to do with one. */
export type IndexedText = Reading & {
  /** Every word of the text, as quotations compare them. */
  readonly words: ReadonlySet<string>
  /** The sentences that name an idea or a value, by its name. */
  readonly naming: ReadonlyMap<string, readonly number[]>
  /** The sentences that say it, in so many words or with others, themselves or through what stands over them. */
  readonly saying: ReadonlyMap<string, readonly number[]>
  /** Sentences that might take back a rule that they share something with. */
  readonly loosening: ReadonlySet<number>
  /** Sentences that might take back any rule. */
  readonly sweeping: readonly number[]
}

const has = ({ terms }: Sentence, name: Operator): boolean => terms.some(({ operators }) => operators.has(name))

const loosens = (sentence: Sentence): boolean =>
  has(sentence, "lapse") ||
  has(sentence, "waive") ||
  has(sentence, "permit") ||
  has(sentence, "amend") ||
  has(sentence, "rule")

const sweeps = (sentence: Sentence): boolean => has(sentence, "lapse") && has(sentence, "rule")

const note = (index: Map<string, number[]>, concept: string, at: number): void => {
  const places = index.get(concept)
  if (places === undefined) index.set(concept, [at])
  else if (places.at(-1) !== at) places.push(at)
}

export function indexText(reading: Reading): IndexedText {
  const { sentences } = reading
  const naming = new Map<string, number[]>()
  const saying = new Map<string, number[]>()
  for (const [at, { terms, under }] of sentences.entries()) {
    for (const { concept } of terms) if (concept !== undefined) note(naming, concept, at)
    for (const place of [at, ...under]) {
      for (const { concept } of sentences[place]?.terms ?? []) {
        if (concept === undefined) continue
        note(saying, concept, at)
        if (Object.hasOwn(includes, concept)) for (const other of includes[concept] ?? []) note(saying, other, at)
      }
    }
  }
  const words = new Set(reading.units.map(said))
  const placesOf = (test: (sentence: Sentence) => boolean): readonly number[] =>
    sentences.flatMap((sentence, at) => (test(sentence) ? [at] : []))
  return { ...reading, words, naming, saying, loosening: new Set(placesOf(loosens)), sweeping: placesOf(sweeps) }
}

/** Could these words stand in the text? */
export const mayQuote = ({ words }: IndexedText, rule: readonly Unit[]): boolean =>
  rule.every((unit) => !isWord(unit) || words.has(said(unit)))

const isWord = ({ kind }: Unit): boolean => kind === "word" || kind === "sign" || kind === "value" || kind === "number"

/** The sentences that name something of the rule. */
function naming(text: IndexedText, rule: Meaning): ReadonlySet<number> {
  const places = new Set<number>()
  for (const concept of rule.says) for (const at of text.naming.get(concept) ?? []) places.add(at)
  return places
}

const inOrder = (places: Iterable<number>): readonly number[] => [...places].sort((one, other) => one - other)

/** A statement with less than this share of the rule's subjects counts for nothing, and a little below it nothing is lost to rounding; see `compare`. */
const minShare = 0.29

/** Of the sentences that name something of the rule, those that share so much with it that they may count as a statement of it. */
export function sharing(text: IndexedText, rule: Meaning): readonly number[] {
  const shared = new Map<number, { all: number; ideas: number }>()
  let [all, ideas] = [0, 0]
  for (const subject of rule.subjects) {
    const worth = weight(subject)
    const idea = subject.sort === undefined ? worth : 0
    all += worth
    ideas += idea
    for (const at of text.saying.get(subject.concept) ?? []) {
      const sum = shared.get(at)
      if (sum === undefined) shared.set(at, { all: worth, ideas: idea })
      else [sum.all, sum.ideas] = [sum.all + worth, sum.ideas + idea]
    }
  }
  const places = [...naming(text, rule)].filter((at) => {
    const sum = shared.get(at) ?? { all: 0, ideas: 0 }
    return ideas === 0 || sum.all >= all * minShare || sum.ideas >= ideas * minShare
  })
  return inOrder(places)
}

/** The sentences that may take the rule back. */
export const loosening = (text: IndexedText, rule: Meaning): readonly number[] =>
  inOrder(new Set([...text.sweeping, ...[...naming(text, rule)].filter((at) => text.loosening.has(at))]))
