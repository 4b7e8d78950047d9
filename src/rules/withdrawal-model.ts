import { lazy } from "../language/lazy.ts"
import {
  endBias,
  endStep,
  endWeights,
  subjectBias,
  subjectStep,
  subjectWeights,
} from "./generated/withdrawal-weights.ts"
import { withoutCommanded } from "./rule-topic.ts"
import { readLevels, weightsOfLevels, zeroLevel } from "./weight-table.ts"
import {
  classesOfWord,
  hasKey,
  isLimit,
  isOneWord,
  namesTongue,
  readKeys,
  readRoles,
  readText,
  type TextReading,
  type Token,
} from "./withdrawal-text.ts"

/**
 * Does a sentence take a rule back, or put something else in its place? Two linear models over the pair. One asks whether the sentence is
 * about the subject of the rule, by what both have in common. The other asks whether it ends the rule, by its words with those put aside
 * that the rule has as well. A rule is ended where both say so.
 */

/** Features are hashed into a table of this size; most places are empty. */
export const withdrawalTable: number = 1 << 17

type Table = { readonly levels: Int8Array; readonly weights: Float32Array; readonly bias: number }
const tableOf = (signs: string, step: number, bias: number): Table => ({
  levels: readLevels(signs, withdrawalTable),
  weights: weightsOfLevels(step),
  bias,
})
const subjectTable = lazy(() => tableOf(subjectWeights, subjectStep, subjectBias))
const endTable = lazy(() => tableOf(endWeights, endStep, endBias))

const scoreOf = ({ levels, weights, bias }: Table, ids: readonly number[]): number =>
  ids.reduce((sum, id) => sum + (weights[(levels[id] ?? 0) + zeroLevel] ?? 0), bias)

/** How sure it is that the sentence is about the rule, and that it ends what the rule says: the logarithm of the odds. `others` are the other sentences of the message. */
export const subjectScore = (rule: string, sentence: string, others: readonly string[]): number =>
  scoreOf(subjectTable(), subjectFeatures(rule, sentence, others))
export const endScore = (rule: string, sentence: string, others: readonly string[]): number =>
  scoreOf(endTable(), endFeatures(rule, sentence, others))

/** FNV-1a, folded into the table. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return ((hash >>> 15) ^ hash) & (withdrawalTable - 1)
}
const hashed = (names: ReadonlySet<string>): readonly number[] => [...new Set([...names].map(hashOf))]

/** Have a rule and a sentence anything in common that they could both be about? */
export function mayWithdraw(rule: string, sentence: string): boolean {
  const [one, two] = [readKeys(rule), readKeys(sentence)]
  for (const key of two.keys) if (hasKey(one, key)) return true
  return (namesTongue(rule) && namesTongue(sentence)) || movesLimit(rule, sentence)
}

/** A share in so many parts, rounded up. */
const part = (share: number, parts: number): number => Math.ceil(share * parts)
const shareOf = (some: number, all: number): number => some / Math.max(1, all)

/** How much of the rule is said again, in the sentence and in the whole message, and by which words and values. */
export function subjectFeatures(ruleText: string, sentenceText: string, others: readonly string[]): readonly number[] {
  const [rule, sentence] = [readText(ruleText), readText(sentenceText)]
  const around = others.map(readText)
  const keys = [...rule.keys]
  const said = keys.filter((key) => hasKey(sentence, key))
  const anywhere = keys.filter((key) => hasKey(sentence, key) || around.some((other) => hasKey(other, key)))
  const ofRule = shareOf(said.length, keys.length)
  const ofSentence = shareOf([...sentence.keys].filter((key) => hasKey(rule, key)).length, sentence.keys.size)
  const signs = (some: readonly string[]): number => some.reduce((sum, key) => sum + key.length, 0)
  const names = new Set([
    `s rule ${part(ofRule, 6)}`,
    `s all ${part(shareOf(anywhere.length, keys.length), 6)}`,
    `s sentence ${part(ofSentence, 6)}`,
    `s both ${part(ofRule, 4)}/${part(ofSentence, 4)}`,
    `s count ${Math.min(5, said.length)}`,
    `s of ${Math.min(4, said.length)}/${Math.min(6, keys.length)}`,
    `s longest ${Math.min(10, Math.max(0, ...said.map(({ length }) => length)))}`,
    `s signs ${part(shareOf(signs(said), signs(keys)), 6)}`,
    `s sum ${Math.min(8, Math.floor(signs(said) / 4))}`,
    `s names ${rule.names.size > 0} ${Math.min(2, [...rule.names].filter((name) => hasKey(sentence, name)).length)}`,
    `s length ${Math.min(6, Math.floor(sentence.keys.size / 2))}`,
    `s values ${[...rule.values.keys()].some((sort) => sentence.values.has(sort))} ${Math.min(3, said.length)}`,
    ...said.map((key) => `s key ${key}`),
  ])
  if (said.includes(keys[0] ?? "")) names.add("s first")
  if (said.includes(keys.at(-1) ?? "")) names.add("s last")
  for (const [sort, values] of rule.values)
    names.add(`s value ${sort} ${relationOf(values, sentence.values.get(sort))}`)
  return hashed(names)
}

