import { languageOf, phraseAt } from "./survival-lexicon.ts"
import { currencyOf, numberAt } from "./survival-numbers.ts"
import type { Operator } from "./survival-operators.ts"
import { type Language, stem } from "./survival-stem.ts"
import type { Unit } from "./survival-units.ts"

/** What a stretch of a text says at one place: an idea, an exact value, what it does to the rule, or a mark between clauses. */
export type Term = {
  /** The idea or value, by a name that every way to say it shares. */
  readonly concept?: string
  /** What sort of value it is, if it is one: another of the same sort in its place is another rule. */
  readonly sort?: string
  readonly action: boolean
  /** A word that no table has. */
  readonly unknown?: true
  readonly operators: ReadonlySet<Operator>
  readonly mark?: "comma" | "colon" | "quote" | "strike"
  readonly surface: string
  /** Its first unit, and the one behind its last. */
  readonly from: number
  readonly to: number
}

const none: ReadonlySet<Operator> = new Set()

/** What sort of exact value a text is. */
function sortOf(text: string): string {
  if (text.includes("://")) return "url"
  if (/^[^@]+@/.test(text)) return "email"
  if (/[/\\]/.test(text)) return "path"
  if (/^[#@]/.test(text)) return "handle"
  if (/^\d{1,2}:\d{2}$/.test(text)) return "time"
  if (/^\d+[-.]\d+[-.]\d+$/.test(text)) return "date"
  return /\.[a-z]{2,}$/.test(text) ? "domain" : "id"
}

const textOf = (units: readonly Unit[], at: number): string => units[at]?.text ?? ""
const isWord = (unit: Unit | undefined): boolean => unit?.kind === "word" || unit?.kind === "sign"

const isArticle = (word: string): boolean => word === "a" || word === "an"

/** A number in figures or words, with its currency before or behind it, as one term. */
function quantityAt(units: readonly Unit[], words: readonly string[], at: number): Term | undefined {
  const sign = units[at]?.kind === "money" ? currencyOf(textOf(units, at)) : undefined
  const from = sign === undefined ? at : at + 1
  const article = isArticle(textOf(units, from)) && /^(?:hundred|thousand)$/.test(textOf(units, from + 1)) ? 1 : 0
  const unit = units[from]
  const read = unit?.kind === "number" ? { value: unit.text, words: 1 } : numberAt(words, from + article)
  if (read === undefined) return undefined
  let to = from + article + read.words
  let value = String(read.value)
  const scale = /^(?:k|thousand|mil|千|万)$/.test(textOf(units, to)) && unit?.kind === "number" ? textOf(units, to) : ""
  if (scale !== "") {
    value = String(Number(value) * (scale === "万" ? 10_000 : 1000))
    to++
  }
  const chinese =
    textOf(units, to) === "美" && textOf(units, to + 1) === "元"
      ? "usd"
      : textOf(units, to) === "欧" && textOf(units, to + 1) === "元"
        ? "eur"
        : undefined
  const behind = chinese ?? currencyOf(textOf(units, to))
  if (behind !== undefined) to += chinese === undefined ? 1 : 2
  const currency = sign ?? behind ?? ""
  const concept = currency === "" ? value : currency === "%" ? `${value}%` : `${value} ${currency}`
  return { concept, sort: "number", action: false, operators: none, surface: concept, from: at, to }
}

/** Endings by which an English word is taken for a verb. */
const verbal = /.{3}(?:ed|ing|ate|ates|ize|izes|ise|ify)$/

/** And a Spanish one. */
const infinitive = /.{3}[aei]r(?:se|l[aeo]s?)?$/

const marks: Readonly<Record<string, Term["mark"]>> = {
  comma: "comma",
  colon: "colon",
  quote: "quote",
  strike: "strike",
}

/** The language that some units are in, or the one given if they do not tell. */
export const languageIn = (units: readonly Unit[], otherwise: Language): Language =>
  languageOf(
    units.filter(isWord).map(({ text }) => text),
    otherwise,
  )

/** The terms of some units in their language. */
export function termsOf(units: readonly Unit[], language: Language): readonly Term[] {
  const words = units.map((unit) => (isWord(unit) ? unit.text : ""))
  const stemmed = words.map((word) => (word === "" ? "" : stem(word, language)))
  const terms: Term[] = []
  for (let at = 0; at < units.length; ) {
    const term = termAt(units, words, stemmed, at, language)
    terms.push(term)
    at = term.to
  }
  return terms
}

function termAt(
  units: readonly Unit[],
  words: readonly string[],
  stemmed: readonly string[],
  at: number,
  language: Language,
): Term {
  const unit = units[at]
  const surface = unit?.text ?? ""
  const bare = { action: false, operators: none, surface, from: at, to: at + 1 }
  if (unit === undefined) return bare
  if (unit.kind === "value") return { ...bare, concept: surface, sort: sortOf(surface) }
  if (unit.kind === "number" || unit.kind === "money") return quantityAt(units, words, at) ?? bare
  if (!isWord(unit)) {
    const mark = marks[unit.kind]
    return mark === undefined ? bare : { ...bare, mark }
  }
  const phrase = phraseAt(words, stemmed, at, language)
  const quantity = phrase === undefined || phrase[1] === 1 ? quantityAt(units, words, at) : undefined
  if (quantity !== undefined) return quantity
  if (phrase !== undefined) {
    const [{ operators, concept, action }, length] = phrase
    const said = { ...bare, operators, action, surface: words.slice(at, at + length).join(" "), to: at + length }
    return concept === undefined ? said : { ...said, concept }
  }
  return {
    ...bare,
    unknown: true,
    action: language === "en" ? verbal.test(surface) : language === "es" && infinitive.test(surface),
    concept: unit.kind === "sign" ? surface : (stemmed[at] ?? surface),
  }
}
