import { foldCharacter, originalSpan, rewrite, type View, viewOf } from "../language/normalize.ts"
import type { Span } from "../message/message.ts"
import { type Meaning, meaningOf } from "./survival-meaning.ts"
import type { Language } from "./survival-stem.ts"
import { languageIn, type Term, termsOf } from "./survival-terms.ts"
import { type Unit, unitsOf } from "./survival-units.ts"

/** A stretch of a sentence that may state a rule by itself, and what it says. */
type Clause = { readonly from: number; readonly to: number; readonly meaning: Meaning }

/** Clauses tried of one sentence; a sentence with more is judged as a whole. */
const maxClauses = 24

const governs = ({ operators }: Term): boolean =>
  operators.has("not") ||
  operators.has("concord") ||
  operators.has("require") ||
  operators.has("permit") ||
  operators.has("forbid")

/** Where one clause ends and the next begins: at a mark, and at "and" or "but" before a word that rules. */
function cutsOf(terms: readonly Term[], strong: boolean): readonly number[] {
  return terms.flatMap((term, at) => {
    if (term.mark === "colon" || /^[;()—[\]-]$/.test(term.surface)) return [at]
    if (strong) return []
    if (term.mark === "comma") return [at]
    const joins = /^(?:and|but|y|pero|并|但)$/.test(term.surface)
    const next = terms.slice(at + 1, at + 4)
    return joins && next.some(governs) ? [at] : []
  })
}

type Range = { readonly from: number; readonly to: number }

function rangesOf(terms: readonly Term[], strong: boolean): readonly Range[] {
  const cuts = cutsOf(terms, strong)
  if (cuts.length === 0 || cuts.length > maxClauses) return []
  return [-1, ...cuts].map((cut, at) => ({ from: cut + 1, to: cuts[at] ?? terms.length }))
}

/** The clauses of a sentence, cut at strong marks and at all marks; none where it is all one. */
const clausesOf = (terms: readonly Term[], language: Language): readonly Clause[] =>
  [...rangesOf(terms, true), ...rangesOf(terms, false)]
    .filter(({ from, to }) => to > from)
    .map(({ from, to }) => ({ from, to, meaning: meaningOf(terms.slice(from, to), language) }))

/** A sentence of a text by its units, and what stands over it. */
type Passage = {
  readonly from: number
  readonly to: number
  readonly asks: boolean
  /** The heading and the line with a colon that it stands under, as places among the passages. */
  readonly under: readonly number[]
  /** It is itself such a heading or line. */
  readonly leads: boolean
  /** It starts a paragraph or an item of a list, so that what stood before need not be its own. */
  readonly fresh: boolean
}

const isMark = (unit: Unit | undefined): boolean => unit?.kind === "quote" || unit?.kind === "strike"

/** The sentences of a text. A heading stands over what follows until the next; a line with a colon over its list. */
function passagesOf(units: readonly Unit[]): readonly Passage[] {
  const passages: Passage[] = []
  let from = 0
  let heading: number | undefined
  let lead: number | undefined
  let opener: Unit | undefined
  let broken = false
  let starting = true
  const close = (to: number, asks: boolean): void => {
    if (
      units
        .slice(from, to)
        .some(({ kind }) => kind === "word" || kind === "sign" || kind === "value" || kind === "number")
    ) {
      const isHeading = opener?.text.startsWith("#") === true
      const bulleted = opener !== undefined && opener.text !== "\n"
      if (broken && !bulleted) lead = undefined
      if (isHeading) [heading, lead] = [undefined, undefined]
      const leads =
        isHeading || (units[to - 1]?.kind === "colon" && /item|break|undefined/.test(String(units[to]?.kind)))
      const under = [heading, lead].filter((place) => place !== undefined)
      passages.push({ from, to, asks, under, leads, fresh: broken || (bulleted && starting) })
      if (isHeading) heading = passages.length - 1
      else if (leads) lead = passages.length - 1
      broken = false
      starting = false
    }
  }
  for (let at = 0; at < units.length; at++) {
    const kind = units[at]?.kind
    if (kind !== "end" && kind !== "question" && kind !== "break" && kind !== "item") continue
    let to = at
    if (kind === "end" || kind === "question") while (isMark(units[to + 1])) to++
    close(to > at ? to + 1 : at, kind === "question")
    if (kind === "break") broken = true
    if (kind === "item") starting = true
    opener =
      kind === "item"
        ? units[at]
        : kind === "break"
          ? undefined
          : opener === undefined
            ? undefined
            : { ...opener, text: "\n" }
    from = to + 1
    at = to
  }
  close(units.length, false)
  return passages
}

