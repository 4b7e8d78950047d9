import type { FactKind } from "./fact.ts"

/** A value of several words and where it starts. */
export type Phrase = { readonly kind: FactKind; readonly value: string; readonly start: number }

const months = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\\.?"
const ordinal = "(?:st|nd|rd|th)?"

const dates = new RegExp(
  `\\b${months} \\d{1,2}${ordinal}(?:,? \\d{4})?\\b|\\b\\d{1,2}\\.?${ordinal} (?:of )?${months}(?:,? \\d{4})?\\b|\\b\\d{1,2}\\.? \\p{L}{3,10} \\d{4}\\b`,
  "gu",
)
const amounts =
  /\b(?:\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,4}|\d[\d,.]{0,15})[ \u00a0]?(?:USD|EUR|GBP|JPY|CNY|CHF|INR|RUB|dollars|euros|pounds|рублей|руб|元|円|원|€|%|GB|MB|KB|kg|km)(?![\p{L}\p{N}])/gu
/** Telephone and account numbers in groups. */
const grouped =
  /(?:\+\d[\d ()-]{7,18}\d|\b[A-Z]{2}\d{2}(?: [\dA-Z]{4}){2,7}(?: [\dA-Z]{1,4})?|\b\d{4}(?: \d{4}){2,4})(?!\d)/g
const quotes =
  /"([^"\n]{2,120})"|“([^”\n]{2,120})”|`([^`\n]{2,120})`|«([^»\n]{2,120})»|「([^」\n]{2,120})」|『([^』\n]{2,120})』/gu
const names =
  /(?<=[\p{Ll},] )(?!I['’])(?:\d{1,5} )?\p{Lu}[\p{Ll}\p{M}'’-]{2,30}(?: \p{Lu}[\p{L}\p{M}'’-]{1,30}){0,3}(?: \d{1,5})?(?![\p{L}\p{N}])/gu
const month = new RegExp(`^${months}$`)

/** Dates, amounts and numbers of several words, in any text. */
export function* phrasesIn(text: string): Generator<Phrase> {
  for (const { 0: value, index } of text.matchAll(dates)) yield { kind: "date", value, start: index }
  for (const { 0: value, index } of text.matchAll(amounts)) yield { kind: "amount", value, start: index }
  for (const { 0: value, index } of text.matchAll(grouped)) yield { kind: "id", value, start: index }
}

/** What a person put in quotation marks or wrote with a capital in the middle of a sentence: titles, names, places. */
export function* saidIn(text: string): Generator<Phrase> {
  for (const found of text.matchAll(quotes)) {
    const value = found.slice(1).find((group) => group !== undefined) ?? ""
    if (value.trim().length >= 4) yield { kind: "quote", value, start: found.index + 1 }
  }
  for (const { 0: value, index } of text.matchAll(names)) {
    if (!month.test(value)) yield { kind: "name", value, start: index }
  }
}

/** Names that code defines: functions, classes, types, tables. */
const definitions =
  /\b(?:def|class|function|func|fn|interface|struct|enum|trait|module|TABLE|VIEW|INDEX)\s{1,3}(?:IF NOT EXISTS )?([\p{L}_$][\p{L}\p{N}_$]{2,80})(?=\s{0,2}[({:<;=]|\s(?:extends|implements|AS)\b)/gu

export function* definitionsIn(text: string): Generator<Phrase> {
  for (const { 0: whole, 1: value = "", index } of text.matchAll(definitions)) {
    yield { kind: "identifier", value, start: index + whole.length - value.length }
  }
}

/** Agents without tool calls write the command they mean to run in a fence of its own. */
const fenced = /```[a-z]{0,12}\n([^`\n]{4,160})\n```/g

export function* commandsIn(text: string): Generator<Phrase> {
  for (const { 1: value = "", index } of text.matchAll(fenced)) yield { kind: "command", value, start: index }
}
