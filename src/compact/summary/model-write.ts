import { clipText } from "../../language/cut-text.ts"
import { anyOf } from "../../language/word-lists.ts"
import { HoldfastError, type Problem } from "../../message/errors.ts"
import type { Transcript, Usage } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import failures from "./failure-words.json" with { type: "json" }
import { type Expected, expectedLanguage, isOtherLanguage } from "./model-language.ts"
import { type PromptInput, promptFor, type SummaryPrompt } from "./prompt.ts"
import { promptPieces } from "./prompt-fit.ts"
import { type LineState, type SchemaName, type Summary, type SummaryLine, writtenSections } from "./summary.ts"

/** Asks a model one question; rejects if there is no answer. */
export type AskModel = (question: {
  readonly system: string
  readonly user: string
}) => Promise<{ readonly text: string; readonly usage?: Usage }>

/** Why an attempt gave no summary: the answer was rejected, the call failed, or a custom function threw. */
type AttemptFailure =
  | { readonly type: "rejected"; readonly reason: RejectReason }
  | { readonly type: "problem"; readonly problem: Problem }
  | { readonly type: "threw"; readonly name: string }

/**
 * One attempt at a summary and its outcome. It contains no text of the answer or of a foreign error, because either may contain a secret.
 */
export type SummaryEvent = {
  readonly type: "summary-attempted"
  readonly writer: "model" | "custom"
  readonly attempt: number
  readonly outcome: "written" | AttemptFailure["type"]
  readonly failure?: AttemptFailure
  readonly usage?: Usage
  readonly leftOut?: LeftOut
  /** Number of lines without an existing source. */
  readonly unsourced?: number
}

export type WrittenSummary = { readonly summary?: Summary; readonly events: readonly SummaryEvent[] }

/** A model that failed twice will fail again, and the summary without a model is ready. */
const maxAttempts = 2

/**
 * Has a model write the summary. A rejected answer is requested once more with the reason; a failed call is not repeated. It never
 * rejects: on failure there is no summary, and the events say why.
 */
export async function writeWithModel(ask: AskModel, input: PromptInput): Promise<WrittenSummary> {
  const prompt = promptFor(input)
  const judge = createJudge(input, prompt)
  const events: SummaryEvent[] = []
  let question: SummaryPrompt = prompt
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const head = { type: "summary-attempted", writer: "model", attempt } as const
    let answer: Awaited<ReturnType<AskModel>>
    try {
      answer = await ask({ system: question.system, user: question.user })
    } catch (error) {
      const failure = attemptFailure(error)
      return { events: [...events, { ...head, outcome: failure.type, failure }] }
    }
    const usage = present({ usage: answer.usage })
    const read = judge(answer.text)
    if (read.ok) {
      const { summary, leftOut, unsourced } = read
      return { summary, events: [...events, { ...head, outcome: "written", leftOut, unsourced, ...usage }] }
    }
    events.push({ ...head, outcome: "rejected", failure: { type: "rejected", reason: read.reason }, ...usage })
    question = { ...prompt, user: `${prompt.user}\n\n${retryRequest(read.reason)}` }
  }
  return { events }
}

const retryRequest = (reason: RejectReason): string =>
  `Your last answer could not be used: ${reasonText(reason)}. Write it again, and give nothing but the JSON object.`

export function attemptFailure(error: unknown): AttemptFailure {
  if (error instanceof HoldfastError) return { type: "problem", problem: error.problem }
  return { type: "threw", name: error instanceof Error ? error.name.slice(0, 100) : typeof error }
}

type Judged = (Extract<ReadAnswer, { ok: true }> & { readonly unsourced: number }) | Extract<ReadAnswer, { ok: false }>

function createJudge({ messages, schema, previous, language }: PromptInput, { shown }: SummaryPrompt) {
  const earlier = previous?.sections.flatMap(({ lines }) => lines.flatMap(({ sources }) => sources)) ?? []
  const known: ReadonlySet<string> = new Set([...shown, ...earlier])
  const expected = expectedLanguage(language, userText(messages))
  return (text: string): Judged => {
    const read = readSummaryAnswer(text, schema)
    return read.ok ? acceptSourced(read, known, expected) : read
  }
}

