import { normalize } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import { wordSet } from "../language/word-forms.ts"
import { anyOf } from "../language/word-lists.ts"
import { createRecent } from "../message/recall.ts"
import { certainWords, isPlainLine, isWithin, quotationsIn } from "./own-words.ts"
import type { Pin } from "./pin.ts"
import { hearsay } from "./read-replacements.ts"
import { plain, sortedValues, topicOf, topicWords, valuesOf } from "./rule-topic.ts"
import { hasRoomForTwo, isAnothers, speakerScore, surelyPasted } from "./who-speaks.ts"
import wordLists from "./withdrawal-words.json" with { type: "json" }

/** A sentence that takes a rule back, and what the rule is about. */
type Withdrawal = {
  /** The sentence, verbatim. */
  readonly text: string
  readonly topic: readonly string[]
  /** True if it only allows again what was forbidden, and mentions no rule. */
  readonly lifts: boolean
  /** True if it is about all that was said on the subject, not about one rule. */
  readonly all: boolean
}

/** Maximum length of a message, and of a sentence, that takes a rule back: people do that in a few words. */
const maxMessage = 1500
const maxSentence = 200

const { said } = wordLists

/** A text without any of these words takes nothing back. */
const withdrawalWords = new RegExp(anyOf(said.signs), "i")

const lead = `^${anyOf(said.leads)}?[, ]*`
const undo = anyOf(said.undoing)
const rule = anyOf(said.ruleNouns)

/** Patterns that take back all that was said about a subject. */
const allPatterns: readonly RegExp[] = [
  new RegExp(
    `${lead}${undo},? (?:about )?${anyOf(said.all)}\\b,?(?<said>.{0,60}?)\\b${anyOf(said.about)}\\b(?<topic>[^,]+)`,
  ),
  new RegExp(
    `${lead}${undo} (?:lo del?|das mit|le truc d(?:es|u|e)|l'histoire d(?:es|u|e)|isso d[aeo]s?|aquilo d[aeo]s?|dat van)\\b(?<topic>[^,]+)`,
  ),
  new RegExp(
    `${lead}(?:i take (?:that|it|this) back|i take back what i said),? (?:about|on|regarding)\\b(?<topic>[^,]+)`,
  ),
]
/** Patterns that take back one rule by its name. */
const onePatterns: readonly RegExp[] = [
  new RegExp(
    `${lead}${undo} (?:about )?(?:the|that|my|this|our|all|die|meine|la|ma|mi|a)\\b(?<topic>[^,;]*\\b${rule}\\b[^,;]*)`,
  ),
  new RegExp(`${lead}(?:the|that|my|our|die|la|le)\\b(?<topic>.*\\b${rule}\\b.*?)\\b${anyOf(said.isOver)}`),
  /^(?:请|那就|好的?[,，]?)?(?:忘掉|忘了|忽略|取消|废除|作废)(?<topic>.*(?:规定|规则|要求|我说|说过|限制).*)$/,
]
/** Patterns that allow again what was forbidden. */
const allowPatterns: readonly RegExp[] = [
  new RegExp(
    `${lead}(?:you|we|agents?) (?:can|may|are (?:allowed|free) to)\\b(?<topic>[^,]{2,80}?)\\b(?:again|now|after all)\\b[.!]*$`,
  ),
  new RegExp(`${lead}feel free to\\b(?<topic>[^,]{2,80}?)\\b(?:again|now|after all|from now on|any ?time)\\b`),
  new RegExp(
    `${lead}(?<topic>[^,]{2,60}?) (?:is|are) (?:(?:now|again|actually) (?:ok|okay|fine|allowed|permitted|good)|(?:ok|okay|fine|allowed|permitted|good) (?:now|again|after all))\\b`,
  ),
  new RegExp(
    `${lead}(?<topic>[^,]{2,40}? (?:is|are) (?:ok|okay|fine|allowed|permitted) (?:with|in|on|for|to|at) [^,]{2,40}?) (?:now|again|after all)[.!]*$`,
  ),
  new RegExp(`${lead}(?:switch|go|change) back to (?<topic>[^,]{2,40}?)(?: now| again| for .*)?[.!]*$`),
  /^(?:actually|on second thought|come to think of it),? (?<topic>[^,]{2,40}?) (?:is|are) (?:ok|okay|fine|allowed|good)[.!]*$/,
  /^(?:ok(?:ay)?,? )?(?:du darfst|ihr durft|sie durfen|man darf) (?:jetzt |nun |ab jetzt )?wieder\b(?<topic>.{2,80})$/,
  /^(?:ok,? )?tu peux (?:maintenant |desormais )?(?:de nouveau|a nouveau)\b(?<topic>.{2,80})$/,
  /^(?:ok,? )?(?:ya puedes\b(?<topic>.{2,80})$|puedes (?<other>.{2,80}?) (?:de nuevo|otra vez)[.!]*$)/,
  /^(?:现在|那)?(?:又)?可以(?:再|重新|又)(?<topic>.{1,40}?)了?[。!]*$/,
]