/** What tells whether a sentence ends a rule, each feature once. */
export function endFeatures(ruleText: string, sentenceText: string, others: readonly string[]): readonly number[] {
  const names = new Set<string>()
  const [rule, sentence] = [readText(ruleText), readText(sentenceText)]
  const masked = maskedTokens(rule, sentence)
  addWords(names, masked)
  addPlaces(names, rule, sentence)
  const count = [...sentence.keys].filter((key) => hasKey(rule, key)).length
  const [ofRule, ofSentence] = [shareOf(count, rule.keys.size), shareOf(count, sentence.keys.size)]
  names
    .add(`rule ${part(ofRule, 5)}`)
    .add(`said ${part(ofSentence, 5)}`)
    .add(`count ${Math.min(4, count)}`)
    .add(`both ${part(ofRule, 5)}/${part(ofSentence, 5)}`)
  addRoles(names, rule, sentence, part(ofRule, 3), part(ofSentence, 3))
  addSense(names, rule, sentence, part(ofRule, 3))
  if (sentence.asks) names.add("asks")
  if (sentence.quotes) names.add("quotes")
  addOthers(names, rule, [sentence, ...others.map(readText)])
  return hashed(names)
}

/** What a token of the sentence is to the rule, as a word and as a class. */
type Masked = { readonly word: string; readonly form: string; readonly isShared: boolean }

function maskedTokens(rule: TextReading, sentence: TextReading): readonly Masked[] {
  return sentence.tokens.flatMap((token, n): readonly Masked[] => {
    const { text, sort, keys, isName } = token
    const [key] = keys
    if (sort === "sign") return [unshared(text, text)]
    if (sort === "number")
      return [rule.numbers.has(text) ? shared("0=") : unshared(...twice(rule.numbers.size === 0 ? "0" : "0#"))]
    if (sort === "unspaced") return maskedRun(text, rule)
    if (key !== undefined && hasKey(rule, key)) return [shared("S")]
    if (token.isQuoted) return [unshared(...twice("Q"))]
    const [role] = sentence.roles[n] ?? []
    if (role !== undefined) return [unshared(text, `+${role}`)]
    const classes = classesOfWord(text).slice(0, 2).join("+")
    const word = key === undefined ? text : isName ? "N" : "c"
    return [unshared(word, classes || (key === undefined ? "f" : word))]
  })
}
const shared = (word: string): Masked => ({ word, form: word, isShared: true })
const unshared = (word: string, form: string): Masked => ({ word, form, isShared: false })
const twice = (word: string): readonly [string, string] => [word, word]

/** A run without blanks: what the rule has as well as one, and two signs each of the rest. */
function maskedRun(run: string, rule: TextReading): readonly Masked[] {
  const masked: Masked[] = []
  const isPair = (at: number): boolean => rule.keys.has(run.slice(at, at + 2))
  const isKnown = (at: number): boolean => at < run.length && at >= 0 && (isPair(at) || (at > 0 && isPair(at - 1)))
  for (let at = 0; at < run.length; at++) {
    if (isKnown(at)) {
      if (!isKnown(at - 1)) masked.push(shared("S"))
      continue
    }
    const pair = run.slice(at, isKnown(at + 1) ? at + 1 : at + 2)
    masked.push(unshared(pair, classesOfWord(pair).join("+") || "u"))
  }
  return masked
}

