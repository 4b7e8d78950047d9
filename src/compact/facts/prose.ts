import { instructs } from "../../message/message.ts"
import {
  type Emit,
  type FactKind,
  isOneLine,
  maxLabelLength,
  maxValueLength,
  minValueLength,
  type TextOrigin,
} from "./fact.ts"
import { copulas, type FactLabel, kindOf, labelBefore, sortOf, sorts, trimIdle } from "./kind-of.ts"

/** The values that a text speaks of, each with the words that say what it is. */
export function textMentions(text: string, reading: TextOrigin, emit: Emit): void {
  const own = reading.spoken && reading.channel === "user"
  const take = (phrase: Phrase): void => (own ? state(text, phrase, emit) : mention(text, phrase, emit))
  const within = new Set<number>()
  phrasesIn(text, (phrase) => {
    if (within.size < maxWithin)
      for (const { index } of phrase.value.matchAll(wordStart)) within.add(phrase.start + index)
    take(phrase)
  })
  const takeOutside = (phrase: Phrase): void => (within.has(phrase.start) ? undefined : take(phrase))
  if (reading.spoken && instructs(reading.channel)) saidIn(text, takeOutside)
  else if (reading.channel === "assistant" && !reading.inCall) {
    // A model capitalises many a word; a name of several is something that it speaks of.
    saidIn(text, (phrase) => (phrase.value.includes(" ") ? takeOutside(phrase) : undefined))
  }
  if (reading.inCall) quotedIn(text, take)
  else if (reading.channel === "assistant") commandsIn(text, take)
  definitionsIn(text, take)
  eachWord(text, (word, start) => {
    if (!within.has(start)) valuesOf(word, start, text, reading, emit)
  })
}

/** Words of phrases remembered in one text; one that has more fills its share of the ledger before them. */
const maxWithin = 10_000

/** Where the words of a value of several begin: they are no values of their own. */
const wordStart = /(?<![^ ,\u00a0\u202f])[^ ,\u00a0\u202f]/g