/** Words that say that something was said, not what about. */
const sayingWords = wordSet(...said.tellingWords)

const wideSayingWords = /我?(?:之前|刚才)?说过?的?|那[条个]|的?(?:规定|规则|要求|限制)/g

/** Returns what a user's message takes back in the user's own words: "forget what I said about tabs", "you can push to main again". */
export function readWithdrawals(message: string): readonly Withdrawal[] {
  if (message.length > maxMessage || !withdrawalWords.test(message)) return []
  const quotations = quotationsIn(message)
  const pages = certainWords(message)
  const hasSeveralSpeakers = hasRoomForTwo(message)
  return pages
    .flatMap((own) => sentencesIn(message, own))
    .flatMap((span): readonly Withdrawal[] => {
      const text = message.slice(span.start, span.end)
      if (text.length > maxSentence || text.endsWith("?") || isWithin(span, quotations) || hearsay.test(text)) return []
      if (!isPlainLine(message, span)) return []
      if (hasSeveralSpeakers && isAnothers(message, span, pages)) return []
      if (speakerScore(message, span) > surelyPasted) return []
      return [text, ...text.split(/(?<=[,;]) /).slice(1)].map(withdrawalIn).find((found) => found.length > 0) ?? []
    })
}

function withdrawalIn(text: string): readonly Withdrawal[] {
  const seen = normalize(text).text.replace(/\s+/g, " ").trim()
  const sorts = [
    { patterns: allPatterns, lifts: false, all: true },
    { patterns: onePatterns, lifts: false, all: false },
    { patterns: allowPatterns, lifts: true, all: false },
  ]
  for (const { patterns, lifts, all } of sorts)
    for (const pattern of patterns) {
      const found = pattern.exec(seen)
      const groups = found?.groups
      if (groups === undefined) continue
      if (lifts && /\b(?:this|that|these|those|it|them)\b/.test(found?.[0] ?? "")) return []
      const about = (groups.topic ?? groups.other ?? "").replace(wideSayingWords, " ")
      const topic = topicOf(about).filter((word) => !sayingWords.has(word))
      return topic.length === 0 && (lifts || sortedValues(plain(about)).size === 0) ? [] : [{ text, topic, lifts, all }]
    }
  return []
}

/** Maximum number of topics of a rule that are not named where it is allowed again. */
const maxUnnamed = 2

/** Returns the rules that a withdrawal means: all of its topics are among theirs. In doubt none. */
export function withdrawnBy<Rule extends Pin>(
  { text, topic, lifts, all }: Withdrawal,
  pins: readonly Rule[],
): readonly Rule[] {
  const meant = pins.filter((pin) => {
    const about = topicOf(pin.text)
    if (!topic.every((word) => about.includes(word))) return false
    if (
      !(sharesWord(text, pin.text) || (lifts && otherLanguage(text, pin.text))) ||
      (!lifts && namesOtherValue(text, pin.text))
    )
      return false
    return !lifts || (about.length - topic.length <= maxUnnamed && (forbids(pin) || otherLanguage(text, pin.text)))
  })
  // A rule that is identified by a value alone, as "the Friday rule", must be the only one with that value.
  if (topic.length === 0) return meant.length === 1 ? meant : []
  return all ? meant : meant.slice(-1)
}

const forbids = ({ kind, text }: Pin): boolean =>
  kind === "prohibition" || kind === "permission-limit" || /\b(?:not|never|no)\b/i.test(text)

function otherLanguage(text: string, rule: string): boolean {
  const [one, two] = [valuesOf(text).get("language"), valuesOf(rule).get("language")]
  return one !== undefined && two !== undefined && !one.some((name) => two.includes(name))
}

