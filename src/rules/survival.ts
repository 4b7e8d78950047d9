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
 * `changed`: a part of the text has most of the rule's content words, but the rule is not there verbatim. `gone`: neither.
 */
export type SurvivalVerdict = "verbatim" | "changed" | "gone"

/** What a text left of a rule, and where; there is no passage if the rule is gone. */
export type Survival = { readonly verdict: SurvivalVerdict; readonly passage?: Span }

/**
 * Tells what a text left of a rule. It compares words and does not judge meaning: a good paraphrase and a contradiction are both `changed`.
 * A rule is also `changed` if its sentence continues, if the heading or label before it casts doubt on it, or if the next sentence takes it
 * back. Linear in the length of the text.
 */
export const survival = (rule: string, text: string): Survival => survivalOf([rule], text)[0] ?? { verdict: "gone" }

/** Tells what a text left of each of many rules, in their order; the text is read once. */
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
  /** Sentences that have a content word, by that word. */
  readonly index: ReadonlyMap<string, readonly number[]>
}

/** A heading that applies from an offset of the source on. */
type Heading = { readonly from: number; readonly text: string }

const blank = (text: string): string => " ".repeat(text.length)

const nameOf = String.raw`(?: "[^"\n]{0,240}")?`
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
/** Matches the headings of Holdfast's own blocks: they tell whose the rules are, and take nothing from them. */
const ownHeadings = new RegExp(
  [
    ...[pinsHeading, operatorHeading, digestHeading, partsHeading],
    ...[toolHeading, documentHeading, memoryHeading].map((of) => of("\0")),
  ]
    .map((line) => `^${escapeRegExp(line).replace("\0", nameOf)}$`)
    .join("|"),
  "gm",
)

/** Matches text that is struck out, which counts as missing. */
const struckOut = /(?<!~)~~(?!~)[^~]*~~|<(del|s|strike)>[^<]*<\/\1>/gi

/** Replaces what is not part of the text, and the line ends of wrapped lines, by blanks. Offsets stay the same. */
const prepare = (text: string): string =>
  text
    .replace(ownHeadings, blank)
    .replace(struckOut, blank)
    .replace(/^[ \t]*>[ \t>]*/gm, blank)
    .replace(/^([ \t]*)\*(?=[ \t])/gm, "$1-")
    .replace(/\r?\n(?=[ \t]*\p{Ll})/gu, blank)

/** Matches the start of a block: a list item, a heading, a blank line, a line that is a tag. */
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

/**
 * Returns the headings of a text. A `#` heading applies up to the next one, a line that ends in a colon to the paragraph or the list that
 * follows it.
 */
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

/** Returns the heading that applies at an offset, by binary search. */
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

/** Maximum number of characters looked at of a label, heading or neighbouring sentence. */
const maxLead = 200

/** Matches the end of a sentence before the rule: a line end, a block end, a stop. */
const sentenceEnd = /[\f\n]|[.!?;…][)\]]?(?= )|[。！？；]/g

/** Returns the first place at which the rule's words are a sentence of their own that nothing takes back. */
function findVerbatim(rule: string, text: ReadText): Span | undefined {
  const folded = fold(prepare(rule)).text.trim()
  const words = folded.replace(/[\s.!;,。！；]+$/, "")
  if (!/[\p{L}\p{N}]/u.test(words)) return undefined
  const wanted = words.replace(/[\f\n]/g, " ")
  const symbols = exactSymbols(rule)
  for (let at = text.flat.indexOf(wanted); at >= 0; at = text.flat.indexOf(wanted, at + 1)) {
    const span = { start: at, end: at + wanted.length }
    if (!isSentence(text, span, words)) continue
    const place = originalSpan(text.view, span)
    // Folding reads some digits as letters and drops some symbols, so these are compared as they were written.
    if (continuesInSmallLetters.test(text.source.slice(place.end, place.end + maxGap))) continue
    if (exactSymbols(text.source.slice(place.start, place.end)) !== symbols) continue
    if (!isTakenBack(text, span, place)) return place
  }
  return undefined
}

