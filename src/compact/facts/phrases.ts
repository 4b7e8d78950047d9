import type { FactKind } from "./fact.ts"

/** A value of several words and where it starts. */
export type Phrase = { readonly kind: FactKind; readonly value: string; readonly start: number }

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
export function phrasesIn(text: string, take: Take): void {
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
export function saidIn(text: string, take: Take): void {
  takeQuotes(text, quotes, take)
  for (const { 0: value, index } of text.matchAll(names)) {
    if (!month.test(value)) take({ kind: "name", value, start: index })
  }
}

/** What stands in quotation marks in a command: the pattern of a search, a commit's message. */
export const quotedIn = (text: string, take: Take): void => takeQuotes(text, shellQuotes, take)

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

export function commandsIn(text: string, take: Take): void {
  for (const { 1: value = "", index } of text.matchAll(fenced)) take({ kind: "command", value, start: index })
}
