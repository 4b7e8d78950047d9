import { normalize } from "../../language/normalize.ts"
import { wordSet } from "../../language/word-forms.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { affirms, unframed } from "./claim.ts"
import words from "./gate-words.json" with { type: "json" }

/** Letters by which two forms of a word are taken for the same. */
const stemLength = 5

/** Shorter words say too little. */
const minLength = 3

/** Words that stand in any text, of the languages most written; the rest is left to how often a word occurs. */
const empty = wordSet(...words.empty)

/** Scripts written without blanks, and Korean, whose words carry their endings. */
const unspaced = /[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af]/

/** A word or number of a text, as two ways to put the same thing share it, and where it stands in the view. */
type Term = { readonly term: string; readonly at: number }

/** The terms of a normalized text: stems of words, numbers, and pairs of characters where a script has no blanks. One pass. */
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

/** A text that a summary may rest on, and where it came in. */
export type SummarySource = { readonly id: string; readonly text: string; readonly channel: Channel }

/** Who can stand behind a line: someone who may instruct, the assistant itself, or mere data. */
export type LineAuthority = "authority" | "assistant" | "data"

/** How much of a line's wording one kind of source has in one place, 0 to 1, and what is said there, as matching sees it. */
type Support = {
  readonly share: number
  readonly source?: SummarySource
  readonly said: string
  /** Which of all places it is, in the order in which they were said. */
  readonly at: number
}

export type Attribution = {
  /** Share of the line's terms that stand in any source at all. */
  readonly known: number
  readonly terms: number
  /** Terms that data has and that nobody with a say, nor the assistant, used anywhere. */
  readonly foreign: number
  readonly support: Readonly<Record<LineAuthority, Support>>
  readonly restsOn: LineAuthority | "nothing"
}

/** Terms in one window; two neighbours together are about a paragraph, in which a line can find what it puts together. */
const windowTerms = 32
/** Terms looked at of one line: as many as a number has bits. */
const maxTerms = 31
/** A term that stands in more windows than this tells no place from another. */
const maxPlaces = 4096
/** Characters of a question that a short answer takes for its own. */
const maxQuestion = 1500

/** So much of a line must stand in one place before it rests there: half of it is the summarizer's own way to put it. */
const minShare = 0.5
/** And so much before it comes from data; less of it comes from nowhere. */
const minData = 0.25
/** A longer line that the user said verbatim is the user's, though a tool's output repeats it. */
const tellingTerms = 4
/** More terms than this that only data has: someone with a say said the rest, and the data went on. */
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

/** A "yes" says what the question before it asks. */
const withQuestion = (answer: string, question: string): string =>
  question !== "" && affirms(answer) ? `${question.slice(-maxQuestion)}\n${answer}` : answer

/** Where the wanted terms stand, in windows over all sources. One pass over each text. */
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

/** Which of a line's terms stand in each window that has any; the bit of a term is its place in the line. */
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
  const telling = terms.filter((term) => (index.places.get(term)?.length ?? 1) <= maxPlaces).length
  const best: Record<LineAuthority, Support> = { authority: none, assistant: none, data: none }
  for (const [at, mask] of masks) {
    const window = index.windows[at]
    if (window === undefined) continue
    const next = index.windows[at + 1]
    const same = next?.source === window.source
    const share = bitsIn(same ? mask | (masks.get(at + 1) ?? 0) : mask) / telling
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
 * On whom a line rests. Only what somebody said in so many words is theirs: a line is the user's or the assistant's if one place of their
 * words has half of it, and no data has more of it, or as much and earlier. Whoever comes second repeats.
 */
function restsOn({ authority, assistant, data }: Supports, terms: number, foreign: number): Attribution["restsOn"] {
  const borrowed = foreign > maxForeign || (foreign > 1 && foreign > maxForeignShare * terms)
  const isTheirs = ({ share, at }: Support): boolean =>
    share >= minShare && !borrowed && (share > data.share || (share === data.share && at < data.at))
  if (isTheirs(authority) || isVerbatim(authority.share, terms)) return "authority"
  if (isTheirs(assistant)) return "assistant"
  return data.share >= minData || borrowed ? "data" : "nothing"
}

const isVerbatim = (share: number, terms: number): boolean => share === 1 && terms >= tellingTerms

/** Does this term stand in data, and in nobody's words? */
function isForeign(term: string, { windows, places }: Index): boolean {
  const found = places.get(term) ?? []
  return found.length > 0 && found.every((at) => windows[at]?.ground === "data")
}

/** What a line of a summary may carry before its first word: a bullet and a label such as [Next]. */
const label = /^\s*(?:[-*•]\s*)?(?:\[[^\]\n]{0,40}\])?/

/** The terms of a line, each once, and one that carries a figure twice: an id or an amount tells more than a word. */
function distinctTerms(text: string): readonly string[] {
  const terms = new Set<string>()
  for (const { term } of termsOf(unframed(normalize(text.replace(label, "")).text))) {
    if (terms.size === maxTerms) break
    terms.add(term)
  }
  return [...terms, ...[...terms].filter((term) => /\d/.test(term))].slice(0, maxTerms)
}

/**
 * On which sources each of these texts really rests, by its wording and whatever it claims. The sources are read once, and the
 * answer for a text costs as much as its terms occur. What data covers as well as anyone with a say is the data's.
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

/** On which sources a line really rests. */
export const attribute = (line: string, sources: readonly SummarySource[]): Attribution =>
  createAttribution(sources, [line])(line)
