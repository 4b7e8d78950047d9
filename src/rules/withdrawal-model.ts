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
 * Two linear models that tell whether a sentence takes a rule back or puts something else in its place. One scores whether the sentence is
 * about the subject of the rule, by what both have in common. The other scores whether it ends the rule, by its words, of which those that
 * are in the rule are masked. A rule is ended if both say so.
 */

/** Size of the table that features are hashed into; most entries are empty. */
export const withdrawalTable: number = 1 << 17

type Table = { readonly levels: Int8Array; readonly weights: Float32Array; readonly bias: number }
const tableOf = (encoded: string, step: number, bias: number): Table => ({
  levels: readLevels(encoded, withdrawalTable),
  weights: weightsOfLevels(step),
  bias,
})
const subjectTable = lazy(() => tableOf(subjectWeights, subjectStep, subjectBias))
const endTable = lazy(() => tableOf(endWeights, endStep, endBias))

const scoreOf = ({ levels, weights, bias }: Table, ids: readonly number[]): number =>
  ids.reduce((sum, id) => sum + (weights[(levels[id] ?? 0) + zeroLevel] ?? 0), bias)

/** Return the log odds that the sentence is about the rule, and that it ends the rule. `others` are the other sentences of the message. */
export const subjectScore = (rule: string, sentence: string, others: readonly string[]): number =>
  scoreOf(subjectTable(), subjectFeatures(rule, sentence, others))
export const endScore = (rule: string, sentence: string, others: readonly string[]): number =>
  scoreOf(endTable(), endFeatures(rule, sentence, others))

/** Returns the FNV-1a hash of a feature name, folded into the table. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return ((hash >>> 15) ^ hash) & (withdrawalTable - 1)
}
const hashed = (names: ReadonlySet<string>): readonly number[] => [...new Set([...names].map(hashOf))]

/** True if a rule and a sentence have anything in common that both could be about. */
export function mayWithdraw(rule: string, sentence: string): boolean {
  const [one, two] = [readKeys(rule), readKeys(sentence)]
  for (const key of two.keys) if (hasKey(one, key)) return true
  return (namesTongue(rule) && namesTongue(sentence)) || movesLimit(rule, sentence)
}

/** Returns how many of `parts` equal parts a share fills, rounded up. */
const quantize = (share: number, parts: number): number => Math.ceil(share * parts)
const ratio = (some: number, all: number): number => some / Math.max(1, all)

