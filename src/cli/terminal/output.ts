import { Worker } from "node:worker_threads"
import { clipText } from "../../language/cut-text.ts"

/** Matches control characters, direction marks and lone surrogates: output of a tool must not control the terminal. */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** Makes a text of unknown origin safe to print; line breaks stay. */
export const printable = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replaceAll("\t", "  ")
    .replace(acting, (found) => (found === "\n" ? "\n" : "\uFFFD"))

/** A value as one line of JSON, with control characters escaped. */
export const jsonLine = (value: unknown): string => `${escapeActing(JSON.stringify(value) ?? "null")}\n`

/** The same JSON with control characters escaped. It must have no line breaks: then such characters occur only in strings. */
export const escapeActing = (json: string): string =>
  json.replace(acting, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Makes a text of unknown origin safe to print, on one line. */
export const sentenceOf = (text: string): string => printable(text).replace(/\s+/g, " ").trim()

/** Limit on the characters read to make one line. */
const maxLooked = 10_000

export function clip(text: string, width: number): string {
  const line = sentenceOf(text.slice(0, maxLooked))
  return clipText(line, width)
}

/** Wraps a text to lines no longer than a width, between words if possible. */
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

/** The same for a text of several pieces, some of them styled. */
export function wrapPieces(
  pieces: readonly { readonly text: string; readonly isUsed: boolean }[],
  width: number,
  standOut: (text: string) => string,
): readonly string[] {
  const lines: string[] = []
  let [line, length] = ["", 0]
  const words = pieces.flatMap(({ text, isUsed }) =>
    (sentencePieces(text).match(/ |[^ ]+/g) ?? []).map((word) => ({ word, isUsed })),
  )
  for (const { word, isUsed } of words) {
    if (length + word.length > width && length > 0) {
      lines.push(line.trimEnd())
      ;[line, length] = ["", 0]
    }
    if (word === " " && length === 0) continue
    const shown = clipText(word, width)
    line += isUsed ? standOut(shown) : shown
    length += shown.length
  }
  return length === 0 ? lines : [...lines, line.trimEnd()]
}

/** A piece of a line, safe to print; the spaces at its ends stay. */
const sentencePieces = (text: string): string => printable(text).replace(/\s+/g, " ")

export type Paper = {
  readonly width: number
  /** Infinite if the output is a file or a pipe: then each table row is one line. */
  readonly tableWidth: number
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

/** Minimum and maximum width: narrower, bars are useless; wider, lines are hard to read. */
const minWidth = 60

const maxWidth = 100

/** The width for a file or a pipe. */
const defaultWidth = 96

/** Writes a text in a style of the terminal, by its ANSI code, or plain. */
export const styled =
  (hasColour: boolean, code: number) =>
  (text: string): string =>
    hasColour ? `\x1b[${code}m${text}\x1b[0m` : text

/** The output settings of a sink, with colour only if its terminal supports it. */
export function createPaper({ columns, hasColour }: Pick<Sink, "columns" | "hasColour">): Paper {
  const width = Math.min(maxWidth, Math.max(minWidth, (columns ?? defaultWidth) - 1))
  const tableWidth = columns === undefined ? Number.POSITIVE_INFINITY : width
  return { width, tableWidth, bold: styled(hasColour, 1), dim: styled(hasColour, 2) }
}

export const number = (value: number): string => value.toLocaleString("en")

/** "1 message", "2 messages", "2 entries". */
export const count = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : nouns}`

/** A time to the minute, in UTC: `2026-11-15 09:12`; a question mark if it is out of range. */
export const moment = (atMs: number): string =>
  Math.abs(atMs) <= latestMs ? new Date(atMs).toISOString().slice(0, 16).replace("T", " ") : "?"

/** The largest time of a JavaScript Date. */
const latestMs = 8.64e15

/** Width of the margin of a paragraph, which has its label. */
export const indent = 11

export function paragraph(label: string, text: string, { width, bold }: Paper): readonly string[] {
  const margin = " ".repeat(indent)
  return wrap(text, width - indent).map((line, n) => `${n === 0 ? bold(label.padEnd(indent)) : margin}${line}`)
}

/** Several paragraphs under one label. */
export const paragraphs = (label: string, texts: readonly string[], paper: Paper): readonly string[] =>
  texts.flatMap((text, n) => paragraph(n === 0 ? label : "", text, paper))

type SetColumn = {
  readonly title: string
  readonly align?: "right"
  /** If the table is too wide, this column shrinks: its text is cut, or wrapped. */
  readonly fit?: "cut" | "wrap"
}

export const right = (title: string): SetColumn => ({ title, align: "right" })

/** The gap between two columns. */
const gap = "  "

const minColumn = 16

/** A table whose columns are as wide as their content. Only columns with `fit` shrink, so that names can be copied whole. */
export function table(
  given: readonly (string | SetColumn)[],
  rows: readonly (readonly string[])[],
  { dim, tableWidth }: Paper,
): readonly string[] {
  const columns = given.map((column): SetColumn => (typeof column === "string" ? { title: column } : column))
  const cells = rows.map((row) => columns.map((_, n) => sentenceOf(row[n] ?? "")))
  const needed = columns.map(({ title }, n) =>
    cells.reduce((most, row) => Math.max(most, row[n]?.length ?? 0), title.length),
  )
  const over = needed.reduce((sum, wide) => sum + wide + gap.length, -gap.length) - tableWidth
  const widths = columns.map(({ fit }, n) => {
    const wide = needed[n] ?? 0
    return fit === undefined || over <= 0 ? wide : Math.min(wide, Math.max(minColumn, wide - over))
  })
  const line = (row: readonly string[]): string =>
    row
      .map((cell, n) => pad(cell, widths[n] ?? 0, columns[n]))
      .join(gap)
      .trimEnd()
  const linesOf = (row: readonly string[]): readonly string[] => {
    const parts = row.map((cell, n) => fitted(cell, widths[n] ?? 0, columns[n]))
    const most = Math.max(...parts.map(({ length }) => length))
    return Array.from({ length: most }, (_, at) => line(parts.map((part) => part[at] ?? "")))
  }
  return [dim(line(columns.map(({ title }) => title))), ...cells.flatMap(linesOf)]
}

function fitted(cell: string, width: number, column: SetColumn | undefined): readonly string[] {
  if (cell.length <= width || column?.fit === undefined) return [cell]
  return column.fit === "cut" ? [clipText(cell, width)] : wrap(cell, width)
}

const pad = (cell: string, width: number, column: SetColumn | undefined): string =>
  column?.align === "right" ? cell.padStart(width) : cell.padEnd(width)

const quietMs = 2000

/** Runs in a worker, because the main thread is busy computing. */
const ticking = `
const { writeSync } = require("node:fs")
let seconds = ${quietMs / 1000}
const tick = () => {
  try { writeSync(2, "\\rholdfast: still at work, " + seconds++ + " s") } catch {}
}
setTimeout(() => { tick(); setInterval(tick, 1000) }, ${quietMs})
`

/** Shows a line on the terminal once something takes more than two seconds. The returned function removes it. */
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

/** An output stream. `write` resolves when the text is handed over; a closed pipe is not an error. */
export type Sink = {
  readonly write: (text: string) => Promise<void>
  readonly isTerminal: boolean
  readonly hasColour: boolean
  readonly columns?: number
}
