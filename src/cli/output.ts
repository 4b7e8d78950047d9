import { Worker } from "node:worker_threads"
import { clipText } from "../language/cut-text.ts"
import type { Sink } from "./world.ts"

/**
 * Characters that tell a terminal what to do instead of being seen, those that turn the reading direction, and lone surrogates. What
 * a tool wrote must not move the cursor of whoever reads about it.
 */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** A text of unknown origin, safe to print; line breaks stay. */
export const printable = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replaceAll("\t", "  ")
    .replace(acting, (found) => (found === "\n" ? "\n" : "\uFFFD"))

/** A value as JSON on one line; what would act on a terminal is escaped in it, so that it still says the same. */
export const jsonLine = (value: unknown): string => `${escapeActing(JSON.stringify(value) ?? "null")}\n`

/** The same JSON, in which no character acts on a terminal. It has no line breaks: in JSON such characters stand in strings alone. */
export const escapeActing = (json: string): string =>
  json.replace(acting, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A sentence with words of unknown origin in it, on one line. */
export const sentenceOf = (text: string): string => printable(text).replace(/\s+/g, " ").trim()

/** More than this of a text is not looked at to get one line out of it. */
const maxLooked = 10_000

/** A text on one line, cut to a width. */
export function clip(text: string, width: number): string {
  const line = sentenceOf(text.slice(0, maxLooked))
  return clipText(line, width)
}

/** Lines no longer than a width, broken between words where that is possible. */
export function wrap(text: string, width: number): readonly string[] {
  return printable(text)
    .split("\n")
    .flatMap((line) => wrapLine(line, width))
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = []
  let at = 0
  while (line.length - at > width) {
    const space = line.slice(at, at + width + 1).lastIndexOf(" ")
    const end = at + (space > width / 2 ? space : width)
    const whole = /[\ud800-\udbff]/.test(line.charAt(end - 1)) ? end - 1 : end
    lines.push(line.slice(at, whole))
    at = line[whole] === " " ? whole + 1 : whole
  }
  return [...lines, line.slice(at)]
}

/** What an account is written on: how wide it is, and how words stand out on it. */
export type Paper = {
  readonly width: number
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

/** Narrower than this the bars say nothing; wider than this nobody follows a line. */
const leastWidth = 60
const mostWidth = 100
/** Where nobody knows how wide it is: a file, a log. */
const usualWidth = 96

/** Paper for where the text goes. Colour only on a terminal that has it and whose owner has not said no. */
export function createPaper({ columns = usualWidth, hasColour }: Pick<Sink, "columns" | "hasColour">): Paper {
  const styled = (code: number) => (text: string) => (hasColour ? `\x1b[${code}m${text}\x1b[0m` : text)
  return { width: Math.min(mostWidth, Math.max(leastWidth, columns - 1)), bold: styled(1), dim: styled(2) }
}

export const number = (value: number): string => value.toLocaleString("en")

/** "1 message", "2 messages", "2 entries". */
export const count = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : nouns}`

/** A moment to the minute, in UTC: `2026-11-15 09:12`. What no calendar has is a question mark. */
export const moment = (atMs: number): string =>
  Math.abs(atMs) <= latestMs ? new Date(atMs).toISOString().slice(0, 16).replace("T", " ") : "?"

/** The last moment that a date can say. */
const latestMs = 8.64e15

/** The margin of a paragraph, in which its name stands. */
export const indent = 11

/** A paragraph with its name in the margin. */
export function paragraph(label: string, text: string, { width, bold }: Paper): readonly string[] {
  const margin = " ".repeat(indent)
  return wrap(text, width - indent).map((line, n) => `${n === 0 ? bold(label.padEnd(indent)) : margin}${line}`)
}

type Column = { readonly title: string; readonly align?: "right" }

/** Between two columns. */
const gap = "  "

/** Rows in columns as wide as what stands in them; the last one is never cut or padded, so that a name in it can be copied whole. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { dim }: Paper,
): readonly string[] {
  const cells = rows.map((row) => columns.map((_, n) => sentenceOf(row[n] ?? "")))
  const widths = columns.map(({ title }, n) =>
    cells.reduce((most, row) => Math.max(most, row[n]?.length ?? 0), title.length),
  )
  const line = (row: readonly string[]): string =>
    row.map((cell, n) => (n === columns.length - 1 ? cell : pad(cell, widths[n] ?? 0, columns[n]))).join(gap)
  return [dim(line(columns.map(({ title }) => title))), ...cells.map(line)]
}

const pad = (cell: string, width: number, column: Column | undefined): string =>
  column?.align === "right" ? cell.padStart(width) : cell.padEnd(width)

const quietMs = 2000

/** It runs beside the main thread, which computes and could not say anything meanwhile. */
const ticking = `
const { writeSync } = require("node:fs")
let seconds = ${quietMs / 1000}
const tick = () => {
  try { writeSync(2, "\\rholdfast: still at work, " + seconds++ + " s") } catch {}
}
setTimeout(() => { tick(); setInterval(tick, 1000) }, ${quietMs})
`

/** A line on the terminal while something takes more than two seconds, unless programs listen. Answers with how to end it. */
export function startProgress(isSilent: boolean, stderr: Sink): () => Promise<void> {
  if (isSilent || !stderr.isTerminal) return async () => {}
  const worker = new Worker(ticking, { eval: true })
  let ended = false
  return async () => {
    if (ended) return
    ended = true
    await worker.terminate()
    await stderr.write("\r\x1b[K")
  }
}