/** Returns features for how much of the rule is repeated, in the sentence and in the whole message, and by which words and values. */
export function subjectFeatures(ruleText: string, sentenceText: string, others: readonly string[]): readonly number[] {
  const [rule, sentence] = [readText(ruleText), readText(sentenceText)]
  const around = others.map(readText)
  const keys = [...rule.keys]
  const said = keys.filter((key) => hasKey(sentence, key))
  const anywhere = keys.filter((key) => hasKey(sentence, key) || around.some((other) => hasKey(other, key)))
  const ofRule = ratio(said.length, keys.length)
  const ofSentence = ratio([...sentence.keys].filter((key) => hasKey(rule, key)).length, sentence.keys.size)
  const totalLength = (some: readonly string[]): number => some.reduce((sum, key) => sum + key.length, 0)
  const names = new Set([
    `s rule ${quantize(ofRule, 6)}`,
    `s all ${quantize(ratio(anywhere.length, keys.length), 6)}`,
    `s sentence ${quantize(ofSentence, 6)}`,
    `s both ${quantize(ofRule, 4)}/${quantize(ofSentence, 4)}`,
    `s count ${Math.min(5, said.length)}`,
    `s of ${Math.min(4, said.length)}/${Math.min(6, keys.length)}`,
    `s longest ${Math.min(10, Math.max(0, ...said.map(({ length }) => length)))}`,
    `s signs ${quantize(ratio(totalLength(said), totalLength(keys)), 6)}`,
    `s sum ${Math.min(8, Math.floor(totalLength(said) / 4))}`,
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

/** Returns the features that tell whether a sentence ends a rule, each once. */
export function endFeatures(ruleText: string, sentenceText: string, others: readonly string[]): readonly number[] {
  const names = new Set<string>()
  const [rule, sentence] = [readText(ruleText), readText(sentenceText)]
  const masked = maskedTokens(rule, sentence)
  addWords(names, masked)
  addPlaces(names, rule, sentence)
  const count = [...sentence.keys].filter((key) => hasKey(rule, key)).length
  const [ofRule, ofSentence] = [ratio(count, rule.keys.size), ratio(count, sentence.keys.size)]
  names
    .add(`rule ${quantize(ofRule, 5)}`)
    .add(`said ${quantize(ofSentence, 5)}`)
    .add(`count ${Math.min(4, count)}`)
    .add(`both ${quantize(ofRule, 5)}/${quantize(ofSentence, 5)}`)
  addRoles(names, rule, sentence, quantize(ofRule, 3), quantize(ofSentence, 3))
  addSense(names, rule, sentence, quantize(ofRule, 3))
  if (sentence.asks) names.add("asks")
  if (sentence.quotes) names.add("quotes")
  addOthers(names, rule, [sentence, ...others.map(readText)])
  return hashed(names)
}

/** A token of the sentence with words of the rule masked, as a word and as a class. */
type MaskedToken = { readonly word: string; readonly form: string; readonly isShared: boolean }

function maskedTokens(rule: TextReading, sentence: TextReading): readonly MaskedToken[] {
  return sentence.tokens.flatMap((token, n): readonly MaskedToken[] => {
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
const shared = (word: string): MaskedToken => ({ word, form: word, isShared: true })
const unshared = (word: string, form: string): MaskedToken => ({ word, form, isShared: false })
const twice = (word: string): readonly [string, string] => [word, word]

/** Masks a run without blanks: one token for each part that the rule has too, and pairs of characters of the rest. */
function maskedRun(run: string, rule: TextReading): readonly MaskedToken[] {
  const masked: MaskedToken[] = []
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

/** Adds the tokens of the sentence and pairs of neighbours, as words and as classes. */
function addWords(names: Set<string>, masked: readonly MaskedToken[]): void {
  const at = (n: number): MaskedToken => masked[n] ?? (n < 0 ? start : end)
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
const start: MaskedToken = { word: "^", form: "^", isShared: false }
const end: MaskedToken = { word: "$", form: "$", isShared: false }

/** Maximum distance in tokens at which a word is near another. */
const near = 3

/**
 * Adds the first words, the kinds of the first and the last content words, the words near those of the rule, and the content words that are
 * not in the rule.
 */
function addPlaces(names: Set<string>, rule: TextReading, { tokens, roles }: TextReading): void {
  const isShared = ({ keys }: Token): boolean => keys.some((key) => hasKey(rule, key))
  const content = tokens.filter(({ keys }) => keys.length > 0)
  const formAt = (at: number): string => {
    const token = content.at(at)
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

/**
 * Adds the roles of the words, combined with the kind of the rule, the share of the rule that is repeated, and the kind of value that is
 * different.
 */
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
/** Roles of words that speak for the end of a rule, and roles that speak against it. */
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

/**
 * Adds features for the sentence as a whole: which roles speak for the end of the rule, whether any speaks against it, and how much else
 * the sentence is about.
 */
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

/** Returns what a sentence is about that is not in the rule, is no value and has no role in a change. */
function restOf(rule: TextReading, { doing, keys, values }: TextReading): readonly string[] {
  const named = [...values.values()].flatMap((some) => [...some])
  return [...keys].filter((key) => !doing.has(key) && !hasKey(rule, key) && !named.some((value) => value.includes(key)))
}

/**
 * True if a sentence ends a rule in the plainest way: it says that something changes or is over, nothing against it, and hardly anything
 * else.
 */
export function endsPlainly(ruleText: string, sentenceText: string): boolean {
  // "Never change queue 2" changes nothing.
  const withoutBans = withoutCommanded(sentenceText)
  if (!saysChange(withoutBans)) return false
  const [rule, sentence] = [readText(ruleText), readText(withoutBans)]
  const rest = restOf(rule, sentence).length
  if (rest > maxRest) return false
  return swapsValue(rule, sentence, rest) || swapsName(rule, sentence, rest) || endsThing(rule, sentence, rest)
}
/** True if a sentence says that something changes or is over, and nothing against it. */
function saysChange(sentence: string): boolean {
  const { allRoles } = readRoles(sentence)
  return plainRoles.some((role) => allRoles.has(role)) && !keepingRoles.some((role) => allRoles.has(role))
}
const plainRoles: readonly string[] = ["nowadays", "hence", "change", "nomore", "undo", "stop"]
const maxRest = 2

/** True if a sentence stops what a rule asks for in a channel: "Stop posting to #ops". A rule that forbids something there stays. */
export function stopsThere(ruleText: string, sentenceText: string): boolean {
  const places = ruleText.match(channel) ?? []
  // A rule about two channels is not over with one of them.
  if (places.length === 0 || !places.every((one) => isNamed(sentenceText, one))) return false
  const said = sentenceText.replace(politeOpening, "")
  const [rule, sentence] = [readText(ruleText), readText(said)]
  // A script without blanks is read as pairs of characters: those at the edge of a word are no words, and "もう" does not contain the word
  // "も".
  const isDense = ideographic.test(said)
  const keeps = (role: string): boolean => sentence.allRoles.has(role) && !(isDense && role === "also")
  if (banning.some((name) => rule.classes.has(name)) || keepingRoles.some(keeps)) return false
  const [, verb = ""] = stopped.exec(said) ?? []
  if (verb === "" && !overRoles.some((role) => sentence.allRoles.has(role))) return false
  const rest = restOf(rule, sentence).filter((key) => !verb.toLowerCase().startsWith(key))
  // What else the rule asks for is not over either.
  const unsaid = [...rule.keys].filter((key) => !hasKey(sentence, key)).length
  return isDense ? rest.length <= maxRest : rest.length === 0 && unsaid <= maxUnnamed
}
const maxUnnamed = 4
/** True if a text names a channel, and not only another one that starts with its name. */
function isNamed(text: string, place: string): boolean {
  const at = text.indexOf(place)
  return at >= 0 && !/^(?:[\w-]|\.\w)/.test(text.slice(at + place.length))
}
const politeOpening =
  /^(?:(?:sorry|sry|ok(?:ay)?|hey|oh|ah|hmm?|actually|entschuldigung|pardon|désolée?|perd[oó]n|desculpe|scusa|すみません|ごめん(?:なさい)?|不好意思|抱歉|죄송합니다)[\s,.!、。，]+)+/iu
const channel = /(?<![\p{L}\p{N}])[#@][\p{L}\p{N}][\p{L}\p{N}_./-]*[\p{L}\p{N}]|[\w.+-]+@[\w-]+\.[\w.-]*\w/gu
const banning: readonly string[] = ["never", "dont", "not", "forbid"]
const overRoles: readonly string[] = ["nomore", "undo", "stop"]
const stopped = /(?<!\p{L})(?:stop|quit|(?:don['’]?t|do not)(?=.*any ?more)) (\p{L}+)/iu
const ideographic = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** True if a sentence has another value of a kind that the rule has, and about half of what the rule is about: "The cap is 800 now". */
function swapsValue(rule: TextReading, sentence: TextReading, rest: number): boolean {
  const changed = changedValue(rule, sentence)
  if (changed === "none" || changed === "name" || (rest > 0 && !namesOld(rule, sentence))) return false
  const named = [...rule.values.values()].flatMap((some) => [...some])
  const own = [...rule.keys].filter((key) => !units.test(key) && !named.some((value) => value.includes(key)))
  const said = own.filter((key) => hasKey(sentence, key))
  if (changed === "tongue") return own.length <= 1 || said.length > 0
  // "Make that 200 words": the sentence only names the unit, which the rule counts in as well.
  if (
    rest === 0 &&
    sentence.allRoles.has("change") &&
    [...rule.keys].some((key) => units.test(key) && hasKey(sentence, key))
  )
    return true
  return (said.length > 0 && said.length >= 0.5 * own.length) || said.some(isLimit)
}

/**
 * True if a sentence changes the limit that a rule sets in other words ("The cap is 800 now"): it is about a limit, another number, and
 * nothing else.
 */
export function movesLimit(ruleText: string, sentenceText: string): boolean {
  // Few rules set a limit; all others need not be read any further, and neither need the sentence.
  if (!readKeys(ruleText).tokens.some(({ sort }) => sort === "number")) return false
  const rule = readText(ruleText)
  if (!rule.classes.has("limit") || !saysChange(sentenceText)) return false
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

/**
 * True if a sentence replaces a name of the rule ("Anna left, send it to Tom from now on", "just call me Eva"): the name is said to be
 * gone, or all else of the rule is repeated with another name.
 */
function swapsName(rule: TextReading, sentence: TextReading, rest: number): boolean {
  const newNames = [...sentence.names].filter((name) => !hasKey(rule, name))
  if (rule.names.size === 0 || newNames.length !== 1 || rest - newNames.length > 1) return false
  const old = [...rule.names].filter((name) => sentence.keys.has(name))
  if (old.length > 0) return sentence.allRoles.has("left") || sentence.ended.some((key) => old.includes(key))
  const own = [...rule.keys].filter((key) => !rule.names.has(key))
  return own.length > 0 && own.every((key) => hasKey(sentence, key)) && sentence.allRoles.has("undo")
}

/** Matches units, which tell little about the subject of a rule. */
const units =
  /^(?:minut|hour|second|day|week|month|year|word|page|line|percent|euro|dollar|pound|stund|tag|heur|jour|mot|hor|dia|palabr)/

/** True if a sentence names the value of the rule beside another one. */
const namesOld = (rule: TextReading, sentence: TextReading): boolean =>
  [...rule.values].some(([sort, values]) => relationOf(values, sentence.values.get(sort)) === "both")

/**
 * True if something in the rule is said to be over ("Depths in fathoms, forget the metres"), and half of what the rule is about is named,
 * or the rule begins with that thing.
 */
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

/**
 * True if a sentence names a later version of something in the rule that has a name: "Postgres 16 from now on". "Table 2" is another table.
 */
export function namesLater(ruleText: string, sentenceText: string): boolean {
  const [rule, sentence] = [readText(ruleText), readText(sentenceText)]
  const isVersion = sentence.tokens.some(
    ({ keys: [key = ""] }, n) => rule.names.has(key) && sentence.tokens[n + 1]?.sort === "number",
  )
  return isVersion && sentence.allRoles.has("hence") && restOf(rule, sentence).length === 0
}

/** True if a sentence forbids or asks for something and mentions no change: "never lift table 1". It is a rule of its own. */
export function onlyCommands(sentence: string): boolean {
  const rest = withoutCommanded(sentence)
  // "Without asking" in a ban allows nothing.
  return rest !== sentence && !endingRoles.some((role) => role !== "fine" && readRoles(rest).allRoles.has(role))
}

/** Adds what the other sentences of the message say; the first of `all` is the sentence itself. */
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
    .add(`all said ${quantize(ratio(anywhere, rule.keys.size), 5)}`)
  if (all.some(({ quotes }) => quotes)) names.add("all quotes")
  if (all.some(({ asks }) => asks)) names.add("all asks")
}

/** Returns the kind of value of the rule that the sentence has another one of. */
function changedValue(rule: TextReading, sentence: TextReading): "number" | "tongue" | "value" | "name" | "none" {
  const isOther = (before: ReadonlySet<string> | undefined, after: ReadonlySet<string> | undefined): boolean =>
    ["other", "both"].includes(relationOf(before, after))
  const sorts = [...sentence.values.keys()].filter((sort) => isOther(rule.values.get(sort), sentence.values.get(sort)))
  if (sorts.includes("number") || isOther(rule.numbers, sentence.numbers)) return "number"
  if (isOther(rule.tongues, sentence.tongues)) return "tongue"
  if (sorts.length > 0) return "value"
  return isOther(rule.names, sentence.names) ? "name" : "none"
}

/** Returns how the values of one kind in a sentence relate to those of the rule. */
const relationOf = (before: ReadonlySet<string> | undefined, after: ReadonlySet<string> | undefined): string => {
  if (before === undefined || before.size === 0) return after === undefined || after.size === 0 ? "none" : "new"
  if (after === undefined || after.size === 0) return "unsaid"
  const same = [...after].filter((value) => before.has(value)).length
  return same === 0 ? "other" : same === after.size ? "same" : "both"
}

/** Returns the kinds of a rule. */
function kindsOf({ classes, values }: TextReading): readonly string[] {
  const kinds = ruleKinds.filter((name) => classes.has(name))
  return [
    ...kinds,
    ...(values.has("number") ? ["number"] : []),
    ...(["never", "dont", "forbid", "not"].some((name) => classes.has(name)) ? ["bans"] : ["orders"]),
  ]
}
const ruleKinds = ["only", "ask", "before", "limit", "tongue", "unless"]
