import { normalize } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import { wordSet } from "../language/word-forms.ts"
import { anyOf } from "../language/word-lists.ts"
import { createRecent } from "../message/recall.ts"
import { isWithin, ownWords, quotationsIn } from "./own-words.ts"
import type { Pin } from "./pin.ts"
import { passesOn } from "./read-replacements.ts"
import { plain, sortedValues, topicOf, topicWords, valuesOf } from "./rule-topic.ts"
import { speakerScore, surelyPasted } from "./who-speaks.ts"
import wordLists from "./withdrawal-words.json" with { type: "json" }

/** A sentence that takes a rule back, and what the rule is about. */
type Withdrawal = {
  /** The sentence, verbatim. */
  readonly text: string
  readonly topic: readonly string[]
  /** It only allows again what was forbidden, and speaks of no rule. */
  readonly lifts: boolean
  /** It speaks of all that was said about the matter, not of one rule. */
  readonly all: boolean
}

/** Who takes a rule back says so in a few words. */
const maxMessage = 1500
const maxSentence = 200

const { said } = wordLists

/** A text without any of these words takes nothing back. */
const sign = new RegExp(anyOf(said.signs), "i")

const lead = `^${anyOf(said.leads)}?[, ]*`
const undo = anyOf(said.undoing)
const rule = anyOf(said.ruleNouns)

/** `all` of what was said about a matter. */
const ofAll: readonly RegExp[] = [
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
/** One rule, by its name. */
const ofOne: readonly RegExp[] = [
  new RegExp(
    `${lead}${undo} (?:about )?(?:the|that|my|this|our|all|die|meine|la|ma|mi|a)\\b(?<topic>[^,;]*\\b${rule}\\b[^,;]*)`,
  ),
  new RegExp(`${lead}(?:the|that|my|our|die|la|le)\\b(?<topic>.*\\b${rule}\\b.*?)\\b${anyOf(said.isOver)}`),
  /^(?:请|那就|好的?[,，]?)?(?:忘掉|忘了|忽略|取消|废除|作废)(?<topic>.*(?:规定|规则|要求|我说|说过|限制).*)$/,
]
/** What was forbidden is allowed again. */
const again: readonly RegExp[] = [
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

/** Words that say that something was said, and not what about. */
const telling = wordSet(...said.tellingWords)

const wideTelling = /我?(?:之前|刚才)?说过?的?|那[条个]|的?(?:规定|规则|要求|限制)/g

/** What a user's message takes back, in the user's own words: "forget what I said about tabs", "you can push to main again". */
export function readWithdrawals(message: string): readonly Withdrawal[] {
  if (message.length > maxMessage || !sign.test(message)) return []
  const quotations = quotationsIn(message)
  return ownWords(message)
    .flatMap((own) => sentencesIn(message, own))
    .flatMap((span): readonly Withdrawal[] => {
      const text = message.slice(span.start, span.end)
      if (text.length > maxSentence || text.endsWith("?") || isWithin(span, quotations) || passesOn.test(text))
        return []
      if (speakerScore(message, span) > surelyPasted) return []
      return [text, ...text.split(/(?<=[,;]) /).slice(1)].map(withdrawalIn).find((found) => found.length > 0) ?? []
    })
}

function withdrawalIn(text: string): readonly Withdrawal[] {
  const seen = normalize(text).text.replace(/\s+/g, " ").trim()
  const sorts = [
    { patterns: ofAll, lifts: false, all: true },
    { patterns: ofOne, lifts: false, all: false },
    { patterns: again, lifts: true, all: false },
  ]
  for (const { patterns, lifts, all } of sorts)
    for (const pattern of patterns) {
      const found = pattern.exec(seen)
      const groups = found?.groups
      if (groups === undefined) continue
      if (lifts && /\b(?:this|that|these|those|it|them)\b/.test(found?.[0] ?? "")) return []
      const about = (groups.topic ?? groups.other ?? "").replace(wideTelling, " ")
      const topic = topicOf(about).filter((word) => !telling.has(word))
      return topic.length === 0 && (lifts || sortedValues(plain(about)).size === 0) ? [] : [{ text, topic, lifts, all }]
    }
  return []
}

/** What is allowed again may leave so many words of the rule unsaid. */
const maxUnsaid = 2

/** The rules that a withdrawal means: all words of it are about them. In doubt none. */
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
    return !lifts || (about.length - topic.length <= maxUnsaid && (forbids(pin) || otherLanguage(text, pin.text)))
  })
  // One that is known by a value alone, as "the Friday rule", must be the only one with it.
  if (topic.length === 0) return meant.length === 1 ? meant : []
  return all ? meant : meant.slice(-1)
}

