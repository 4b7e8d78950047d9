import { type NormalizedText, normalize, originalSpan, rewrite } from "../language/normalize.ts"
import { cutBehind } from "../language/sentences.ts"
import { anyOf } from "../language/word-lists.ts"
import { digestHeading, partsHeading } from "../message/fence.ts"
import type { Span } from "../message/message.ts"
import { documentHeading, memoryHeading, operatorHeading, pinsHeading, toolHeading } from "./pin.ts"
import { isUnspaced, topicWords } from "./rule-topic.ts"
import words from "./survival-words.json" with { type: "json" }
import { classesIn, isUnspacedToken, tokensOf } from "./word-classes.ts"

/**
 * `verbatim`: a sentence of the text is the rule, word for word; white space, quotation marks, markdown, case and Unicode width aside.
 * `changed`: a passage has most of the rule's telling words, but the rule is not there verbatim. `gone`: neither.
 */
export type SurvivalVerdict = "verbatim" | "changed" | "gone"

/** What a text left of a rule, and where; there is no passage if the rule is gone. */
export type Survival = { readonly verdict: SurvivalVerdict; readonly passage?: Span }

/**
 * What a text left of a rule. It compares words and does not judge meaning: a good paraphrase and a contradiction are both `changed`.
 * Words that follow as part of the same sentence, a doubt in the heading or the label before, or a next sentence that takes the rule
 * back make a rule `changed` too. Linear in the text.
 */
export const survival = (rule: string, text: string): Survival => survivalOf([rule], text)[0] ?? { verdict: "gone" }

/** What a text left of each of many rules, in their order; the text is read once. */
export function survivalOf(rules: readonly string[], text: string): readonly Survival[] {
  const found = readText(text)
  return rules.map((rule) => {
    const verbatim = findVerbatim(rule, found)
    if (verbatim !== undefined) return { verdict: "verbatim", passage: verbatim }
    const changed = findChanged(rule, found)
    return changed === undefined ? { verdict: "gone" } : { verdict: "changed", passage: changed }
  })
}

/** A text prepared for comparison. */
type ReadText = {
  readonly source: string
  /** The folded text: one blank between words, `\n` for a single line end, `\f` between blocks. */
  readonly view: NormalizedText
  /** The same text with a blank for each line end and block end. */
  readonly flat: string
  readonly headings: readonly Heading[]
  readonly sentences: readonly Span[]
  /** For each telling word the sentences that have it. */
  readonly index: ReadonlyMap<string, readonly number[]>
}

/** From this place of the source on, what stands under this heading. */
type Heading = { readonly from: number; readonly text: string }

const blank = (text: string): string => " ".repeat(text.length)

const nameOf = String.raw`(?: "[^"\n]{0,240}")?`
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
/** The headings of our own blocks: they say whose the rules are, and take nothing from them. */
const ownHeadings = new RegExp(
  [
    ...[pinsHeading, operatorHeading, digestHeading, partsHeading],
    ...[toolHeading, documentHeading, memoryHeading].map((of) => of("\0")),
  ]
    .map((line) => `^${escapeRegExp(line).replace("\0", nameOf)}$`)
    .join("|"),
  "gm",
)

/** Text that is struck out is not there. */
const struckOut = /(?<!~)~~(?!~)[^~]*~~|<(del|s|strike)>[^<]*<\/\1>/gi

/** Blanks for what is not part of the text, and for the line ends of wrapped lines. Places stay the same. */
const prepare = (text: string): string =>
  text
    .replace(ownHeadings, blank)
    .replace(struckOut, blank)
    .replace(/^[ \t]*>[ \t>]*/gm, blank)
    .replace(/^([ \t]*)\*(?=[ \t])/gm, "$1-")
    .replace(/\r?\n(?=[ \t]*\p{Ll})/gu, blank)

