import { normalize } from "../../language/normalize.ts"
import { wordSet } from "../../language/word-forms.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { affirms, unframed } from "./claim.ts"
import words from "./gate-words.json" with { type: "json" }

/** Number of letters at which a word is cut, so that its forms match. */
const stemLength = 5

/** Minimum length in characters: shorter words say too little. */
const minLength = 3

/** Stop words of the most common languages; beyond these, how often a word occurs decides. */
const empty = wordSet(...words.empty)

/** Matches scripts written without blanks, and Korean, whose words contain their endings. */
const unspaced = /[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af]/

/** A normalized word or number of a text, which two phrasings of the same thing share, and its offset in the normalized text. */
type Term = { readonly term: string; readonly at: number }

/** Yields the terms of a normalized text in one pass: stems of words, numbers, and pairs of characters in scripts without blanks. */
function* termsOf(seen: string): Generator<Term> {
  for (const { 0: found, index } of seen.matchAll(/\d{1,3}(?:,\d{3})+(?![\p{L}\p{N}])|[\p{L}\p{N}]+/gu)) {
    const word = found.includes(",") ? found.replaceAll(",", "") : found
    if (unspaced.test(word)) {
      for (let at = 0; at + 2 <= word.length; at++) yield { term: word.slice(at, at + 2), at: index + at }
    } else if (word.length >= minLength ? !empty.has(word) : /^\d\d$/.test(word)) {
      yield { term: /\d/.test(word) ? word.slice(0, 24) : word.slice(0, stemLength), at: index }
    }
  }
}

/** A text that a summary line may be based on, with its channel. */
export type SummarySource = { readonly id: string; readonly text: string; readonly channel: Channel }

/** The authority that can stand behind a line: a channel that may instruct, the assistant, or data. */
export type LineAuthority = "authority" | "assistant" | "data"

/** How much of a line's wording sources of one authority have in one place, from 0 to 1, and the normalized text of that place. */
type Support = {
  readonly share: number
  readonly source?: SummarySource
  readonly said: string
  /** Index of the window among all windows, which are in chronological order. */
  readonly at: number
}

export type Attribution = {
  /** Share of the line's terms that occur in any source. */
  readonly known: number
  readonly terms: number
  /** Number of terms that occur only in data, nowhere in the words of the assistant or of a channel that may instruct. */
  readonly foreign: number
  readonly support: Readonly<Record<LineAuthority, Support>>
  readonly restsOn: LineAuthority | "nothing"
}

/** Terms in one window. Two neighbouring windows are about a paragraph, so a line that combines their terms is found. */
const windowTerms = 32
/** Maximum number of terms per line: as many as there are usable bits in an integer. */
const maxTerms = 31
/** A term that occurs in more windows than this does not identify a place. */
const maxPlaces = 4096
/** Maximum length in characters of a question that is added to a short answer. */
const maxQuestion = 1500

/** Minimum share of a line in one place to attribute the line to it: about half of a line is the summarizer's own phrasing. */
const minShare = 0.5
/** Minimum share to attribute a line to data; with less it has no source. */
const minData = 0.25
/**
 * A line with at least this many terms that occurs verbatim in an instructing channel is attributed to it, even if tool output repeats it.
 */
const minVerbatimTerms = 4
/** If more terms than this occur only in data, the line goes beyond what an authority said. */
const maxForeign = 2
const maxForeignShare = 0.3

export const authorityOf = (channel: Channel): LineAuthority =>
  instructs(channel) ? "authority" : channel === "assistant" ? "assistant" : "data"

const none: Support = { share: 0, said: "", at: Number.POSITIVE_INFINITY }

type Window = {
  readonly source: SummarySource
  readonly ground: LineAuthority
  readonly text: string
  readonly start: number
}

type Index = { readonly windows: readonly Window[]; readonly places: ReadonlyMap<string, readonly number[]> }

/** Returns an answer with the question before it if the answer is a "yes", because it then says what the question asks. */
const withQuestion = (answer: string, question: string): string =>
  question !== "" && affirms(answer) ? `${question.slice(-maxQuestion)}\n${answer}` : answer

/** Indexes the wanted terms by window, over all sources. One pass over each text. */
function indexOf(sources: readonly SummarySource[], wanted: ReadonlySet<string>): Index {
  const windows: Window[] = []
  const places = new Map<string, number[]>()
  let question = ""
  for (const source of sources) {
    const ground = authorityOf(source.channel)
    const text = normalize(ground === "authority" ? withQuestion(source.text, question) : source.text).text
    if (ground !== "data") question = ground === "assistant" ? source.text : ""
    let room = 0
    for (const { term, at } of termsOf(text)) {
      if (room === 0) {
        windows.push({ source, ground, text, start: at })
        room = windowTerms
      }
      room--
      if (!wanted.has(term)) continue
      const found = places.get(term)
      if (found === undefined) places.set(term, [windows.length - 1])
      else if (found.length <= maxPlaces && found.at(-1) !== windows.length - 1) found.push(windows.length - 1)
    }
  }
  return { windows, places }
}