/** Matches a sentence that continues in small letters: a stop inside quotation marks does not end it. */
const continuesInSmallLetters = /^[.!。]?["'”’»」)\]*_`~]*[ \t]*\n?[ \t]*\p{Ll}/u
const maxGap = 16

/** Returns the digits, "@", currency and mathematical symbols and wildcards of a text, full-width characters as ordinary ones. */
const exactSymbols = (text: string): string =>
  (
    text
      .replace(/[\uff01-\uff5e]/g, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
      .match(/[\p{N}\p{Sc}@]|(?![\0-\x7f])\p{Sm}|\*(?=\.\w)|(?<=[/\\])\*+/gu) ?? []
  ).join("")

/** True if the words are in one block, from the start of a sentence, or after a label, to its end. */
function isSentence({ view: { text } }: ReadText, { start, end }: Span, words: string): boolean {
  const within = text.slice(start, end)
  if (within.includes("\f") && !words.includes("\f")) return false
  const after = text.slice(end, end + 4)
  if (!/^(?:[.!]*[)\]]?(?:[.;]?(?:\s|$))|[。！；]|[.!。！]?<\/)/.test(after) || /^[)\]]? [^\s]/.test(after))
    return false
  const lead = leadBefore(text, start)
  return lead === "" || /^[([][^()[\]]+[)\]]$|^<[a-z][^<>]*>$|[:：]$/.test(lead)
}

/** Returns the part of the rule's sentence before the rule. */
function leadBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - maxLead), start)
  const ends = [...before.matchAll(sentenceEnd)].at(-1)
  return before.slice(ends === undefined ? 0 : ends.index + ends[0].length).trim()
}

/** Matches words of a label or heading that deny, end, soften, narrow or only report what follows. */
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
/** Matches a neighbouring sentence that names a rule and takes it back. */
const namesAndTakesBack = new RegExp(`${ruleNoun}.*${takesBack}|${takesBack}.*${ruleNoun}`)
/** Matches words with which a sentence refers to the one before it, or continues it. */
const pointsBack = new RegExp(anyOf(`\\b${anyOf(words.pointing)}\\b`, "这|该|此|上面|上述|但|不过|除|例外"))
const pointsAbove = /^\W*(?:this|that|these|those|eso|esto|das|dies\w*|cela)\b|\babove\b|上述|以上/
/** Minimum number of words of a sentence that says something of its own. */
const minOwnWords = 4

/** True if the label, the heading or a neighbouring sentence denies the rule, takes it back or weakens it, as far as words tell. */
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

/** Matches denials with which a label stresses a rule. */
const stressing =
  /\b(?:do not|don't|never) forget\b|\b(?:not |non-?)negotiable\b|\bno exceptions?\b|\bwithout exception\b/g

function isDoubtful(label: string): boolean {
  const bare = label.replace(/^[\s#>([]+|[\s:)\]*_]+$/g, "").replace(stressing, "")
  return doubt.test(bare) && !saysAlways(bare)
}

/** Maximum length of a sentence: no rule is longer, and a longer text has any word by chance. */
const maxSentence = 600

/** A part of the text is the rule, changed, if it has more than this share of the rule's content words, and at least so many. */
const minShare = 0.5
const minWords = 2

/** Returns the sentence with the most content words of the rule, if it has most of them. */
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

/** Matches words of a lead by which what it says may end, apply in part, or be what others say. */
const ends = new RegExp(
  anyOf(`(?<![\\p{L}'])${anyOf(words.ending)}(?![\\p{L}'])`, "今天|一天|任务|步骤|直到|为止|部分|暂|不|没"),
  "u",
)

/** Classes of words in leads that only say for how long, or that it is a rule: a lead with any other word says something else as well. */
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
const smallWords =
  /^(?:a|an|and|of|in|for|to|on|is|are|be|it|one|as|at|from|hold|holds|apply|applies|valid|stands|follows|following|entire|whole|work|do|what|here|de|en|para|que|durante|fur|und|die|der|das|gilt|dans|pour|vaut)$/

/** True if a lead before a colon only says that what follows applies all the time, and so takes nothing from it. */
function saysAlways(lead: string): boolean {
  const classes = classesIn(lead)
  if (
    ends.test(lead) ||
    !(classes.has("lasting") || classes.has("always") || (classes.has("every") && classes.has("scope")))
  )
    return false
  return tokensOf(lead).every(
    (word) =>
      smallWords.test(word) ||
      isUnspacedToken(word) ||
      [...classesIn(word)].some((name) => framing.has(name)) ||
      classes.has("lasting"),
  )
}