/** A list item, a heading, a blank line, a line that is a tag. */
const blockStart =
  /(?:^|\n)(?:[ \t]*\n)*[ \t]*(?:(?:[-+•|]|\d{1,3}[.)]|#{1,6}|\[[ x]?\])[ \t]+)+|\n(?:[ \t]*\n)+|(?:^|\n)[ \t]*<\/?[a-z][\w-]{0,40}(?: [^<>\n]{0,200})?>[ \t]*(?=\n|$)/g
const quotesAndMarks = /["`«»「」『』]|(?<!\p{L})'|'(?!\p{L})|(?<!\w)_+|(?<!_)_+(?!\w)/gu

const foldBlanks = (run: string): string => (run.includes("\f") ? "\f" : run.includes("\n") ? "\n" : " ")

function fold(prepared: string): NormalizedText {
  const blocks = rewrite(normalize(prepared), blockStart, () => "\f")
  return rewrite(
    rewrite(blocks, quotesAndMarks, () => ""),
    /\s+/g,
    foldBlanks,
  )
}

function readText(source: string): ReadText {
  const prepared = prepare(source)
  const view = fold(prepared)
  const sentences = cutBehind(view.text, sentenceEnd, { maxLength: maxSentence })
  const index = new Map<string, number[]>()
  sentences.forEach(({ start, end }, at) => {
    for (const word of topicWords(view.text.slice(start, end))) {
      const known = index.get(word)
      if (known === undefined) index.set(word, [at])
      else known.push(at)
    }
  })
  const flat = view.text.replace(/[\f\n]/g, " ")
  return { source, view, flat, headings: headingsOf(prepared), sentences, index }
}

const listItem = /^[ \t>]*(?:[-*+•#|<]|\d{1,3}[.)])/

/** A `#` heading holds until the next one, a line that ends in a colon for the paragraph or the list that follows it. */
function headingsOf(prepared: string): readonly Heading[] {
  const headings: Heading[] = []
  let section = ""
  let label: "none" | "open" | "followed" | "parted" = "none"
  for (const { 0: line, index: from } of prepared.matchAll(/[^\n]+|\n(?=\n)/g)) {
    const text = line.slice(0, maxLead)
    if (line.trim() === "") {
      if (label === "followed") label = "parted"
    } else if (/^[ \t]*#{1,6}[ \t]/.test(text)) {
      section = text
      label = "none"
      headings.push({ from, text })
    } else if (/[:：][ \t*_]*$/.test(line)) {
      label = "open"
      headings.push({ from: from + line.length, text: `${section} ${text}` })
    } else if (label === "parted" && !listItem.test(line)) {
      label = "none"
      headings.push({ from, text: section })
    } else if (label !== "none") label = "followed"
  }
  return headings
}

/** The heading over a place, by binary search. */
function headingAt(headings: readonly Heading[], place: number): string {
  let low = 0
  let high = headings.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((headings[middle]?.from ?? 0) <= place) low = middle + 1
    else high = middle
  }
  return headings[low - 1]?.text ?? ""
}

/** Characters of a label, heading or neighbouring sentence that are looked at. */
const maxLead = 200

/** Ends of a sentence before the rule: a line end, a block end, a stop. */
const sentenceEnd = /[\f\n]|[.!?;…][)\]]?(?= )|[。！？；]/g

/** The first place at which the rule's words stand as a sentence of their own that nothing takes back. */
function findVerbatim(rule: string, text: ReadText): Span | undefined {
  const folded = fold(prepare(rule)).text.trim()
  const words = folded.replace(/[\s.!;,。！；]+$/, "")
  if (!/[\p{L}\p{N}]/u.test(words)) return undefined
  const wanted = words.replace(/[\f\n]/g, " ")
  const signs = exactSigns(rule)
  for (let at = text.flat.indexOf(wanted); at >= 0; at = text.flat.indexOf(wanted, at + 1)) {
    const span = { start: at, end: at + wanted.length }
    if (!isSentence(text, span, words)) continue
    const place = originalSpan(text.view, span)
    // Folding reads some digits as letters and drops some signs, so these are compared as they were written.
    if (goesOnInSmallLetters.test(text.source.slice(place.end, place.end + maxGap))) continue
    if (exactSigns(text.source.slice(place.start, place.end)) !== signs) continue
    if (!isTakenBack(text, span, place)) return place
  }
  return undefined
}

/** A stop inside quotation marks ends no sentence that goes on behind them. */
const goesOnInSmallLetters = /^[.!。]?["'”’»」)\]*_`~]*[ \t]*\n?[ \t]*\p{Ll}/u
const maxGap = 16

/** The digits, currency and mathematical signs and wildcards of a text, full-width ones as others. */
const exactSigns = (text: string): string =>
  (
    text
      .replace(/[\uff01-\uff5e]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) - 0xfee0))
      .match(/[\p{N}\p{Sc}@]|(?![\0-\x7f])\p{Sm}|\*(?=\.\w)|(?<=[/\\])\*+/gu) ?? []
  ).join("")