/** The words of the sentence and how they follow one another, as words and as classes. */
function addWords(names: Set<string>, masked: readonly Masked[]): void {
  const at = (n: number): Masked => masked[n] ?? (n < 0 ? start : end)
  for (const [n, { word, form, isShared }] of masked.entries()) {
    names
      .add(`w ${word}`)
      .add(`w ${at(n - 1).word} ${word}`)
      .add(`f ${at(n - 1).form} ${form}`)
    if (isShared) names.add(`S- ${at(n - 1).word}`).add(`S+ ${at(n + 1).word}`)
  }
  names
    .add(`w ${at(masked.length - 1).word} $`)
    .add(`f ${at(masked.length - 1).form} $`)
    .add(`^ ${at(0).form} ${at(1).form}`)
}
const start: Masked = { word: "^", form: "^", isShared: false }
const end: Masked = { word: "$", form: "$", isShared: false }

/** Tokens on either side of a word that count as near it. */
const near = 3

/** Which word it begins with, what it speaks of first and last, what stands near words of the rule, and what else it speaks of. */
function addPlaces(names: Set<string>, rule: TextReading, { tokens, roles }: TextReading): void {
  const isShared = ({ keys }: Token): boolean => keys.some((key) => hasKey(rule, key))
  const told = tokens.filter(({ keys }) => keys.length > 0)
  const formAt = (at: number): string => {
    const token = told.at(at)
    if (token === undefined) return "-"
    return isShared(token) ? "S" : token.isName ? "N" : token.sort === "number" ? "0" : "c"
  }
  names
    .add(`head ${formAt(0)}`)
    .add(`head ${formAt(0)}${formAt(1)}`)
    .add(`head ${formAt(0)}${formAt(1)}${formAt(2)}`)
    .add(`tail ${formAt(-1)}`)
    .add(`first ${tokens[0]?.text}`)
    .add(`first ${tokens[0]?.text} ${tokens[1]?.text}`)
  for (const [n, token] of tokens.entries()) {
    if (!isShared(token)) {
      const [key] = token.keys
      if (token.sort === "word" && key !== undefined) names.add(`u ${key}`)
      continue
    }
    for (let far = -near; far <= near; far++) {
      const other = tokens[n + far]
      if (far === 0 || other === undefined || isShared(other)) continue
      names.add(`near ${Math.sign(far)} ${other.keys.length > 0 && other.sort === "word" ? "c" : other.text}`)
      for (const role of roles[n + far] ?? []) names.add(`near ${far} ${role}`)
    }
  }
}

/** What the words of the sentence do, by what sort of rule it is, how much of the rule is said again and which value is another. */
function addRoles(
  names: Set<string>,
  rule: TextReading,
  sentence: TextReading,
  ofRule: number,
  ofSentence: number,
): void {
  const changed = changedValue(rule, sentence)
  names.add(`changed ${changed}`).add(`changed ${changed} ${ofRule} ${ofSentence}`)
  const roles = [...sentence.allRoles].sort()
  for (const [n, name] of roles.entries()) {
    names.add(`+ ${name}`).add(`+ ${name} ${ofRule}`).add(`+ ${name} v ${changed}`)
    for (const other of roles.slice(n + 1)) names.add(`+ ${name} ${other}`)
  }
  const sum = `sum ${countOf(roles, endingRoles)}-${countOf(roles, keepingRoles)}`
  names
    .add(sum)
    .add(`${sum} ${ofRule}`)
    .add(`${sum} said ${ofSentence}`)
    .add(`${sum} ${ofRule}/${ofSentence}`)
    .add(`${sum} ${changed}`)
    .add(`${sum} ${ofRule} ${changed}`)
  for (const kind of kindsOf(rule)) {
    names.add(`r ${kind}`).add(`r ${kind} ${sum}`).add(`r ${kind} v ${changed}`)
    for (const name of roles) names.add(`r ${kind} + ${name}`)
  }
}
/** What speaks for an end, and what speaks against one. */
const endingRoles: readonly string[] = ["undo", "nomore", "nowadays", "hence", "left", "fine", "change", "stop"]
const keepingRoles: readonly string[] = [
  "today",
  "once",
  "also",
  "stays",
  "guess",
  "others",
  "says",
  "past",
  "plan",
  "but",
]
const countOf = (roles: readonly string[], some: readonly string[]): number =>
  Math.min(2, roles.filter((name) => some.includes(name)).length)