const forbids = ({ kind, text }: Pin): boolean =>
  kind === "prohibition" || kind === "permission-limit" || /\b(?:not|never|no)\b/i.test(text)

function otherLanguage(text: string, rule: string): boolean {
  const [one, two] = [valuesOf(text).get("language"), valuesOf(rule).get("language")]
  return one !== undefined && two !== undefined && !one.some((name) => two.includes(name))
}

/** Do two texts have a word of their subject in common as it stands, beside words that mean the same? */
function sharesWord(one: string, two: string): boolean {
  const [words, others] = [wordsOf(one), wordsOf(two)]
  return [...words].some((word) => word !== "not" && others.has(word))
}

/** The words of a text that tell what it is about, and those that only mean a number. */
const wordsOf = createRecent((text): ReadonlySet<string> => topicWords(normalize(text).text), 2000)

/** Does a text name values of a sort that a rule has too, and not one of the rule's? Then it is about another rule. */
function namesOtherValue(text: string, rule: string): boolean {
  const [said, own] = [sortedValues(plain(text)), sortedValues(plain(rule))]
  return [...said].some(([sort, values]) => {
    const known = own.get(sort)
    return sort !== "currency" && ![...values].some((value) => known?.has(value) === true)
  })
}

/** What a user asks for at the head of a message: a rule to pin, or a pin to take away. `rest` is what stands behind it, verbatim. */
type PinCommand =
  | { readonly type: "pin"; readonly text: string; readonly rest: string }
  | { readonly type: "unpin" /** The id of a rule, or words of it. */; readonly id: string; readonly rest: string }

const command = /^\s*\/(pin|unpin)(?=\s)[^\S\n\r]*/i
const lineEnd = /\r\n|[\n\r]/g
/** A rule is named by its id, or by words of it. */
const maxName = 300

/** A pin is a rule, not a page; a longer text is a message like any other. */
const maxPin = 4000

/**
 * The command that a message begins with, if it does: `/pin` with the rule behind it on its line, or alone on its line with the rule on the
 * next ones up to a blank one; `/unpin` with an id or words of the rule. Anywhere else, behind a quotation mark or in code, it is text.
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

/** The rule that is meant by its id or by words of it. In doubt none. */
export function ruleNamed<Rule extends Pick<Pin, "id" | "text">>(
  name: string,
  pins: readonly Rule[],
): Rule | undefined {
  const [only, ...others] = rulesNamed(name, pins)
  return others.length === 0 ? only : undefined
}

/** The rules that may be meant by an id or by words: those that have them as they stand, or else all that they are about. */
export function rulesNamed<Rule extends Pick<Pin, "id" | "text">>(
  name: string,
  pins: readonly Rule[],
): readonly Rule[] {
  const byId = pins.find(({ id }) => id === name)
  if (byId !== undefined) return [byId]
  const fold = (text: string): string => normalize(text).text.replace(/\s+/g, " ").trim()
  const literal = pins.filter(({ text }) => fold(text).includes(fold(name)))
  if (literal.length > 0) return literal
  const topic = topicOf(name).filter((word) => !telling.has(word))
  return pins.filter(({ text }) => topic.length > 0 && topic.every((word) => topicOf(text).includes(word)))
}

/** Where the line at a place ends, and where the next one starts. */
function lineFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  lineEnd.lastIndex = start
  const found = lineEnd.exec(text)
  return found === null
    ? { end: text.length, next: text.length }
    : { end: found.index, next: found.index + found[0].length }
}

/** Where the lines from a place on come to a blank one. */
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