/** Do the words stand in one block, from the start of a sentence, or behind a label, to its end? */
function isSentence({ view: { text } }: ReadText, { start, end }: Span, words: string): boolean {
  const within = text.slice(start, end)
  if (within.includes("\f") && !words.includes("\f")) return false
  const after = text.slice(end, end + 4)
  if (!/^(?:[.!]*[)\]]?(?:[.;]?(?:\s|$))|[。！；]|[.!。！]?<\/)/.test(after) || /^[)\]]? [^\s]/.test(after))
    return false
  const lead = leadBefore(text, start)
  return lead === "" || /^[([][^()[\]]+[)\]]$|^<[a-z][^<>]*>$|[:：]$/.test(lead)
}

/** What the rule's sentence has before the rule. */
function leadBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - maxLead), start)
  const ends = [...before.matchAll(sentenceEnd)].at(-1)
  return before.slice(ends === undefined ? 0 : ends.index + ends[0].length).trim()
}

/** Words of a label or heading that deny, end, soften, narrow or only report what stands under it. */
const doubt = new RegExp(
  anyOf(
    `\\b${anyOf(words.doubtful, words.doubtfulElsewhere)}\\b`,
    `\\b${anyOf(words.doubtfulStems)}\\w*`,
    "n't\\b|\\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days?\\b|\\bout of (?:date|force)\\b",
    "\\bfor (?:now|the moment|the time being)\\b|\\b(?!user)\\w+ (?:said|says|thinks?|claims?|wrote)$",
    words.doubtfulUnspaced,
  ),
)

const ruleNoun = anyOf(words.ruleNouns)
const takesBack = anyOf(words.takingBack)
const namesRule = new RegExp(`\\b${ruleNoun}\\b|规则|规定|限制|要求|禁令`)
const anyTakesBack = new RegExp(takesBack)
/** A neighbouring sentence that names a rule and takes it back. */
const namesAndTakesBack = new RegExp(`${ruleNoun}.*${takesBack}|${takesBack}.*${ruleNoun}`)
/** Words with which a sentence points at the one before it, or goes on with it. */
const pointsBack = new RegExp(anyOf(`\\b${anyOf(words.pointing)}\\b`, "这|该|此|上面|上述|但|不过|除|例外"))
const pointsAbove = /^\W*(?:this|that|these|those|eso|esto|das|dies\w*|cela)\b|\babove\b|上述|以上/
/** A sentence with fewer words says nothing of its own. */
const minOwnWords = 4

/** Does the label, the heading or a neighbouring sentence deny the rule, take it back or make less of it, as far as words tell? */
function isTakenBack({ source, view: { text }, headings }: ReadText, { start, end }: Span, place: Span): boolean {
  const lead = leadBefore(text, start)
  if ([lead, normalize(headingAt(headings, place.start)).text].some(isDoubtful)) return true
  const before = text.slice(Math.max(0, start - lead.length - maxLead), start - lead.length).trimEnd()
  if (namesAndTakesBack.test(/[^.!?;。！？；\f\n]*[.!?;。！？；]?$/.exec(before)?.[0] ?? "")) return true
  const behind = text.slice(end, end + maxLead).replace(/^[.!;)\]。！；]*(?:<\/[a-z][^<>]*>)*/, "")
  const next = behind.split(/[.!?;](?=\s|$)|[。！？；\n\f]/).find((part) => part.trim() !== "") ?? ""
  const own = topicWords(text.slice(start, end))
  const shared = [...topicWords(next)].filter((found) => found !== "not" && own.has(found)).length
  if (namesAndTakesBack.test(next)) return true
  if (!/^\s*[\n\f]/.test(behind))
    return (
      next !== "" && (shared > 0 || isShort(next) || [pointsBack, namesRule, anyTakesBack].some((of) => of.test(next)))
    )
  const isParagraph = !listItem.test(source.slice(place.end, place.end + maxLead).replace(/^[^\n]*\s*\n/, ""))
  return isParagraph && (shared > 1 || pointsAbove.test(next) || (shared > 0 && anyTakesBack.test(next)))
}