/** Returns the user's words, from which the language is detected. */
export const userText = (messages: Transcript): string =>
  promptPieces(messages)
    .filter(({ channel, kind }) => channel === "user" && kind === "words")
    .map(({ text }) => text)
    .join("\n")

/** Keeps only sources that exist, and accepts the rest if it is a summary in the right language. */
export function acceptSourced(
  read: Extract<ReadAnswer, { ok: true }>,
  known: ReadonlySet<string>,
  expected: Expected | undefined,
): Judged {
  const { summary, unsourced } = keepSourced(read.summary, known)
  const text = textOfSummary(summary)
  if (text === "") return { ok: false, reason: { code: "no-known-source" } }
  const kind = looksLikeFailure(text)
  if (kind !== undefined) return { ok: false, reason: { code: "failure-text", kind } }
  if (expected !== undefined && isOtherLanguage(text, expected))
    return { ok: false, reason: { code: "wrong-language", expected: expected.name } }
  return { ...read, summary, unsourced }
}

const textOfSummary = ({ sections }: Summary): string =>
  sections.flatMap(({ lines }) => lines.map(({ text }) => text)).join("\n")

/** Drops sources that do not exist, and lines without any source. */
function keepSourced(summary: Summary, known: ReadonlySet<string>) {
  let unsourced = 0
  const sections = summary.sections.flatMap(({ name, lines }) => {
    const kept = lines.flatMap((line) => {
      const sources = [...new Set(line.sources.flatMap((id) => knownId(id, known) ?? []))]
      if (sources.length === 0) unsourced++
      return sources.length === 0 ? [] : [{ ...line, sources }]
    })
    return kept.length === 0 ? [] : [{ name, lines: kept }]
  })
  return { summary: { ...summary, sections }, unsourced }
}

/** Returns the id that a source means: as it stands, before a colon, or without brackets and blanks. */
const knownId = (id: string, known: ReadonlySet<string>): string | undefined =>
  [id, id.split(":")[0] ?? "", id.replace(/[\s()[\]#<>]/g, "")].find((meant) => known.has(meant))

/** Why an answer was rejected. It never contains text of the answer. */
type RejectReason =
  | { readonly code: "too-long"; readonly length: number; readonly limit: number }
  | { readonly code: "not-json" }
  | { readonly code: "several-objects" }
  | { readonly code: "wrong-shape"; readonly at: string; readonly expected: string }
  | { readonly code: "no-lines" }
  | { readonly code: "no-known-source" }
  | { readonly code: "failure-text"; readonly kind: string }
  | { readonly code: "wrong-language"; readonly expected: string }

export type ReadAnswer =
  | { readonly ok: true; readonly summary: Summary; readonly leftOut: LeftOut }
  | { readonly ok: false; readonly reason: RejectReason }

/** Maximum number of objects tried in a text: a model that puts more braces around its answer has not answered. */
const maxTries = 50

const states: ReadonlySet<string> = new Set(["done", "failed", "pending", "next"])
const isState = (value: unknown): value is LineState => typeof value === "string" && states.has(value)

const lineFields = new Set(["text", "from", "state"])

const reject = (reason: RejectReason): ReadAnswer => ({ ok: false, reason })
const wrongShape = (at: string, expected: string): RejectReason => ({ code: "wrong-shape", at, expected })
const isReason = (value: DraftLine | RejectReason): value is RejectReason => "code" in value

/**
 * Reads a model's answer. Text around the one JSON object is ignored, but an error inside it rejects the answer; unknown sections and
 * fields are left out and counted.
 */
export function readSummaryAnswer(text: string, schema: SchemaName): ReadAnswer {
  if (text.length > maxAnswerLength) return reject({ code: "too-long", length: text.length, limit: maxAnswerLength })
  const found = objectsIn(text)
  if (found.length > 1) return reject({ code: "several-objects" })
  const [answer] = found
  return answer === undefined ? reject({ code: "not-json" }) : readDraft(answer, schema)
}

/** Reads an answer that is already parsed. */
export function readDraft(answer: Readonly<Record<string, unknown>>, schema: SchemaName): ReadAnswer {
  const { sections } = answer
  if (!isObject(sections)) return reject(wrongShape("sections", "an object of sections"))
  const names = writtenSections(schema).map(({ name }) => name)
  const known = names.filter((name) => Object.hasOwn(sections, name))
  const lines: DraftLine[] = []
  let fields = Object.keys(answer).length - 1
  for (const section of known) {
    const items = sections[section]
    if (!Array.isArray(items)) return reject(wrongShape(section, "a list of lines"))
    for (const item of items) {
      const line = readLine(item, section)
      if (isReason(line)) return reject(line)
      fields += Object.keys(item).filter((name) => !lineFields.has(name)).length
      lines.push(line)
    }
  }
  const read = summaryOf(lines, schema, { sections: Object.keys(sections).length - known.length, fields })
  return read.summary.sections.length === 0 ? reject({ code: "no-lines" }) : { ok: true, ...read }
}

function readLine(item: unknown, section: string): DraftLine | RejectReason {
  if (!isObject(item)) return wrongShape(section, `lines of the form {"text":"…","from":["…"]}`)
  const { text, from, state } = item
  if (typeof text !== "string") return wrongShape(`${section}.text`, "a string")
  if (!Array.isArray(from) || !from.every((id) => typeof id === "string"))
    return wrongShape(`${section}.from`, "a list of ids")
  return { section, text, from, ...present({ state: isState(state) ? state : undefined }) }
}

/** Returns the JSON objects of a text: the whole text, or those between prose and code fences. */
export function objectsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const whole = tryParse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))
  if (isObject(whole)) return [whole]
  const objects = spansOf(text).map(([start, end]) => tryParse(text.slice(start, end)))
  return objects.filter(isObject).filter((object) => Object.hasOwn(object, "sections"))
}

