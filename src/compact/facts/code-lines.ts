import type { Phrase } from "./phrases.ts"

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

type Take = (phrase: Phrase) => void

/** What a text defines, each with the line that defines it, and the errors it tells of. */
export function definitionsIn(text: string, take: Take): void {
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
export function linesIn(text: string, take: Take): void {
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

/** Six words in a row: someone explains something, and no one will pass that on to the letter. */
const sentence = /(?:^|\s)(?:[\p{L}'’]{1,30}[,.]?\s){6}/u

export const isSentence = (text: string): boolean => sentence.test(text)

/** What makes a line more than a bracket or a word. */
const telling = /\p{L}{2}[^\n]*[\s(.=_:/-]|\p{L}\p{N}*\(/u

function takeLine(line: string, start: number, take: Take): boolean {
  const value = line.replace(lineNumber, "").trim()
  if (value.length < shortestLine || value.length > longestLine || !telling.test(value)) return false
  if (isSentence(value)) return false
  take({ kind: "line", value, start })
  return true
}