const isShort = (sentence: string): boolean =>
  !isUnspaced(sentence.trim()) && (sentence.match(/[\p{L}\p{N}]+/gu) ?? []).length < minOwnWords

/** Denials with which a label stresses a rule. */
const stress =
  /\b(?:do not|don't|never) forget\b|\b(?:not |non-?)negotiable\b|\bno exceptions?\b|\bwithout exception\b/g

function isDoubtful(label: string): boolean {
  const bare = label.replace(/^[\s#>([]+|[\s:)\]*_]+$/g, "").replace(stress, "")
  return doubt.test(bare) && !saysAlways(bare)
}

/** No rule is longer, and a longer passage has any word by chance. */
const maxSentence = 600

/** A passage must have more than this share of the rule's telling words, and so many of them, to be the rule changed. */
const minShare = 0.5
const minWords = 2

/** The sentence that has the most of the rule's telling words, if it has most of them. */
function findChanged(rule: string, { view, sentences, index }: ReadText): Span | undefined {
  const words = topicWords(fold(prepare(rule)).text)
  const counts = new Map<number, number>()
  let best = { at: -1, count: 0 }
  for (const word of words)
    for (const at of index.get(word) ?? []) {
      const count = (counts.get(at) ?? 0) + 1
      counts.set(at, count)
      if (count > best.count) best = { at, count }
    }
  const sentence = sentences[best.at]
  if (sentence === undefined || best.count < Math.min(minWords, words.size) || best.count <= words.size * minShare)
    return undefined
  return trimmed(view, sentence)
}

function trimmed(view: NormalizedText, { start, end }: Span): Span {
  const text = view.text.slice(start, end)
  const from = start + text.length - text.trimStart().length
  return originalSpan(view, { start: from, end: Math.max(from, start + text.trimEnd().length) })
}

/** Words of a lead by which what it says may end, hold in part, or be what others say. */
const ends = new RegExp(
  anyOf(`(?<![\\p{L}'])${anyOf(words.ending)}(?![\\p{L}'])`, "今天|一天|任务|步骤|直到|为止|部分|暂|不|没"),
  "u",
)

/** Words of leads that say only for how long, or that it is a rule: a lead with any other word says something else as well. */
const framing: ReadonlySet<string> = new Set([
  "lasting",
  "always",
  "every",
  "scope",
  "rule",
  "remember",
  "please",
  "you",
  "we",
  "i",
  "this",
  "the",
  "stress",
  "must",
  "thanks",
])
const small =
  /^(?:a|an|and|of|in|for|to|on|is|are|be|it|one|as|at|from|hold|holds|apply|applies|valid|stands|follows|following|entire|whole|work|do|what|here|de|en|para|que|durante|fur|und|die|der|das|gilt|dans|pour|vaut)$/

/** Does a lead before a colon only say that what comes behind it holds all along, so that it takes nothing from it? */
function saysAlways(lead: string): boolean {
  const classes = classesIn(lead)
  if (
    ends.test(lead) ||
    !(classes.has("lasting") || classes.has("always") || (classes.has("every") && classes.has("scope")))
  )
    return false
  return tokensOf(lead).every(
    (word) =>
      small.test(word) ||
      isUnspacedToken(word) ||
      [...classesIn(word)].some((name) => framing.has(name)) ||
      classes.has("lasting"),
  )
}