/** `key=value` in one word, as in options, query strings and environment files. */
const assigned = /^(-{0,2}[\p{L}_][\p{L}\p{N}_.-]*)=(.+)$/u
/** `path:line`, and what tools print behind it. */
const located = /^(.*[^\d:]):(\d+)(?::.*)?$/u
/** `path-line-`, as a search prints the lines around what it found. */
const around = /^(.*\.\w{1,5})-\d{1,6}(?:-.*)?$/
/** What stands in a command for a value that is given elsewhere: `$1`. */
const placeholder = /^\$\d{1,2}$/
/** A member of a URL's query. */
const asked = /[?&]([\w.-]{1,32})=([^&#\s]{2,120})/g

function valuesOf(word: string, start: number, text: string, reading: TextOrigin, emit: Emit): void {
  const kind = kindOf(word)
  if (kind === undefined && !word.includes("=") && !word.includes(":")) return
  if (kind === "identifier" && reading.channel !== "user") {
    // Code is full of them, and nothing around one says more of it.
    if (word.length >= minTellingLength && word.length <= maxValueLength)
      emit({ kind, value: word, label: kind, labelFrom: "kind" })
    return
  }
  const accept = (phrase: Phrase, label?: FactLabel): void => accepted(phrase, text, reading, emit, label)
  if (kind === "url")
    for (const query of word.matchAll(asked)) acceptPair(query[1] ?? "", query[2] ?? "", start, accept)
  if ((kind === "path" || kind === "id") && word.includes("-")) {
    const [, path = ""] = around.exec(word) ?? []
    if (kindOf(path) === "path") {
      mention(text, { kind: "path", value: path, start }, emit)
      return
    }
  }
  if (kind !== undefined && kind !== "id") {
    const closesTag = kind === "path" && text[start - 1] === "<"
    if (!closesTag) accept({ kind, value: word, start })
    return
  }
  if (word.includes("=")) {
    const [, key = "", value = ""] = assigned.exec(word) ?? []
    if (acceptPair(key, value, start + word.length - value.length, accept)) return
  }
  if (word.includes(":")) {
    const [, path = "", line = ""] = located.exec(word) ?? []
    if (kindOf(path) === "path") {
      mention(text, { kind: "path", value: path, start }, emit)
      if (reading.spoken && instructs(reading.channel))
        mention(text, { kind: "path", value: `${path}:${line}`, start }, emit)
      return
    }
  }
  if (kind === "id") accept({ kind, value: word, start })
}

function acceptPair(
  key: string,
  value: string,
  start: number,
  accept: (phrase: Phrase, label: FactLabel) => void,
): boolean {
  const kind = kindOf(value)
  if (kind === undefined) return false
  accept({ kind, value, start }, { label: key.replace(/^-+/, "").slice(0, maxLabelLength), labelFrom: "pair" })
  return true
}

/** Kinds that ordinary text is full of once the value is short. */
const common: ReadonlySet<FactKind> = new Set(["identifier", "id", "number"])
const minTellingLength = 4

const year = /^(?:19|20)\d\d$/

/** Numbers are everywhere in outputs: they count where a person or a call brings them up, or where they have a key. */
function accepted(phrase: Phrase, text: string, { spoken, channel }: TextOrigin, emit: Emit, given?: FactLabel): void {
  if (phrase.value.length < minTellingLength && common.has(phrase.kind)) return
  if (year.test(phrase.value) || (channel !== "user" && placeholder.test(phrase.value))) return
  const found = given ?? labelAt(text, phrase)
  const label = spoken || found?.labelFrom === "pair" ? found : unlabelled(phrase.kind)
  if (phrase.kind === "number" && !spoken && label?.labelFrom !== "pair") return
  if (spoken && channel === "user" && given === undefined) state(text, phrase, emit)
  else mention(text, phrase, emit, label)
}

/** What the user says of a value: the words of his sentence say what it is, and whether it takes another's place. */
function state(text: string, phrase: Phrase, emit: Emit): void {
  const { label, updates } = statementAt(text, phrase.start, phrase.value.length)
  const told: Emit = (found) => emit(updates ? { ...found, updates } : found)
  const named =
    label?.labelFrom === "pair" ||
    needsWords.has(phrase.kind) ||
    updates ||
    followsNoun(text.slice(Math.max(0, phrase.start - 40), phrase.start))
  if (label === undefined || !named || selfEvident.has(phrase.kind)) mention(text, phrase, told)
  else if (phrase.value.length >= minValueLength && isOneLine(phrase.value))
    told({ kind: phrase.kind, value: phrase.value, ...label })
}

function mention(text: string, phrase: Phrase, emit: Emit, given?: FactLabel): void {
  const { kind: shape, value } = phrase
  if (value.length < minValueLength || !isOneLine(value)) return
  const kind = shape === "quote" ? (kindOf(value) ?? shape) : shape
  const label = given ?? labelAt(text, phrase)
  const telling = label !== undefined && (label.labelFrom === "pair" ? !selfEvident.has(kind) : needsWords.has(kind))
  const { label: name, labelFrom } = telling ? label : unlabelled(kind)
  emit({ kind, value, label: name, labelFrom })
}

const labelAt = (text: string, { kind, start }: Phrase): FactLabel | undefined =>
  selfEvident.has(kind) ? undefined : labelBefore(text, start)

const unlabelled = (kind: FactKind): FactLabel => ({ label: kind, labelFrom: "kind" })

/** What these are is plain to see; what happens to stand before a colon adds nothing. */
const selfEvident: ReadonlySet<FactKind> = new Set(["command", "identifier", "name", "quote", "error", "line"])

/** These say little without the words that lead up to them: "budget $600", "reservation K7XQ2". */
const needsWords: ReadonlySet<FactKind> = new Set(["id", "amount", "number", "version"])

/** A word longer than a key and its value is data: base64, a minified line. */
const maxWordLength = 2 * maxLabelLength + maxValueLength

/** Prose: letters only, with no capital inside. */
const commonWords = /^[A-Z]?[a-z]+[.:!?]*$/

const untilValue = /^(?:#!|[-+!:=&?])*(?=[\p{L}\p{N}_.$€£¥₹/#@\\~-])/u
/** An option of a command without a value: a program's word, not the work's. */
const isOption = /^--[a-zA-Z][a-zA-Z-]*$/
/** A short option with its value in one word. */
const optionWithValue = /^-[A-Za-z]+\d[\w.]*$/
const afterValue = /[.:!?=&+\\-]+$/
const inOtherScript = /[\x21-\x7e]{3,}/g
const writtenWithoutBlanks = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** Texts shorter than this hardly say a word twice. */
const worthRemembering = 64

/** Shows the words that may be values, each once, in order. A script written without blanks is searched for the Latin runs in it. */
function eachWord(text: string, visit: (word: string, start: number) => void): void {
  const seen = text.length < worthRemembering ? undefined : new Set<string>()
  eachRun(text, (found, start, shape) => {
    if ((shape & unplain) === 0 && commonWords.test(found)) return
    // One look instead of two: what was known leaves the set as it was.
    const known = seen?.size
    if (seen?.add(found).size === known && known !== undefined) return
    if (found.startsWith("--") && isOption.test(found)) return
    const lead = leadOf(found)
    const whole = lead === 0 ? found : found.slice(lead)
    const word = letters & (sortOf[whole.charCodeAt(whole.length - 1)] ?? 0) ? whole : whole.replace(afterValue, "")
    if (word.length < 2) return
    visit(word, start + lead)
    if ((shape & sorts.beyond) === 0 || !writtenWithoutBlanks.test(word)) return
    for (const run of word.matchAll(inOtherScript)) visit(run[0].replace(afterValue, ""), start + lead + run.index)
  })
}

/** How many signs stand before the value in a word. */
function leadOf(found: string): number {
  if (letters & (sortOf[found.charCodeAt(0)] ?? 0) || optionWithValue.test(found)) return 0
  return untilValue.exec(found)?.[0].length ?? 0
}

const letters = sorts.lower | sorts.upper | sorts.digit
/** What no word of prose has. */
const unplain = ~(sorts.lower | sorts.upper | sorts.dot | sorts.colon | sorts.sign)

/** What stands between parting signs, without the words that are letters only with no capital inside. */
function eachRun(text: string, visit: (run: string, start: number, shape: number) => void): void {
  let start = 0
  let shape = 0
  for (let at = 0; at <= text.length; at++) {
    const sort = at < text.length ? (sortOf[text.charCodeAt(at)] ?? 0) : 0
    if (sort !== 0) {
      // A capital counts as a small letter where a word of prose may have one.
      shape |= at === start && sort === sorts.upper ? sorts.lower : sort
      continue
    }
    const length = at - start
    if (length >= 2 && length <= maxWordLength && shape !== sorts.lower) visit(text.slice(start, at), start, shape)
    start = at + 1
    shape = 0
  }
}

/** How far a sentence reaches before and behind a value in it. */
const reachBefore = 160
const reachBehind = 100

const sentenceEnd = /[.!?。！？][\s"')\]]|\n/g

/** Words by which somebody says that a thing is no longer as it was. */
const updating =
  /(?<![\p{L}\p{N}])(?:now|instead|chang(?:e|ed|es|ing)|moved?|switch(?:ed)?|no longer|after all|from (?:here|now) on|since (?:this|today|yesterday|last)|updat(?:e|ed)|new|raised?|lowered?|increased?|reduced?|extended|postponed|replac(?:e|ed|es)|correction|actually|make (?:that|it)|bump(?:ed)?|migrated|renamed|ahora|en (?:vez|lugar) de|cambi(?:o|ó|a|ado|amos)|nuev[oa]|jetzt|stattdessen|geändert|neue[rsn]?|maintenant|désormais|plutôt|nouve(?:au|lle)|теперь|вместо|изменил[аи]?с?ь?|нов(?:ый|ая|ое))(?![\p{L}\p{N}])|现在|改为|改成|换成|更新|不再|今から|変更/iu

/** Verbs that put a value somewhere: they say nothing of what it is. */
const placing: ReadonlySet<string> = new Set(
  "set make use take put keep let's lets please change changed move moved update updated switch switched has have had been bump raise lower now instead new go with pick choose it's".split(
    " ",
  ),
)

/** What a person's sentence says of the value that stands at `start`: what it is, and whether it takes another's place. */
function statementAt(
  text: string,
  start: number,
  length: number,
): { readonly label?: FactLabel; readonly updates: boolean } {
  const before = afterLastEnd(text.slice(Math.max(0, start - reachBefore), start))
  const behind = text.slice(start + length, start + length + reachBehind)
  const rest = behind.slice(0, behind.search(/[.!?。！？](?:\s|$)|\n/) >>> 0)
  const label = labelOf(before)
  return { updates: updating.test(before) || updating.test(rest), ...(label === undefined ? {} : { label }) }
}

function afterLastEnd(text: string): string {
  let from = 0
  for (const { index, 0: end } of text.matchAll(sentenceEnd)) from = index + end.length
  return text.slice(from)
}

/** A name of so many words says what a thing is; more of them tell a story. */
const maxWords = 5

const clauseEnd = /[,;:：=，；、()]|\s[-–—]\s/

/** The words of the last clause that names anything: `it is` does not, and what it means stands before. */
function labelOf(before: string): FactLabel | undefined {
  const clauses = before.trimEnd().split(clauseEnd)
  const last = clauses.at(-1)?.trimEnd() ?? ""
  const stated = last === "" || endsInCopula.test(last)
  for (const clause of clauses.toReversed()) {
    const phrase = nameIn(clause)
    if (phrase.length > 0) return { label: phrase.join(" "), labelFrom: stated ? "pair" : "words" }
    if (clause !== last && clause.trim() !== "") break
  }
  return undefined
}

const endsInCopula = new RegExp(
  `(?:^|\\s)(?:${[...copulas].filter((word) => word !== "=").join("|")})$|[是は为が]$`,
  "iu",
)

/** What a clause leads up to, without the verbs and small words around it. */
function nameIn(clause: string): readonly string[] {
  const words = clause.replace(/[是は为が]\s*$/u, "").match(/[\p{L}_][\p{L}\p{N}_/'’-]*/gu) ?? []
  const isPlacing = (word: string): boolean => placing.has(word.toLowerCase())
  let phrase = trimIdle(words)
  while (phrase.length > 0 && isPlacing(phrase.at(-1) ?? "")) phrase = trimIdle(phrase.slice(0, -1))
  phrase = trimIdle(phrase.slice(phrase.findLastIndex((word) => copulas.has(word.toLowerCase())) + 1))
  phrase = trimIdle(phrase.slice(-maxWords))
  while (phrase.length > 0 && isPlacing(phrase[0] ?? "")) phrase = trimIdle(phrase.slice(1))
  while (phrase.join(" ").length > maxLabelLength) phrase = trimIdle(phrase.slice(1))
  return phrase
}

/** Does a noun with its article stand right before the value: `the branch work/x`? */
const followsNoun = (before: string): boolean =>
  /(?:^|\s)(?:the|an?|my|our|your|this|that|its|der|die|das|den|mein|el|la|le|mi|mon|ma)\s+[\p{L}-]{2,20}\s+["'`]?$/iu.test(
    before,
  )

/** A value of several words and where it starts. */
type Phrase = { readonly kind: FactKind; readonly value: string; readonly start: number }

type Take = (phrase: Phrase) => void

const months = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\\.?"
const ordinal = "(?:st|nd|rd|th)?"

/** A date behind a number is the last change of a file in a listing. */
const dates = new RegExp(
  `(?<!\\d )\\b${months} \\d{1,2}${ordinal}(?:,? \\d{4})?\\b|\\b\\d{1,2}\\.?${ordinal} (?:of )?${months}(?:,? \\d{4})?\\b|\\b\\d{1,2}\\.? \\p{L}{3,10} \\d{4}\\b`,
  "gu",
)
const amounts =
  /[$€£¥₹]\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,4})?(?![\p{L}\p{N}])|\b(?:\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,4}|\d[\d,.]{0,15})[ \u00a0]?(?:USD|EUR|GBP|JPY|CNY|CHF|INR|RUB|dollars|euros|pounds|рублей|руб|元|円|원|€|%|percent|per cent|GB|MB|KB|TB|kg|km|ms|seconds|minutes|hours|days|px)(?![\p{L}\p{N}])/gu
/** Telephone and account numbers in groups. */
const grouped =
  /(?:\+\d[\d ()-]{7,18}\d|\(\d{3}\) ?\d{3}-\d{4}|\b[A-Z]{2}\d{2}(?: [\dA-Z]{4}){2,7}(?: [\dA-Z]{1,4})?|\b\d{4}(?: \d{4}){2,4})(?!\d)/g
const quotes =
  /"([^"\n]{2,120})"|“([^”\n]{2,120})”|`([^`\n]{2,120})`|«([^»\n]{2,120})»|「([^」\n]{2,120})」|『([^』\n]{2,120})』/gu
const shellQuotes = /"(?=[^"\n]{0,120}\p{L}{2})([^"\n]{4,120})"|(?<=[\s=(])'(?=[^'\n]{0,120}\p{L}{2})([^'\n]{4,120})'/gu
const names =
  /(?<=[\p{Ll},:] )(?!I['’])(?:\d{1,5} )?\p{Lu}[\p{Ll}\p{M}'’-]{2,30}(?: \p{Lu}[\p{L}\p{M}'’-]{1,30}){0,3}(?: \d{1,5})?(?![\p{L}\p{N}])/gu
const month = new RegExp(`^${months}$`)

/** Dates, amounts and numbers of several words, in any text. */
function phrasesIn(text: string, take: Take): void {
  if (!/\d[),.]?[ \u00a0\u202f%€元円원]|[ \u00a0]\d|\(\d|\d[KMG]B/.test(text)) return
  takeAll(text, dates, "date", take)
  takeAll(text, amounts, "amount", take)
  takeAll(text, grouped, "id", take)
}

const alone = ({ source, flags }: RegExp): RegExp => new RegExp(`^-?(?:${source})$`, flags.replace("g", ""))
const whole: readonly (readonly [FactKind, RegExp])[] = [
  ["date", alone(dates)],
  ["amount", alone(amounts)],
  ["id", alone(grouped)],
]

/** What a value of several words is if it is nothing but a date, an amount or a number in groups. */
export function kindOfPhrase(value: string): FactKind | undefined {
  if (!/\d/.test(value)) return undefined
  return whole.find(([, pattern]) => pattern.test(value))?.[0]
}

/** What a person put in quotation marks or wrote with a capital in the middle of a sentence: titles, names, places. */
function saidIn(text: string, take: Take): void {
  takeQuotes(text, quotes, take)
  for (const { 0: value, index } of text.matchAll(names)) {
    if (!month.test(value)) take({ kind: "name", value, start: index })
  }
}

/** What stands in quotation marks in a command: the pattern of a search, a commit's message. */
const quotedIn = (text: string, take: Take): void => takeQuotes(text, shellQuotes, take)

function takeAll(text: string, pattern: RegExp, kind: FactKind, take: Take): void {
  for (const { 0: value, index } of text.matchAll(pattern)) take({ kind, value, start: index })
}

function takeQuotes(text: string, pattern: RegExp, take: Take): void {
  for (const found of text.matchAll(pattern)) {
    const value = found.slice(1).find((group) => group !== undefined) ?? ""
    if (value.trim().length >= 4) take({ kind: "quote", value, start: found.index + 1 })
  }
}

/** Agents without tool calls write the command they mean to run in a fence of its own. */
const fenced = /```[a-z]{0,12}\n([^`\n]{4,160})\n```/g

function commandsIn(text: string, take: Take): void {
  for (const { 1: value = "", index } of text.matchAll(fenced)) take({ kind: "command", value, start: index })
}

/** Lines of code that are worth keeping whole: definitions, errors with what they say, and those of a text that a call passed on. */

/** Names that code defines: functions, classes, types, tables. */
const definitions =
  /\b(?:def|class|function|func|fn|interface|struct|enum|trait|module|TABLE|VIEW|INDEX)\s{1,3}(?:IF NOT EXISTS )?([\p{L}_$][\p{L}\p{N}_$]{2,80})(?=\s{0,2}[({:<;=]|\s(?:extends|implements|AS)\b)/gu

/** An error with its message, as it ends a stack trace. */
const errors = /^(?:E {2,8})?((?:[\w.]{1,60}\.)?[A-Z]\w{0,40}(?:Error|Exception|Failure): [^\n]{1,120})$/gm

/** The number of a line in a listing or a search, and what a diff puts before it. */
const lineNumber = /^(?:[\w./-]{1,100}:)?\s{0,8}\d{1,6}(?:[:|\t-]|\s{2,4})|^[+-](?=\s)/

const shortestLine = 8
const longestLine = 120

/** Lines kept of one text that a call passed on: enough to find the place again. */
const maxLinesOfText = 12

type TakeLine = (phrase: Phrase) => void

/** What a text defines, each with the line that defines it, and the errors it tells of. */
function definitionsIn(text: string, take: TakeLine): void {
  for (const { 0: whole, 1: value = "", index } of text.matchAll(definitions)) {
    const start = index + whole.length - value.length
    take({ kind: "identifier", value, start })
    takeLine(lineAt(text, index), index, take)
  }
  if (!text.includes("Error: ") && !text.includes("Exception: ") && !text.includes("Failure: ")) return
  for (const { 0: whole, 1: value = "", index } of text.matchAll(errors)) {
    take({ kind: "error", value, start: index + whole.length - value.length })
  }
}

/** The telling lines of a text of several: those that name or do something. */
export function tellingLines(text: string, take: TakeLine): void {
  let left = maxLinesOfText
  for (let start = 0; start < text.length && left > 0; ) {
    const lineBreak = text.indexOf("\n", start)
    const end = lineBreak < 0 ? text.length : lineBreak
    if (end - start <= 2 * longestLine && takeLine(text.slice(start, end), start, take)) left--
    start = end + 1
  }
}

/** The line around a place, looked for no further than a line worth keeping is long. */
function lineAt(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - longestLine), at)
  const after = text.slice(at, at + longestLine)
  const end = after.indexOf("\n")
  return before.slice(before.lastIndexOf("\n") + 1) + (end < 0 ? after : after.slice(0, end))
}

/** Six words in a row: someone explains something, and no one will pass that on verbatim. */
const sentence = /(?:^|\s)(?:[\p{L}'’]{1,30}[,.]?\s){6}/u

export const isSentence = (text: string): boolean => sentence.test(text)

/** What makes a line more than a bracket or a word. */
const telling = /\p{L}{2}[^\n]*[\s(.=_:/-]|\p{L}\p{N}*\(/u

function takeLine(line: string, start: number, take: TakeLine): boolean {
  const value = line.replace(lineNumber, "").trim()
  if (value.length < shortestLine || value.length > longestLine || !telling.test(value)) return false
  if (isSentence(value)) return false
  take({ kind: "line", value, start })
  return true
}
