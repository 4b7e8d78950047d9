import { directs } from "../../language/imperative.ts"
import { lazy } from "../../language/lazy.ts"
import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { createRecent } from "../../message/recall.ts"
import {
  factsSection,
  findingsSections,
  maxLineLength,
  oneLine,
  type SchemaName,
  seenSection,
} from "../summary/summary.ts"
import { sentencesOf } from "./cues.ts"
import lists from "./value-words.json" with { type: "json" }

/**
 * Sentences that say an exact value and what it is: "The preview server listens on port 7078." The sentence is the value's owner, so it is
 * kept verbatim or not at all. A later sentence about the same thing takes the place of an earlier one.
 */
export type ValueStatement = {
  readonly text: string
  readonly values: readonly StatedValue[]
  /** Stems of the words that say what the value is of. */
  readonly subject: ReadonlySet<string>
  /** It says that something is different now. */
  readonly updates: boolean
  /** It asks for something: the same request with another name is another request. */
  readonly asks: boolean
}

type Sort = "mail" | "path" | "date" | "time" | "quantity" | "name"
type StatedValue = { readonly value: string; readonly sort: Sort }

/** E-mail addresses, URLs and paths, dates, times of day, amounts and measures, and names with a figure in them, in this order. */
const patterns: readonly (readonly [Sort, string])[] = [
  ["mail", "[\\w.+%-]+@[\\w-]+(?:\\.[\\w-]+)+"],
  [
    "path",
    "https?://[^\\s\"'`<>)\\]]{3,200}|(?:~|\\.{1,2})?(?:/[\\w.@+-]{1,80}){2,12}|[\\w.@-]{1,80}(?:/[\\w.@+-]{1,80}){1,12}",
  ],
  ["date", "\\d{4}-\\d\\d-\\d\\d(?:T\\d\\d:\\d\\d(?::\\d\\d)?)?"],
  ["time", "(?<!:)(?:[01]?\\d|2[0-3]):[0-5]\\d(?![:\\d])"],
  [
    "quantity",
    "[$€£¥₹]\\s?\\d[\\d.,]*\\d|[$€£¥₹]\\s?\\d|\\d[\\d.,]*\\s?(?:[$€£¥₹%]|(?:ms|s|min|h|kb|mb|gb|kg|km|usd|eur|gbp)(?![\\p{L}\\p{N}]))|[1-9]\\d{3,9}(?![\\p{L}\\p{N}_-])|\\d{1,5}\\.\\d{2,6}(?![\\p{L}\\p{N}_.-])(?:\\s?±\\s?[\\d.]{1,8})?",
  ],
  [
    "name",
    "(?=[\\p{L}\\p{N}_#-]*\\d)(?=0\\d{3}|[\\p{L}\\p{N}_#-]*\\p{L})[\\p{L}\\p{N}_#][\\p{L}\\p{N}_-]*(?:\\.\\d+)*(?:\\.[a-z]{2,5})?",
  ],
]
const anyValue = lazy(
  () =>
    new RegExp(patterns.map(([sort, pattern]) => `(?<${sort}>(?<![\\p{L}\\p{N}_./@-])(?:${pattern}))`).join("|"), "gu"),
)

/** Years, ordinals and words with a figure that everybody knows name nothing. */
const common =
  /^(?:(?:19|20)\d\d|\d+(?:st|nd|rd|th)|(?:utf|sha|md|base|mp|h|ipv|x|es|int|float|uint|python|node|http|oauth|v)-?\d{1,4}|\d+(?:x|k|d)\d*)$/i
const shortestName = 4
/** A word with the number of the next item of a list behind it. */
const glued = /^\p{Ll}+\d$/u