/** What it says of the rule in all: by which sort of words, with anything against it or not, and how much else it speaks of. */
function addSense(names: Set<string>, rule: TextReading, sentence: TextReading, ofRule: number): void {
  const against = keepingRoles.some((role) => sentence.allRoles.has(role)) ? "but" : "and"
  const changed = changedValue(rule, sentence)
  const rest = Math.min(3, restOf(rule, sentence).length)
  for (const sort of [...endingRoles.filter((role) => sentence.allRoles.has(role)), "any"]) {
    const sense = `sense ${sort} ${against} ${changed}`
    names.add(sense).add(`${sense} ${rest}`).add(`${sense} ${rest} ${ofRule}`)
  }
  if (sentence.ended.length === 0) return
  const over = sentence.ended.some((key) => hasKey(rule, key)) ? "over" : "over else"
  names
    .add(over)
    .add(`${over} ${against} ${changed}`)
    .add(`${over} ${against} ${rest}`)
    .add(`${over} ${against} ${ofRule}`)
}

/** What a sentence speaks of that is neither in the rule nor a value, nor does anything in a change. */
function restOf(rule: TextReading, { doing, keys, values }: TextReading): readonly string[] {
  const named = [...values.values()].flatMap((some) => [...some])
  return [...keys].filter((key) => !doing.has(key) && !hasKey(rule, key) && !named.some((value) => value.includes(key)))
}

/** Is a sentence as plain as can be: it says that something changes or is over, nothing against it, and next to nothing of anything else? */
export function endsPlainly(ruleText: string, sentenceText: string): boolean {
  // "Never change queue 2" changes nothing.
  const told = withoutCommanded(sentenceText)
  if (!saysChange(told)) return false
  const [rule, sentence] = [readText(ruleText), readText(told)]
  const rest = restOf(rule, sentence).length
  if (rest > mostRest) return false
  return swapsValue(rule, sentence, rest) || swapsName(rule, sentence, rest) || endsThing(rule, sentence, rest)
}
/** Does a sentence say that something changes or is over, and nothing against it? */
function saysChange(sentence: string): boolean {
  const { allRoles } = readRoles(sentence)
  return plainRoles.some((role) => allRoles.has(role)) && !keepingRoles.some((role) => allRoles.has(role))
}
const plainRoles: readonly string[] = ["nowadays", "hence", "change", "nomore", "undo", "stop"]
const mostRest = 2

/** "Stop posting to #ops": what a rule asks for there is over; a rule that forbids something there stays. */
export function stopsThere(ruleText: string, sentenceText: string): boolean {
  const places = ruleText.match(channel) ?? []
  // A rule of two channels is not over with one of them.
  if (places.length === 0 || !places.every((one) => isNamed(sentenceText, one))) return false
  const said = sentenceText.replace(courtesy, "")
  const [rule, sentence] = [readText(ruleText), readText(said)]
  // In writing without blanks a word is read as its pairs of signs: those at its edges are no words, and "もう" says no "も".
  const isDense = ideographic.test(said)
  const keeps = (role: string): boolean => sentence.allRoles.has(role) && !(isDense && role === "also")
  if (banning.some((name) => rule.classes.has(name)) || keepingRoles.some(keeps)) return false
  const [, verb = ""] = stopped.exec(said) ?? []
  if (verb === "" && !overRoles.some((role) => sentence.allRoles.has(role))) return false
  const rest = restOf(rule, sentence).filter((key) => !verb.toLowerCase().startsWith(key))
  // What a rule asks for beside that is not over either.
  const unsaid = [...rule.keys].filter((key) => !hasKey(sentence, key)).length
  return isDense ? rest.length <= mostRest : rest.length === 0 && unsaid <= mostUnsaid
}
const mostUnsaid = 4
/** Does a text name a channel, and no other one that only begins like it? */
function isNamed(text: string, place: string): boolean {
  const at = text.indexOf(place)
  return at >= 0 && !/^(?:[\w-]|\.\w)/.test(text.slice(at + place.length))
}
const courtesy =
  /^(?:(?:sorry|sry|ok(?:ay)?|hey|oh|ah|hmm?|actually|entschuldigung|pardon|désolée?|perd[oó]n|desculpe|scusa|すみません|ごめん(?:なさい)?|不好意思|抱歉|죄송합니다)[\s,.!、。，]+)+/iu