/** Returns the spans of outermost braces; braces in strings do not count, nor do quotation marks between objects. */
function spansOf(text: string): readonly (readonly [start: number, end: number])[] {
  const spans: [number, number][] = []
  let depth = 0
  let start = 0
  let quoted = false
  for (let at = Math.max(0, text.indexOf("{")); at < text.length && spans.length < maxTries; at++) {
    const sign = text[at]
    if (quoted) {
      if (sign === "\\") at++
      else if (sign === '"') quoted = false
    } else if (sign === '"') quoted = depth > 0
    else if (sign === "{") {
      if (depth === 0) start = at
      depth++
    } else if (sign === "}" && depth > 0) {
      depth--
      if (depth === 0) spans.push([start, at + 1])
    }
  }
  return spans
}

/** Tells a model what was wrong with its answer. */
function reasonText(reason: RejectReason): string {
  switch (reason.code) {
    case "too-long":
      return `it has ${reason.length} characters, and at most ${reason.limit} are read`
    case "not-json":
      return "it holds no JSON object"
    case "several-objects":
      return "it holds more than one JSON object"
    case "wrong-shape":
      return `${reason.at} must be ${reason.expected}`
    case "no-lines":
      return "it holds no line in any of the sections"
    case "no-known-source":
      return `no line names in "from" a message that you were shown`
    case "failure-text":
      return "it is not a summary"
    case "wrong-language":
      return `it is not written in ${reason.expected}`
  }
}

/** A line as a summarizer wrote it, not yet checked. */
export type DraftLine = {
  readonly section: string
  readonly text: string
  readonly from: readonly string[]
  readonly state?: LineState
}

/** Counts of what was left out of an answer. */
type LeftOut = {
  readonly sections: number
  readonly fields: number
  /** Lines beyond the maximum, and lines without letters or digits. */
  readonly lines: number
  /** Lines that were shortened to the maximum length. */
  readonly cut: number
}

/** Maximum length of an answer, ten times the largest useful summary; a longer one is rejected without parsing. */
export const maxAnswerLength = 400_000