function valuesOf(sentence: string): readonly StatedValue[] {
  const found: StatedValue[] = []
  for (const { groups = {} } of sentence.matchAll(anyValue())) {
    const [sort, , value] =
      patterns.map(([name]) => [name, "", groups[name]] as const).find(([, , text]) => text !== undefined) ?? []
    if (sort === undefined || value === undefined || common.test(value)) continue
    if (sort === "name" && (value.length < shortestName || glued.test(value))) continue
    // One slash between two words (`and/or`) makes no path.
    if (sort === "path" && !/\d|\.\w|^[~./]/.test(value)) continue
    found.push({ value: value.replace(/[.,-]+$/, ""), sort })
  }
  return found
}

const change = new RegExp(`(?<![\\p{L}])${anyOf(lists.changes)}(?![\\p{L}])|${anyOf(lists.changesElsewhere)}`, "iu")

const politeForms = anyOf(
  "(?:could|can|would|will) you (?:please )?|i(?:['’]d| would) like (?:you )?to ",
  "i (?:want|need) (?:you )?to |let['’]s |go ahead and ",
)
/** A nod, and the polite form of a request, before what is asked for. */
const opener = new RegExp(`^(?:${anyOf(lists.nods)}[,.!]*\\s+)*${politeForms}?`, "iu")

/** Words of a request that say that something takes the place of something else. */
const replacement = new RegExp(`(?<![\\p{L}])${anyOf(lists.replaces)}(?![\\p{L}])|改为|改成|改到|変更`, "iu")

/** Words that every sentence has, and those that say that something changed: they name nothing. */
const idle = wordSet(...lists.namesNothing)
const stemLength = 6

const subjectOf = (sentence: string): ReadonlySet<string> =>
  new Set(
    (
      sentence
        .replace(anyValue(), " ")
        .toLowerCase()
        .match(/\p{L}{3,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,2}/gu) ?? []
    )
      .filter((word) => !idle.has(word))
      .map((word) => word.slice(0, stemLength)),
  )

/** A sentence of more letters is a paragraph, and of more values a list. */
const maxLength = 240
const maxValues = 5

/** The sentences of a text that state a value; of one with many the last ones. */
export const valueStatementsIn = createRecent(
  (text: string): readonly ValueStatement[] =>
    sentencesOf(text)
      // Who speaks, the head of a letter, and what a client counts, state nothing.
      .map((sentence) => sentence.replace(speakerLabel, ""))
      .flatMap((sentence) => (unstated.test(sentence) ? [] : (statementOf(sentence) ?? [])))
      .slice(-maxStatements),
  1000,
)
const maxStatements = 24
const speakerLabel = /^\[[^\]\n]{2,60}\]\s+(?=\S)/
const unstated =
  /^(?:From|To|Cc|Date|Sent|Subject|Von|An|Betreff|De|Para|Assunto|Asunto|Objet|À|Da|A|Oggetto): \S|^(?:Tokens: )?[\d.,]+k? (?:tokens )?sent, [\d.,]+k? received|^Cost: \$[\d.]+ (?:message|session|request)\b/