const channel = /(?<![\p{L}\p{N}])[#@][\p{L}\p{N}][\p{L}\p{N}_./-]*[\p{L}\p{N}]|[\w.+-]+@[\w-]+\.[\w.-]*\w/gu
const banning: readonly string[] = ["never", "dont", "not", "forbid"]
const overRoles: readonly string[] = ["nomore", "undo", "stop"]
const stopped = /(?<!\p{L})(?:stop|quit|(?:don['’]?t|do not)(?=.*any ?more)) (\p{L}+)/iu
const ideographic = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** "The cap is 800 now": another value of a sort that the rule has, and about half of what it speaks of. */
function swapsValue(rule: TextReading, sentence: TextReading, rest: number): boolean {
  const changed = changedValue(rule, sentence)
  if (changed === "none" || changed === "name" || (rest > 0 && !namesOld(rule, sentence))) return false
  const named = [...rule.values.values()].flatMap((some) => [...some])
  const own = [...rule.keys].filter((key) => !units.test(key) && !named.some((value) => value.includes(key)))
  const said = own.filter((key) => hasKey(sentence, key))
  if (changed === "tongue") return own.length <= 1 || said.length > 0
  // "Make that 200 words": nothing but what is counted, of which the rule counts as many.
  if (
    rest === 0 &&
    sentence.allRoles.has("change") &&
    [...rule.keys].some((key) => units.test(key) && hasKey(sentence, key))
  )
    return true
  return (said.length > 0 && said.length >= 0.5 * own.length) || said.some(isLimit)
}

/** "The cap is 800 now", of a rule that sets a bound in other words: the sentence speaks of a bound, of another number, and of nothing else. */
export function movesLimit(ruleText: string, sentenceText: string): boolean {
  const rule = readText(ruleText)
  // Few rules set one, and no other needs the sentence read.
  if (!rule.classes.has("limit") || rule.numbers.size === 0 || !saysChange(sentenceText)) return false
  const sentence = readText(sentenceText)
  if (relationOf(rule.numbers, sentence.numbers) !== "other") return false
  const isOfLimit = (key: string): boolean => isLimit(key) || sentence.numbers.has(key) || sentence.doing.has(key)
  return (
    ![...unitSorts].some((sort) => relationOf(rule.values.get(sort), sentence.values.get(sort)) === "other") &&
    [...sentence.keys].some(isLimit) &&
    [...sentence.keys].every(isOfLimit)
  )
}
const unitSorts: readonly string[] = ["currency", "unit"]

/** "Anna left, send it to Tom from now on", "just call me Eva": a name of the rule is over, or all else of it is said with another name. */
function swapsName(rule: TextReading, sentence: TextReading, rest: number): boolean {
  const fresh = [...sentence.names].filter((name) => !hasKey(rule, name))
  if (rule.names.size === 0 || fresh.length !== 1 || rest - fresh.length > 1) return false
  const old = [...rule.names].filter((name) => sentence.keys.has(name))
  if (old.length > 0) return sentence.allRoles.has("left") || sentence.ended.some((key) => old.includes(key))
  const own = [...rule.keys].filter((key) => !rule.names.has(key))
  return own.length > 0 && own.every((key) => hasKey(sentence, key)) && sentence.allRoles.has("undo")
}

/** What is counted tells little of what a rule is about. */
const units =
  /^(?:minut|hour|second|day|week|month|year|word|page|line|percent|euro|dollar|pound|stund|tag|heur|jour|mot|hor|dia|palabr)/

/** Does a sentence name the value of the rule beside another one? */
const namesOld = (rule: TextReading, sentence: TextReading): boolean =>
  [...rule.values].some(([sort, values]) => relationOf(values, sentence.values.get(sort)) === "both")

/** "Depths in fathoms, forget the metres": a thing of the rule is over, and half of what it speaks of is said; or it is what the rule begins with. */
function endsThing(rule: TextReading, sentence: TextReading, rest: number): boolean {
  const over = sentence.ended.filter((key) => hasKey(rule, key))
  if (over.length === 0) return false
  const [head = ""] = rule.keys
  const keys = [...rule.keys]
  return (
    keys.filter((key) => hasKey(sentence, key)).length >= 0.5 * keys.length ||
    (rest <= 1 && sentence.allRoles.has("nomore") && sentence.endedAlone.some((key) => isOneWord(key, head)))
  )
}

/** "Postgres 16 from now on": of what has a name, another number is a later version of it; "table 2" is another table. */
export function namesLater(ruleText: string, sentenceText: string): boolean {
  const [rule, sentence] = [readText(ruleText), readText(sentenceText)]
  const isVersion = sentence.tokens.some(
    ({ keys: [key = ""] }, n) => rule.names.has(key) && sentence.tokens[n + 1]?.sort === "number",
  )
  return isVersion && sentence.allRoles.has("hence") && restOf(rule, sentence).length === 0
}

/** Does a sentence forbid or ask for something, and speak of no change beside: "never lift table 1"? It is a rule of its own. */
export function onlyCommands(sentence: string): boolean {
  const rest = withoutCommanded(sentence)
  // "Without asking" in a ban allows nothing.
  return rest !== sentence && !endingRoles.some((role) => role !== "fine" && readRoles(rest).allRoles.has(role))
}

/** What the other sentences of the message say; the first of `all` is the sentence itself. */
function addOthers(names: Set<string>, rule: TextReading, all: readonly TextReading[]): void {
  for (const { classes, allRoles, keys, asks } of all.slice(1)) {
    for (const name of classes) names.add(`o ${name}`)
    for (const name of allRoles) names.add(`o+ ${name}`)
    if ([...keys].some((key) => hasKey(rule, key))) names.add("o shares")
    if (asks) names.add("o asks")
  }
  const length = all.reduce((sum, { tokens }) => sum + tokens.length, 0)
  const anywhere = [...rule.keys].filter((key) => all.some((one) => hasKey(one, key))).length
  names
    .add(`all ${Math.min(6, all.length)}`)
    .add(`all length ${Math.min(10, Math.floor(length / 8))}`)
    .add(`all said ${part(shareOf(anywhere, rule.keys.size), 5)}`)
  if (all.some(({ quotes }) => quotes)) names.add("all quotes")
  if (all.some(({ asks }) => asks)) names.add("all asks")
}

/** Which sort of value of the rule the sentence puts another in the place of. */
function changedValue(rule: TextReading, sentence: TextReading): "number" | "tongue" | "value" | "name" | "none" {
  const isOther = (before: ReadonlySet<string> | undefined, after: ReadonlySet<string> | undefined): boolean =>
    ["other", "both"].includes(relationOf(before, after))
  const sorts = [...sentence.values.keys()].filter((sort) => isOther(rule.values.get(sort), sentence.values.get(sort)))
  if (sorts.includes("number") || isOther(rule.numbers, sentence.numbers)) return "number"
  if (isOther(rule.tongues, sentence.tongues)) return "tongue"
  if (sorts.length > 0) return "value"
  return isOther(rule.names, sentence.names) ? "name" : "none"
}

/** What the values of one sort in a sentence are to those of the rule. */
const relationOf = (before: ReadonlySet<string> | undefined, after: ReadonlySet<string> | undefined): string => {
  if (before === undefined || before.size === 0) return after === undefined || after.size === 0 ? "none" : "new"
  if (after === undefined || after.size === 0) return "unsaid"
  const same = [...after].filter((value) => before.has(value)).length
  return same === 0 ? "other" : same === after.size ? "same" : "both"
}

/** What sort of rule it is. */
function kindsOf({ classes, values }: TextReading): readonly string[] {
  const kinds = ruleKinds.filter((name) => classes.has(name))
  return [
    ...kinds,
    ...(values.has("number") ? ["number"] : []),
    ...(["never", "dont", "forbid", "not"].some((name) => classes.has(name)) ? ["bans"] : ["orders"]),
  ]
}
const ruleKinds = ["only", "ask", "before", "limit", "tongue", "unless"]