/** Maximum length of a line in characters: 60 words and a path or two. */
export const maxModelLineLength = 800

/** Maximum number of lines of a summary; a good one has 20 to 60. */
export const maxLines = 200

/** Maximum number of sources of one line. */
const maxSources = 20

/** Lower bound of the worth of a section's later lines, as a share of the first. */
const leastShare = 0.5

/** Puts a text on one line: line breaks, control characters and direction marks become a blank. */
export const flatten = (text: string): string =>
  text
    .replace(/[\s\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .toWellFormed()
    .trim()

/**
 * Turns the lines of a draft into a summary, in the schema's order. The words are the assistant's; the gate decides what authority a line
 * has.
 */
export function summaryOf(
  drafts: readonly DraftLine[],
  schema: SchemaName,
  before: Pick<LeftOut, "sections" | "fields">,
): { readonly summary: Summary; readonly leftOut: LeftOut } {
  const flat = drafts.slice(0, maxLines).map((draft) => ({ ...draft, text: flatten(draft.text) }))
  const said = flat.filter(({ text }) => /[\p{L}\p{N}]/u.test(text))
  const sections = writtenSections(schema).flatMap(({ name, worth }) => {
    const own = said.filter(({ section }) => section === name)
    const lines = own.map(({ text, from, state }, n): SummaryLine => {
      return {
        text: clipText(text, maxModelLineLength),
        sources: [...new Set(from)].slice(0, maxSources),
        channel: "assistant",
        worth: worth * (1 - ((1 - leastShare) * n) / own.length),
        ...present({ state }),
      }
    })
    return lines.length === 0 ? [] : [{ name, lines }]
  })
  const cut = said.filter(({ text }) => text.length > maxModelLineLength).length
  return {
    summary: { schema, sections },
    leftOut: { ...before, lines: drafts.length - said.length, cut },
  }
}

/** What a text is that came instead of a summary. */
type FailureKind = "empty" | "html-page" | "error-object" | "stack-trace" | "error-message" | "refusal"

/** Maximum length of an error message or refusal: a longer text that begins like one goes on to say something. */
const longestMessage = 600

/** Minimum number of headings and list items that show that a text was written as a summary, whatever it begins with. */
const structuredLines = 3

/** Number of characters examined: the beginning shows what a text is. */
const readLength = 20_000

const frame =
  /^\s*(?:at\s+\S.{0,300}[:(]\S*:\d+|at\s+[\w$.<>]+\([^)]{0,200}\)|File "[^"]{1,300}", line \d+|\.{3} \d+ more|goroutine \d+ \[|\S{1,200}\.(?:go|rs|rb|php|java):\d+)/
const traceback =
  /^(?:Traceback \(most recent call last\)|(?:Uncaught\s+)?(?:[\w$.]{0,80}(?:Error|Exception))\b[^\n]{0,500}\n\s+at\s|panic: [^\n]{0,500}\n+goroutine|thread '[^'\n]{0,100}' panicked at)/

const errorNouns = anyOf("[\\w$.]{0,80}(?:error|exception)|failure|panic|fehler|erreur|errore|erro|ошибка|错误|エラー")
const errorNames = anyOf("(?:uncaught|unhandled|fatal|internal|runtime|api|http|request|server|network|upstream)\\s+")
const errorName = new RegExp(`^${errorNames}{0,2}${errorNouns}\\s{0,2}(?:\\(?\\s?\\d{3}\\)?\\s{0,2})?[:：]`, "i")
const status = new RegExp(
  `^(?:(?:http\\S{0,10}|status|error|code|request failed|failed)[\\s:(]{0,4}){0,4}(?:with\\s)?(?:status\\s)?(?:code\\s)?[45]\\d\\d\\b\\)?[\\s:,-]{0,4}(?:$|${anyOf(failures.statusWords)}|[{<])`,
  "i",
)
const brokenService = new RegExp(`^(?:the\\s)?${anyOf(failures.brokenService)}\\b`, "i")

const declines =
  "(?:help|assist|comply|do (?:that|this|so)|provide|fulfil|summar|continue|process|complete|create|generate|produce|respond|answer|discuss|engage|share|write|access|see|support|with (?:that|this))"
const refusals: readonly RegExp[] = [
  /^(?:i am|i'm|we are|we're)?\s?(?:very |so |truly )?(?:sorry|afraid)\b.{0,40}\b(?:i|we)\s?(?:can't|cannot|can not|am unable|'m unable|am not able|'m not able|won't|are unable)/i,
  new RegExp(
    `^(?:unfortunately,? |regrettably,? )?(?:i|we)\\s?(?:can't|cannot|can not|won't|will not|must decline to|am unable to|'m unable to|am not able to|'m not able to|am not allowed to)\\s(?:\\w+ ){0,2}?${declines}`,
    "i",
  ),
  /^(?:i must|i have to|i'll have to|i) (?:decline|refuse)\b/i,
  /^as an ai(?: language)?(?: model| assistant)?,? i (?:can't|cannot|can not|am unable|am not able|don't)/i,
  /^(?:es )?tut mir leid.{0,30}\bich\b.{0,30}\b(?:nicht|kein)|^ich kann .{0,60}\bnicht (?:helfen|zusammenfassen|beantworten|nachkommen|fortfahren)/i,
  /^(?:je suis |je )?(?:désolée?|regrette).{0,30}\bje ne (?:peux|suis|puis)/i,
  /^lo siento.{0,30}\bno (?:puedo|me es posible)/i,
  /^(?:desculpe|sinto muito|lamento).{0,30}\bnão (?:posso|consigo)/i,
  /^mi dispiace.{0,30}\bnon (?:posso|sono in grado)/i,
  /^(?:извините|простите|к сожалению|мне жаль).{0,30}не (?:могу|имею)/i,
  /^(?:非常|很)?(?:抱歉|对不起|對不起).{0,20}(?:无法|不能|不可以|無法)/,
  /^申し訳(?:ありません|ございません).{0,40}(?:できません|できかね|いたしかね)/,
  /^죄송(?:합니다|하지만).{0,40}(?:없습니다|못)/,
]

/**
 * Returns what kind of failure a text is, if it is an error, a refusal or empty rather than a summary. A summary may mention or quote
 * errors; only a text that is one as a whole counts.
 */
export function looksLikeFailure(text: string): FailureKind | undefined {
  const start = text.slice(0, readLength)
  if (!/[\p{L}\p{N}]/u.test(start)) return "empty"
  const plain = start.replace(/[‘’ʼ]/g, "'").replace(/^[\s>*_#`"'“«[-]+/, "")
  if (/^<?(?:!doctype\s+html|html[\s>]|\?xml\s)/i.test(plain)) return "html-page"
  if (isErrorObject(text)) return "error-object"
  const lines = plain.split("\n").filter((line) => line.trim() !== "")
  if (traceback.test(plain)) return "stack-trace"
  if (lines.length > 2 && lines.filter((line) => frame.test(line)).length * 2 > lines.length) return "stack-trace"
  if (text.trim().length > longestMessage || isStructured(lines)) return undefined
  if (refusals.some((refusal) => refusal.test(plain))) return "refusal"
  const isError = errorName.test(plain) || status.test(plain) || brokenService.test(plain)
  return isError && lines.length <= 3 ? "error-message" : undefined
}

const isStructured = (lines: readonly string[]): boolean =>
  lines.filter((line) => /^\s{0,8}(?:[-*•+]\s|\d{1,3}[.)]\s|#{1,6}\s)/.test(line)).length >= structuredLines

/** True for an API's error response: an object that has an error and no summary. */
function isErrorObject(text: string): boolean {
  const trimmed = text.length > readLength ? "" : text.trim()
  if (!trimmed.startsWith("{")) return false
  const object = tryParse(trimmed)
  if (!isObject(object) || "sections" in object) return false
  return ["error", "errors", "detail", "exception", "stack", "statusCode", "error_code"].some((name) => {
    const value = object[name]
    return value !== undefined && value !== null && value !== false
  })
}