function statementOf(sentence: string): ValueStatement | undefined {
  if (sentence.length > maxLength || !/[\d@/]/.test(sentence) || /[?？]["')]?$|\[…?$/.test(sentence)) return undefined
  const values = valuesOf(sentence)
  if (values.length === 0 || values.length > maxValues) return undefined
  const subject = subjectOf(sentence)
  // "Cancel it now" asks for something, and says nothing of a value that was different before.
  const asks = directs(sentence.replace(opener, ""))
  const updates = (asks ? replacement : change).test(sentence)
  return subject.size === 0 ? undefined : { text: sentence, values, subject, updates, asks }
}

/** A line that is no sentence: code, a log, a table, a listing of files, a page's link or tags. */
const coded = new RegExp(
  anyOf(
    '[(){}[\\];=<>|"`\\\\\\t]|^\\s*\\d|^\\W{2}|^[-dl][r-][w-]|https?:',
    "(?:^|\\s)#[\\p{L} ]|^\\w+ : |^HTTP\\/\\d|^[\\da-f]{7,40}\\s|^index [\\da-f]{7,40}\\.\\.",
    "^(?:Normal|Warning)\\s+[A-Z]\\p{L}+\\s+\\d|^(?:From|Date|Subject|Author|To|Index|Message-ID)[: ]|(?:^|\\s)(?:\\.{1,2}\\/|--?[a-z])|[^.!?:\\s] {2,}\\S|^[^\\s,]+(?:,[^\\s,]*){3,}$",
  ),
  "u",
)
/** What builders and installers say on their way, where they put things for themselves, and the head of a listing. */
const progress = new RegExp(
  `^${anyOf(lists.progress)}(?![\\p{L}])|/[\\da-f]{32,}$|\\bcopyright\\b|\\(c\\) (?:19|20)\\d\\d|©`,
  "iu",
)
const words = /\p{L}{2,}/gu
const leastWords = 3
/** Lines of one output that say something by themselves; an output with more of them is a text to read. */
const mostPrinted = 6
const longestPrinted = 140
const maxOutput = 40_000

/** Does it say more than a name and a value? */
const tellsOwner = ({ text }: ValueStatement): boolean =>
  (text.replace(anyValue(), " ").match(words)?.length ?? 0) >= leastWords

/** Lines of an output that state a value in words, where the rest of it is something else: an output with more than `most` of them is a text. */
export function printedIn(output: string, most: number = mostPrinted): readonly ValueStatement[] {
  const found: ValueStatement[] = []
  const end = Math.min(output.length, maxOutput)
  for (let start = 0; start < end; ) {
    const lineBreak = output.indexOf("\n", start)
    const stop = lineBreak < 0 ? output.length : lineBreak
    if (stop - start >= 10 && stop - start <= longestPrinted) {
      const line = output.slice(start, stop).trim()
      const isNone = coded.test(line) || progress.test(line) || isWrapped(line, output, stop)
      const statement = isNone ? undefined : statementOf(line)
      if (statement !== undefined && tellsOwner(statement)) found.push(statement)
      if (found.length > most) return []
    }
    start = stop + 1
  }
  return found
}

/** Does the sentence of a line go on in the next one? Then it is a text for people. */
const isWrapped = (line: string, output: string, end: number): boolean =>
  !/[.!?:。！？]["')]?$/.test(line) && /^\n[ \t]{0,40}\p{Ll}/u.test(output.slice(end, end + 48))

/** Lines of a file that are looked at, and how many of them are code in one that is no text for people. */
const maxLooked = 60
const mostlyCode = 0.7

/** The same of a file: where it is a text for people, nothing; it can be read again. */
export function printedInFile(output: string): readonly ValueStatement[] {
  const found = printedIn(output, 2)
  if (found.length === 0) return []
  const lines = output.split("\n", maxLooked).filter((line) => line.trim() !== "")
  return lines.filter((line) => coded.test(line)).length >= mostlyCode * lines.length ? found : []
}

/** What somebody says in a full sentence: an item of a list says too little by itself. */
export const toldIn = (text: string): readonly ValueStatement[] =>
  valueStatementsIn(text).filter((statement) => /[.!。！]["')*]{0,2}$/.test(statement.text) && tellsOwner(statement))

/** So much of the shorter subject must stand in the longer one. */
const sameShare = 0.6

/** How many words say of both what they are about, and whether that is enough to speak of the same. */
function sharedSubject(later: ValueStatement, earlier: ValueStatement): { readonly count: number; isSame: boolean } {
  const [few, many] =
    earlier.subject.size <= later.subject.size ? [earlier.subject, later.subject] : [later.subject, earlier.subject]
  let count = 0
  for (const stem of few) if (many.has(stem)) count++
  return { count, isSame: later.updates ? count > 0 && count >= sameShare * few.size : count === many.size }
}

/** Does the later sentence say anew what the earlier one said? */
export const replaces = (later: ValueStatement, earlier: ValueStatement): boolean => replaced(later, earlier).length > 0

/** The values of the earlier sentence that another one of their sort takes the place of. */
const replaced = (later: ValueStatement, earlier: ValueStatement): readonly string[] => {
  const { count, isSame } = sharedSubject(later, earlier)
  if (!isSame) return []
  const longest = Math.max(later.subject.size, earlier.subject.size)
  const isOfLittle = !later.asks && count < Math.min(2, longest) && !replacement.test(later.text)
  const said = new Set(later.values.map(({ value }) => value))
  const countIn = ({ values }: ValueStatement, sort: Sort): number => values.filter((one) => one.sort === sort).length
  return earlier.values.flatMap(({ value, sort }) => {
    if (countIn(later, sort) === 0 || said.has(value)) return []
    // From when to when is not moved by one time of day.
    if ((sort === "time" || sort === "date") && countIn(earlier, sort) > countIn(later, sort)) return []
    // Of several names one that is said again stands for none of the others, the same request about another thing is another request, and
    // what is said of another thing with one word in common is not said of this one.
    const isOther =
      countIn(earlier, sort) > countIn(later, sort) ||
      (!isPlace(earlier, value) && (earlier.asks ? !later.updates : isOfLittle))
    return sort === "name" && isOther ? [] : [value]
  })
}

/** Where or with what something is to be done, rather than the thing that it is done to: "deploy to eu-1", not "cancel W-1". */
function isPlace({ text }: ValueStatement, value: string): boolean {
  const before = text.slice(0, Math.max(0, text.indexOf(value)))
  return /(?:^|\s)(?:to|on|in|onto|into|via|under|as|auf|nach|à|sur|en|на|в)\s+(?:\p{L}+\s+){0,2}$/iu.test(before)
}

/** Put behind a value that another took the place of since. */
const mark = " (superseded)"

/** The same words with a mark behind each value that a later sentence replaced. */
export function markReplaced(text: string, later: readonly ValueStatement[]): string {
  if (later.length === 0) return text
  let marked = text
  for (const statement of valueStatementsIn(text)) {
    const gone = new Set(later.filter((one) => replaces(one, statement)).flatMap((one) => replaced(one, statement)))
    if (gone.size === 0) continue
    const at = marked.indexOf(statement.text)
    if (at < 0) continue
    let sentence = statement.text
    for (const value of gone)
      if (!sentence.includes(`${value}${mark}`)) sentence = sentence.replace(value, () => `${value}${mark}`)
    marked = `${marked.slice(0, at)}${sentence}${marked.slice(at + statement.text.length)}`
  }
  return marked
}

/** A word with a figure in it, and the ways in which people say that one is right and another wrong. */
const figure = "(?=[\\p{L}\\p{N}#._/:@-]*\\d)[\\p{L}\\p{N}#][\\p{L}\\p{N}_./:@-]*(?<![.:/-])"
const negations = ["not", "nicht", "pas", "no", "não", "non", "niet", "nie"]
const replacing = [
  ...["instead of", "rather than", "statt", "au lieu de", "en (?:vez|lugar) de", "em vez de", "invece di"],
  "in plaats van",
]
/** Most sentences with a figure in them have none of these words before one. */
const mayCorrect = new RegExp(`${anyOf(negations, replacing)} [\\p{L}\\p{N}#]`, "iu")
const corrections: readonly RegExp[] = [
  `(?<right>${figure})(?: ?[,(-] ?| )${anyOf(negations)} (?<wrong>${figure})`,
  `(?<right>${figure}) ${anyOf(replacing)} (?<wrong>${figure})`,
  `${anyOf(negations)} (?<wrong>${figure}),? ${anyOf("but", "sondern", "mais", "sino", "(?:e )?sim", "ma", "maar")} (?<right>${figure})`,
].map((pattern) => new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "giu"))

/** What somebody says is wrong, with another value in its place: "typo, SLU-398 not 389". */
export const correctedIn = createRecent(
  (text: string): readonly string[] =>
    text.length > maxCorrection || !/\d/.test(text) || !mayCorrect.test(text)
      ? []
      : corrections.flatMap((pattern) =>
          [...text.matchAll(pattern)].flatMap(({ groups: { right = "", wrong = "" } = {} }) =>
            wrong.length < 2 || right.includes(wrong) ? [] : [wrong],
          ),
        ),
  1000,
)
/** A longer message says more than a slip. */
const maxCorrection = 600

/** The same words with a mark behind a value that was a slip, by itself or behind a prefix: `SLU-389` for 389. */
export function markSlip(text: string, wrong: string): string {
  const value = wrong.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")
  const place = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:[\\p{L}\\p{N}]{1,12}[-_#])?${value}(?![\\p{L}\\p{N}_-]|[.,:]\\d| \\(superseded)`,
    "giu",
  )
  return text.replace(place, (found) => `${found}${mark}`)
}

/** Where a text may be cut near a place: a value is not parted from the mark behind it. */
export function behindMark(text: string, at: number): number {
  const start = text.indexOf(mark, Math.max(0, at - mark.length + 1))
  return start >= 0 && start <= at ? start + mark.length : at
}

/**
 * What was said, with who said it before it where that was not the assistant. Its own sentences have other quotation marks than what is told
 * as seen in tool output, so that no digest that is read back takes one for the other.
 */
export function statementLine(speaker: string, text: string): string {
  const line = oneLine(text, maxLineLength)
  return speaker === assistant
    ? `“${line.replace(/[“”]/g, "'")}”`
    : `${oneLine(speaker, 40)} said "${line.replaceAll('"', "'")}"`
}

/** Who speaks where nobody is named. */
export const assistant = "assistant"
const printed = /^(?:([^"=]{1,48}) said "([^"]+)"|“([^“”]+)”)$/

/** Read a printed statement; nothing if the line is none. */
export function readValueStatement(line: string): (ValueStatement & { readonly speaker: string }) | undefined {
  const [, speaker = assistant, ofTool, own = ""] = printed.exec(line) ?? []
  const text = ofTool ?? own
  const statement = text === "" ? undefined : statementOf(text)
  return statement === undefined ? undefined : { ...statement, speaker }
}

/** Where a value stands: in a record of its owner, or as the sentence of whoever said it. What a tool said is told as seen there. */
export function valueSection(line: string, schema: SchemaName): string {
  const speaker = readValueStatement(line)?.speaker
  if (speaker === undefined) return factsSection
  return speaker === assistant ? findingsSections[schema] : seenSection
}

/**
 * The sentences of somebody's words that state a value which still holds: what is left of a message that has no room. A value in two or three
 * words says nothing by itself.
 */
export function excerptOf(text: string, stands: (sentence: string) => boolean): string | undefined {
  // What the user was asked says nothing without the answer.
  const told = valueStatementsIn(text.replace(/ \(asked: .*$/s, "")).filter(
    (statement) =>
      !statement.text.includes(mark) &&
      !stands(statement.text) &&
      text.includes(statement.text) &&
      statement.text.split(/\s+/).length >= leastExcerptWords,
  )
  return told.length === 0 ? undefined : `… ${told.map((statement) => statement.text).join(" … ")}`
}
const leastExcerptWords = 4

/** Does a text have every sentence of an excerpt? */
export const tellsExcerpt = (text: string, excerpt: string): boolean =>
  excerpt
    .slice(excerptStart.length)
    .split(" … ")
    .every((piece) => text.includes(piece))

const excerptStart = "… "

/** What an earlier digest left of a message. */
export const isExcerpt = (text: string): boolean => text.startsWith(excerptStart)

/** Words that are left of a message, and every value in them was replaced. */
export const isSpent = (text: string): boolean =>
  isExcerpt(text) && text.includes(mark) && text.split(" … ").every((piece) => piece.includes(mark))
