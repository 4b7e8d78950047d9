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
 * A sentence that states an exact value and what it is of: "The preview server listens on port 7078." The sentence is the value's owner,
 * so it is kept verbatim or not at all. A later sentence about the same thing replaces an earlier one.
 */
export type ValueStatement = {
  readonly text: string
  readonly values: readonly StatedValue[]
  /** Stems of the words that say what the value is of. */
  readonly subject: ReadonlySet<string>
  /** True if it says that something has changed. */
  readonly updates: boolean
  /** True if it is a request: the same request with another name is another request. */
  readonly asks: boolean
}

type Sort = "mail" | "path" | "date" | "time" | "quantity" | "name"
type StatedValue = { readonly value: string; readonly sort: Sort }

/** E-mail addresses, URLs and paths, dates, times of day, amounts and measures, and names with a digit, in order of precedence. */
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

/** Years, ordinals and common words with a digit, which name nothing. */
const common =
  /^(?:(?:19|20)\d\d|\d+(?:st|nd|rd|th)|(?:utf|sha|md|base|mp|h|ipv|x|es|int|float|uint|python|node|http|oauth|v)-?\d{1,4}|\d+(?:x|k|d)\d*)$/i
const shortestName = 4
/** A word with the number of the next list item attached. */
const wordWithListNumber = /^\p{Ll}+\d$/u