function bitsIn(mask: number): number {
  let count = 0
  for (let left = mask; left !== 0; left &= left - 1) count++
  return count
}

/** For each window with any of the line's terms, a bit mask of them; a term's bit is its index in the line. */
function masksOf(terms: readonly string[], { places }: Index): ReadonlyMap<number, number> {
  const masks = new Map<number, number>()
  terms.forEach((term, bit) => {
    const found = places.get(term) ?? []
    if (found.length > maxPlaces) return
    for (const window of found) masks.set(window, (masks.get(window) ?? 0) | (1 << bit))
  })
  return masks
}

function supportOf(terms: readonly string[], index: Index): Readonly<Record<LineAuthority, Support>> {
  const masks = masksOf(terms, index)
  const identifying = terms.filter((term) => (index.places.get(term)?.length ?? 1) <= maxPlaces).length
  const best: Record<LineAuthority, Support> = { authority: none, assistant: none, data: none }
  for (const [at, mask] of masks) {
    const window = index.windows[at]
    if (window === undefined) continue
    const next = index.windows[at + 1]
    const same = next?.source === window.source
    const share = bitsIn(same ? mask | (masks.get(at + 1) ?? 0) : mask) / identifying
    const before = best[window.ground]
    if (share < before.share || (share === before.share && at >= before.at)) continue
    const after = index.windows[at + 2]
    const end = after?.source === window.source ? after.start : window.text.length
    best[window.ground] = { share, source: window.source, said: window.text.slice(window.start, end), at }
  }
  return best
}

type Supports = Readonly<Record<LineAuthority, Support>>

/**
 * Returns the authority that a line rests on. The user or the assistant only if one place of their words has half of it and no data has
 * more of it, or as much and earlier: the later one repeats the earlier.
 */
function restsOn({ authority, assistant, data }: Supports, terms: number, foreign: number): Attribution["restsOn"] {
  const borrowed = foreign > maxForeign || (foreign > 1 && foreign > maxForeignShare * terms)
  const isTheirs = ({ share, at }: Support): boolean =>
    share >= minShare && !borrowed && (share > data.share || (share === data.share && at < data.at))
  if (isTheirs(authority) || isVerbatim(authority.share, terms)) return "authority"
  if (isTheirs(assistant)) return "assistant"
  return data.share >= minData || borrowed ? "data" : "nothing"
}

const isVerbatim = (share: number, terms: number): boolean => share === 1 && terms >= minVerbatimTerms

/** True if a term occurs in data only. */
function isForeign(term: string, { windows, places }: Index): boolean {
  const found = places.get(term) ?? []
  return found.length > 0 && found.every((at) => windows[at]?.ground === "data")
}

/** Matches what may precede the first word of a summary line: a bullet and a label such as [Next]. */
const label = /^\s*(?:[-*•]\s*)?(?:\[[^\]\n]{0,40}\])?/

/** Returns the distinct terms of a line. Terms with a digit count twice, because an id or amount identifies more than a word. */
function distinctTerms(text: string): readonly string[] {
  const terms = new Set<string>()
  for (const { term } of termsOf(unframed(normalize(text.replace(label, "")).text))) {
    if (terms.size === maxTerms) break
    terms.add(term)
  }
  return [...terms, ...[...terms].filter((term) => /\d/.test(term))].slice(0, maxTerms)
}

/**
 * Returns a function that finds the sources that a text really rests on, by its wording and whatever it claims. The sources are read once;
 * each text costs as much as its terms occur. What data covers as well as an authority is attributed to the data.
 */
export function createAttribution(
  sources: readonly SummarySource[],
  texts: readonly string[],
): (text: string) => Attribution {
  const index = indexOf(sources, new Set(texts.flatMap(distinctTerms)))
  return (text) => {
    const terms = distinctTerms(text)
    const support = supportOf(terms, index)
    const known = terms.filter((term) => index.places.has(term)).length
    const foreign = [...new Set(terms)].filter((term) => isForeign(term, index)).length
    return {
      known: terms.length === 0 ? 0 : known / terms.length,
      terms: terms.length,
      foreign,
      support,
      restsOn: restsOn(support, terms.length, foreign),
    }
  }
}

/** Finds the sources that a line really rests on. */
export const attribute = (line: string, sources: readonly SummarySource[]): Attribution =>
  createAttribution(sources, [line])(line)