/** A sentence with its terms, and all that it says taken together. */
export type Sentence = Passage & {
  readonly terms: readonly Term[]
  readonly language: Language
  readonly meaning: Meaning
  readonly clauses: readonly Clause[]
}

/** A text read once for any number of rules. */
export type Reading = {
  readonly view: View
  readonly units: readonly Unit[]
  readonly sentences: readonly Sentence[]
  /** Whether each unit stands between strike-through marks of its paragraph. */
  readonly struck: Uint8Array
  /** The text was longer than is read. */
  readonly cut: boolean
}

/** Characters that are read of one text: a summary has some thousand, and the longest that clients write a hundred thousand. */
export const maxText = 150_000

/** Where strike-through is open; a mark that is never closed in its paragraph strikes nothing out. */
function strikes(units: readonly Unit[]): Uint8Array {
  const struck = new Uint8Array(units.length)
  let opened = -1
  units.forEach(({ kind }, at) => {
    if (kind === "break") opened = -1
    if (kind !== "strike") return
    if (opened >= 0) struck.fill(1, opened, at)
    opened = opened >= 0 ? -1 : at
  })
  return struck
}

/** Reads a text once; its sentences can then be had for words of any language, where they do not tell themselves. */
export function createReader(text: string): (otherwise: Language) => Reading {
  const source = text.slice(0, maxText)
  const view = comparable(source)
  const units = unitsOf(view, source)
  const parts = passagesOf(units).map((passage) => ({ passage, words: units.slice(passage.from, passage.to) }))
  const known = parts.map(() => new Map<Language, Sentence>())
  const struck = strikes(units)
  return (otherwise) => {
    const sentences = parts.map(({ passage, words }, at) => {
      const language = languageIn(words, otherwise)
      const sentence = known[at]?.get(language) ?? sentenceOf(passage, words, language)
      known[at]?.set(language, sentence)
      return sentence
    })
    return { view, units, sentences, struck, cut: text.length > maxText }
  }
}

export const readText = (text: string, otherwise: Language): Reading => createReader(text)(otherwise)

function sentenceOf(passage: Passage, units: readonly Unit[], language: Language): Sentence {
  const terms = termsOf(units, language)
  let known: Meaning | undefined
  let parts: readonly Clause[] | undefined
  return {
    ...passage,
    terms,
    language,
    /** Worked out when first asked for: most sentences have nothing to do with a rule. */
    get meaning(): Meaning {
      known ??= meaningOf(terms, language)
      return known
    },
    get clauses(): readonly Clause[] {
      parts ??= clausesOf(terms, language)
      return parts
    },
  }
}

/** Where some units stand in the text as it was given. */
export function placeOf({ view, units }: Reading, from: number, to: number): Span {
  const start = units[from]?.start ?? 0
  return originalSpan(view, { start, end: units[to - 1]?.end ?? start })
}

/** Hyphens of every kind are one; a dash that parts clauses stays a dash. */
function foldSign(sign: string): string {
  if (/[\u2010\u2011\u2012\u2212\ufe63\uff0d]/.test(sign)) return "-"
  if (/[\u2013\u2014\u2015]/.test(sign)) return "—"
  if (sign === "€" || sign === "£" || sign === "₹" || sign === "。") return sign
  return foldCharacter(sign)
}

/** Folds a character, and remembers: a text repeats its characters. */
function createFold(): (sign: string) => string {
  const folded = new Map<string, string>()
  return (sign) => {
    const known = folded.get(sign)
    if (known !== undefined) return known
    const made = foldSign(sign)
    folded.set(sign, made)
    return made
  }
}

/** A text as survival compares it: no accents, no case, nothing invisible, one kind of quotation mark. Figures and signs stay as they are. */
function comparable(text: string): View {
  const plain = rewrite(viewOf(text), /[^\0-\x7f]/gu, createFold())
  const lowered = plain.text.toLowerCase()
  const same = lowered.length === plain.text.length
  return { ...plain, text: same ? lowered : plain.text.replace(/[A-Z]+/g, (run) => run.toLowerCase()) }
}