/** True if two texts share a word of their subject literally, not only words that mean the same. */
function sharesWord(one: string, two: string): boolean {
  const [words, others] = [wordsOf(one), wordsOf(two)]
  return [...words].some((word) => word !== "not" && others.has(word))
}

/** Cached words of a text that tell what it is about, numbers included. */
const wordsOf = createRecent((text): ReadonlySet<string> => topicWords(normalize(text).text), 2000)

/** True if a text names values of a kind, currencies aside, and none of them is in the rule: then it is about another rule. */
function namesOtherValue(text: string, rule: string): boolean {
  const [said, own] = [sortedValues(plain(text)), sortedValues(plain(rule))]
  return [...said].some(([sort, values]) => {
    const known = own.get(sort)
    return sort !== "currency" && ![...values].some((value) => known?.has(value) === true)
  })
}

/** What a user asks for at the start of a message: to pin a rule, or to remove one. `rest` is the text after it, verbatim. */
type PinCommand =
  | { readonly type: "pin"; readonly text: string; readonly rest: string }
  | { readonly type: "unpin" /** The id of a rule, or words of it. */; readonly id: string; readonly rest: string }

const command = /^\s*\/(pin|unpin)(?=\s)[^\S\n\r]*/i
const lineEnd = /\r\n|[\n\r]/g
/** Maximum length of the id or the words that name a rule. */
const maxName = 300

/** Maximum length of a rule to pin; a longer text is a message like any other. */
const maxPin = 4000

/**
 * Returns the command that a message starts with, if any: `/pin` with the rule after it on its line, or alone on its line with the rule on
 * the next lines up to a blank one; `/unpin` with an id or words of the rule. Anywhere else, after a quotation mark or in code, it is text.
 */
export function readPinCommand(message: string): PinCommand | undefined {
  const [head = "", name = ""] = command.exec(message) ?? []
  if (name === "") return undefined
  const line = lineFrom(message, head.length)
  const own = message.slice(head.length, line.end).trim()
  if (name.toLowerCase() === "unpin")
    return own !== "" && own.length <= maxName && /[\p{L}\p{N}]/u.test(own)
      ? { type: "unpin", id: own, rest: message.slice(line.next) }
      : undefined
  if (own !== "") return pinOf(own, message.slice(line.next))
  const next = paragraphFrom(message, line.next)
  return pinOf(message.slice(line.next, next.end).trim(), message.slice(next.next))
}

const pinOf = (text: string, rest: string): PinCommand | undefined =>
  text === "" || text.length > maxPin || !/[\p{L}\p{N}]/u.test(text) ? undefined : { type: "pin", text, rest }

/** Returns the rule that an id or words of it name; undefined in doubt. */
export function ruleNamed<Rule extends Pick<Pin, "id" | "text">>(
  name: string,
  pins: readonly Rule[],
): Rule | undefined {
  const [only, ...others] = rulesNamed(name, pins)
  return others.length === 0 ? only : undefined
}

/** Returns the rules that an id or words may name: those that contain the words literally, or else those about all of them. */
export function rulesNamed<Rule extends Pick<Pin, "id" | "text">>(
  name: string,
  pins: readonly Rule[],
): readonly Rule[] {
  const byId = pins.find(({ id }) => id === name)
  if (byId !== undefined) return [byId]
  const fold = (text: string): string => normalize(text).text.replace(/\s+/g, " ").trim()
  const literal = pins.filter(({ text }) => fold(text).includes(fold(name)))
  if (literal.length > 0) return literal
  const topic = topicOf(name).filter((word) => !sayingWords.has(word))
  return pins.filter(({ text }) => topic.length > 0 && topic.every((word) => topicOf(text).includes(word)))
}

/** Returns where the line at an offset ends, and where the next one starts. */
function lineFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  lineEnd.lastIndex = start
  const found = lineEnd.exec(text)
  return found === null
    ? { end: text.length, next: text.length }
    : { end: found.index, next: found.index + found[0].length }
}

/** Returns where the lines from an offset on end before a blank line, and where the text after that starts. */
function paragraphFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  let end = start
  for (let at = start; at < text.length; ) {
    const line = lineFrom(text, at)
    if (text.slice(at, line.end).trim() === "") return { end, next: line.next }
    end = line.end
    at = line.next
  }
  return { end, next: text.length }
}