function valuesOf(sentence: string): readonly StatedValue[] {
  const found: StatedValue[] = []
  for (const { groups = {} } of sentence.matchAll(anyValue())) {
    const [sort, , value] =
      patterns.map(([name]) => [name, "", groups[name]] as const).find(([, , text]) => text !== undefined) ?? []
    if (sort === undefined || value === undefined || common.test(value)) continue
    if (sort === "name" && (value.length < shortestName || wordWithListNumber.test(value))) continue
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
/** An acknowledgement and a polite form before a request. */
const opener = new RegExp(`^(?:${anyOf(lists.nods)}[,.!]*\\s+)*${politeForms}?`, "iu")

/** Words of a request that say that something replaces something else. */
const replacement = new RegExp(`(?<![\\p{L}])${anyOf(lists.replaces)}(?![\\p{L}])|改为|改成|改到|変更`, "iu")

/** Words that name nothing: those that every sentence has, and those that say that something changed. */
const emptyWords = wordSet(...lists.namesNothing)
const stemLength = 6

const subjectOf = (sentence: string): ReadonlySet<string> =>
  new Set(
    (
      sentence
        .replace(anyValue(), " ")
        .toLowerCase()
        .match(/\p{L}{3,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,2}/gu) ?? []
    )
      .filter((word) => !emptyWords.has(word))
      .map((word) => word.slice(0, stemLength)),
  )

/** Limits of a statement in characters and values: a longer sentence is a paragraph, and one with more values a list. */
const maxLength = 240
const maxValues = 5

/** Returns the sentences of a text that state a value; if there are many, the last ones. */
export const valueStatementsIn = createRecent(
  (text: string): readonly ValueStatement[] =>
    sentencesOf(text)
      // A speaker's name, the header of a letter and a client's token counts state nothing.
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
  // "Cancel it now" is a request and does not say that a value has changed.
  const asks = directs(sentence.replace(opener, ""))
  const updates = (asks ? replacement : change).test(sentence)
  return subject.size === 0 ? undefined : { text: sentence, values, subject, updates, asks }
}

/** A line that is no sentence: code, a log, a table, a file listing, a link or a tag. */
const noSentence = new RegExp(
  anyOf(
    '[(){}[\\];=<>|"`\\\\\\t]|^\\s*\\d|^\\W{2}|^[-dl][r-][w-]|https?:',
    "(?:^|\\s)#[\\p{L} ]|^\\w+ : |^HTTP\\/\\d|^[\\da-f]{7,40}\\s|^index [\\da-f]{7,40}\\.\\.",
    "^(?:Normal|Warning)\\s+[A-Z]\\p{L}+\\s+\\d|^(?:From|Date|Subject|Author|To|Index|Message-ID)[: ]|(?:^|\\s)(?:\\.{1,2}\\/|--?[a-z])|[^.!?:\\s] {2,}\\S|^[^\\s,]+(?:,[^\\s,]*){3,}$",
  ),
  "u",
)
/** Progress messages of builders and installers, where they store their own files, and copyright notices. */
const progress = new RegExp(
  `^${anyOf(lists.progress)}(?![\\p{L}])|/[\\da-f]{32,}$|\\bcopyright\\b|\\(c\\) (?:19|20)\\d\\d|©`,
  "iu",
)
const words = /\p{L}{2,}/gu
const leastWords = 3
/** Maximum number of lines of one output that state a value; an output with more of them is a text to read. */
const mostPrinted = 6
const longestPrinted = 140
const maxOutput = 40_000

/** True if it says more than a name and a value. */
const tellsOwner = ({ text }: ValueStatement): boolean =>
  (text.replace(anyValue(), " ").match(words)?.length ?? 0) >= leastWords

/**
 * Returns the lines of an output that state a value in words, if the rest is something else: an output with more than `most` of them is a
 * text.
 */
export function printedIn(output: string, most: number = mostPrinted): readonly ValueStatement[] {
  const found: ValueStatement[] = []
  const end = Math.min(output.length, maxOutput)
  for (let start = 0; start < end; ) {
    const lineBreak = output.indexOf("\n", start)
    const stop = lineBreak < 0 ? output.length : lineBreak
    if (stop - start >= 10 && stop - start <= longestPrinted) {
      const line = output.slice(start, stop).trim()
      const isNone =
        noSentence.test(line) || progress.test(line) || ownerlessField.test(line) || isWrapped(line, output, stop)
      const statement = isNone ? undefined : statementOf(line)
      if (statement !== undefined && tellsOwner(statement)) found.push(statement)
      if (found.length > most) return []
    }
    start = stop + 1
  }
  return found
}

/** A label with a single value and no owner: `Last Transition Time:  2025-11-16T03:10:40Z`. */
const ownerlessField = /^\p{Lu}[\p{L} ]{2,40}:[ \t]{1,40}\S+$/u

/** True if the sentence continues on the next line, as in prose. */
const isWrapped = (line: string, output: string, end: number): boolean =>
  !/[.!?:。！？]["')]?$/.test(line) && /^\n[ \t]{0,40}\p{Ll}/u.test(output.slice(end, end + 48))

/** Limits for a file: how many of its lines are read, and the share of code lines from which it is no prose. */
const maxLooked = 60
const mostlyCode = 0.7

/** Same for a file; returns nothing if it is prose, which can be read again. */
export function printedInFile(output: string): readonly ValueStatement[] {
  const found = printedIn(output, 2)
  if (found.length === 0) return []
  const lines = output.split("\n", maxLooked).filter((line) => line.trim() !== "")
  return lines.filter((line) => noSentence.test(line)).length >= mostlyCode * lines.length ? found : []
}

/** Returns the full sentences that state a value: a list item alone says too little. */
export const toldIn = (text: string): readonly ValueStatement[] =>
  valueStatementsIn(text).filter((statement) => /[.!。！]["')*]{0,2}$/.test(statement.text) && tellsOwner(statement))

/** Share of the shorter subject's words that the longer one must have too. */
const sameShare = 0.6

/** Counts the shared subject words, and tells whether they suffice for both to be about the same thing. */
function sharedSubject(later: ValueStatement, earlier: ValueStatement): { readonly count: number; isSame: boolean } {
  const [few, many] =
    earlier.subject.size <= later.subject.size ? [earlier.subject, later.subject] : [later.subject, earlier.subject]
  let count = 0
  for (const stem of few) if (many.has(stem)) count++
  return { count, isSame: later.updates ? count > 0 && count >= sameShare * few.size : count === many.size }
}

/** True if the later sentence replaces a value of the earlier one. */
export const replaces = (later: ValueStatement, earlier: ValueStatement): boolean =>
  replacedValues(later, earlier).length > 0

/** Returns the values of the earlier sentence that another value of the same sort replaces. */
const replacedValues = (later: ValueStatement, earlier: ValueStatement): readonly string[] => {
  const { count, isSame } = sharedSubject(later, earlier)
  if (!isSame) return []
  const longest = Math.max(later.subject.size, earlier.subject.size)
  const isOfLittle = !later.asks && count < Math.min(2, longest) && !replacement.test(later.text)
  const said = new Set(later.values.map(({ value }) => value))
  const countIn = ({ values }: ValueStatement, sort: Sort): number => values.filter((one) => one.sort === sort).length
  return earlier.values.flatMap(({ value, sort }) => {
    if (countIn(later, sort) === 0 || said.has(value)) return []
    // A single time of day does not change a range of times.
    if ((sort === "time" || sort === "date") && countIn(earlier, sort) > countIn(later, sort)) return []
    // If one of several names is repeated, it replaces none of the others; the same request about another thing is another request; and
    // one shared word is not enough for two statements to be about the same thing.
    const isOther =
      countIn(earlier, sort) > countIn(later, sort) ||
      (!isPlace(earlier, value) && (earlier.asks ? !later.updates : isOfLittle))
    return sort === "name" && isOther ? [] : [value]
  })
}

/** True if a value says where or with what something is done, not what it is done to: "deploy to eu-1", but not "cancel W-1". */
function isPlace({ text }: ValueStatement, value: string): boolean {
  const before = text.slice(0, Math.max(0, text.indexOf(value)))
  return /(?:^|\s)(?:to|on|in|onto|into|via|under|as|auf|nach|à|sur|en|на|в)\s+(?:\p{L}+\s+){0,2}$/iu.test(before)
}

/** Marks a value that another one has replaced. */
const mark = " (superseded)"

/** Marks each value that a later sentence replaced. */
export function markReplaced(text: string, later: readonly ValueStatement[]): string {
  if (later.length === 0) return text
  let marked = text
  for (const statement of valueStatementsIn(text)) {
    const gone = new Set(
      later.filter((one) => replaces(one, statement)).flatMap((one) => replacedValues(one, statement)),
    )
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

/** A word with a digit, and the ways in which people say that one is right and another wrong. */
const figure = "(?=[\\p{L}\\p{N}#._/:@-]*\\d)[\\p{L}\\p{N}#][\\p{L}\\p{N}_./:@-]*(?<![.:/-])"
const negations = ["not", "nicht", "pas", "no", "não", "non", "niet", "nie"]
const replacing = [
  ...["instead of", "rather than", "statt", "au lieu de", "en (?:vez|lugar) de", "em vez de", "invece di"],
  "in plaats van",
]
/** Quick check: most sentences with a digit have none of these words before one. */
const mayCorrect = new RegExp(`${anyOf(negations, replacing)} [\\p{L}\\p{N}#]`, "iu")
const corrections: readonly RegExp[] = [
  `(?<right>${figure})(?: ?[,(-] ?| )${anyOf(negations)} (?<wrong>${figure})`,
  `(?<right>${figure}) ${anyOf(replacing)} (?<wrong>${figure})`,
  `${anyOf(negations)} (?<wrong>${figure}),? ${anyOf("but", "sondern", "mais", "sino", "(?:e )?sim", "ma", "maar")} (?<right>${figure})`,
].map((pattern) => new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "giu"))

/** Returns the values that a text corrects: "typo, SLU-398 not 389". */
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
/** Maximum length of a correction: a longer message is about more than a slip. */
const maxCorrection = 600

/** Marks a corrected slip, alone or behind a prefix: `SLU-389` for 389. */
export function markSlip(text: string, wrong: string): string {
  const value = wrong.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")
  const place = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:[\\p{L}\\p{N}]{1,12}[-_#])?${value}(?![\\p{L}\\p{N}_-]|[.,:]\\d| \\(superseded)`,
    "giu",
  )
  return text.replace(place, (found) => `${found}${mark}`)
}

/** Returns a position near `at` where a text may be cut without separating a value from its mark. */
export function behindMark(text: string, at: number): number {
  const start = text.indexOf(mark, Math.max(0, at - mark.length + 1))
  return start >= 0 && start <= at ? start + mark.length : at
}

/**
 * Formats a statement with its speaker, unless that is the assistant, whose sentences have other quotation marks, so that a digest that is
 * read back never confuses the two.
 */
export function statementLine(speaker: string, text: string): string {
  const line = oneLine(text, maxLineLength)
  return speaker === assistant
    ? `“${line.replace(/[“”]/g, "'")}”`
    : `${oneLine(speaker, 40)} said "${line.replaceAll('"', "'")}"`
}

/** The speaker if none is named. */
export const assistant = "assistant"
const printed = /^(?:([^"=]{1,48}) said "([^"]+)"|“([^“”]+)”)$/

/** Parses a line of `statementLine`; undefined if it is none. */
export function readValueStatement(line: string): (ValueStatement & { readonly speaker: string }) | undefined {
  const [, speaker = assistant, ofTool, own = ""] = printed.exec(line) ?? []
  const text = ofTool ?? own
  const statement = text === "" ? undefined : statementOf(text)
  return statement === undefined ? undefined : { ...statement, speaker }
}

/**
 * Returns the section for a value line: records in the facts, statements of the assistant among the findings, those of a tool as seen in
 * tool output.
 */
export function valueSection(line: string, schema: SchemaName): string {
  const speaker = readValueStatement(line)?.speaker
  if (speaker === undefined) return factsSection
  return speaker === assistant ? findingsSections[schema] : seenSection
}

/**
 * Returns the sentences of a text that state a value still in force: what remains of a message if there is no room for it. Values in fewer
 * than four words are left out, because they say nothing alone.
 */
export function excerptOf(text: string, stands: (sentence: string) => boolean): string | undefined {
  // A question to the user says nothing without the answer.
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

/** True if a text has every sentence of an excerpt. */
export const tellsExcerpt = (text: string, excerpt: string): boolean =>
  excerpt
    .slice(excerptStart.length)
    .split(" … ")
    .every((piece) => text.includes(piece))

const excerptStart = "… "

/** True for what an earlier digest kept of a message. */
export const isExcerpt = (text: string): boolean => text.startsWith(excerptStart)

/** True for an excerpt in which every value has been replaced. */
export const isSpent = (text: string): boolean =>
  isExcerpt(text) && text.includes(mark) && text.split(" … ").every((piece) => piece.includes(mark))
