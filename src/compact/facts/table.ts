import type { Tree } from "./json-tree.ts"
import { maxMentionsPerPart } from "./limits.ts"

/** The line under a header: dashes, with the signs that part columns. */
const rule = /^[ \t]{0,8}[|+]?[ :]{0,2}-{2,}[-\s|+:]*$/

/** A line longer than this is no table row that anyone reads. */
const maxRowLength = 2_000

/** Tables drawn with bars, as in Markdown and SQL shells, rows parted by commas or tabs, and columns in line: each a list of records under its header's names. */
export function readTables(text: string): readonly Tree[] {
  const barred = text.includes("|") && text.includes("--")
  const first = text.slice(0, text.indexOf("\n") + 1)
  const parting = first.includes("\t") ? "\t" : first.includes(",") ? "," : undefined
  const aligned = first.length <= maxRowLength && alignedHeader.test(first)
  if (!barred && !aligned && parting === undefined) return []
  const lines = text.split("\n")
  return [
    ...(barred ? barredTables(lines) : []),
    ...(aligned ? alignedTable(lines) : parting === undefined ? [] : partedTable(lines, parting)),
  ]
}

/** Names in capitals with blanks between them, as programs print them above columns. */
const alignedHeader =
  /^[A-Z][A-Z0-9_%/().-]*(?: [A-Z0-9_%/().-]+)*(?: {2,80}[A-Z][A-Z0-9_%/().-]*(?: [A-Z0-9_%/().-]+)*)+\s*$/

/** Columns that only blanks keep apart. */
function alignedTable(lines: readonly string[]): readonly Tree[] {
  const split = (line: string): readonly string[] =>
    line.length > maxRowLength ? [] : line.trim().split(/(?: {2,}|\t)\s*/)
  const items = rowsUnder(split(lines[0] ?? ""), lines, 1, split)
  return items.length === 0 ? [] : [{ type: "list", items }]
}

function barredTables(lines: readonly string[]): readonly Tree[] {
  const tables: Tree[] = []
  for (let at = 1; at < lines.length; at++) {
    const header = cellsOf(lines[at - 1] ?? "")
    if (header.length < 2 || !rule.test(lines[at] ?? "")) continue
    const rows = rowsUnder(header, lines, at + 1, cellsOf)
    at += rows.length
    tables.push({ type: "list", items: rows })
  }
  return tables
}

/** A name of a column. */
const columnName = /^[\p{L}_#][\p{L}\p{N}_ ./#-]{0,40}$/u

/** A first line of names and at least one line of as many cells below it. */
function partedTable(lines: readonly string[], parting: string): readonly Tree[] {
  const split = (line: string): readonly string[] => (line.length > maxRowLength ? [] : splitRow(line, parting))
  const header = split(lines[0] ?? "")
  if (header.length < 2 || !header.every((name) => columnName.test(name))) return []
  const items = rowsUnder(header, lines, 1, split)
  return items.length === 0 ? [] : [{ type: "list", items }]
}

function splitRow(line: string, parting: string): readonly string[] {
  if (!line.includes('"')) return line.split(parting).map((cell) => cell.trim())
  const cells = parting === "," ? line.match(/(?:"(?:[^"]|"")*"|[^",])+|(?<=,)(?=,|$)/g) : line.split(parting)
  return (cells ?? []).map((cell) => cell.trim().replace(/^"(.*)"$/s, "$1"))
}

function rowsUnder(
  header: readonly string[],
  lines: readonly string[],
  start: number,
  cellsIn: (line: string) => readonly string[],
): readonly Tree[] {
  const items: Tree[] = []
  for (let at = start; at < lines.length && items.length < maxMentionsPerPart; at++) {
    const cells = cellsIn(lines[at] ?? "")
    if (cells.length !== header.length) break
    items.push({ type: "record", entries: cells.map((cell, n) => [header[n] ?? "", scalar(cell)] as const) })
  }
  return items
}

const scalar = (text: string): Tree => ({ type: "scalar", text, quoted: !/^-?\d[\d.]*$/.test(text) })

function cellsOf(line: string): readonly string[] {
  if (line.length > maxRowLength || !line.includes("|") || rule.test(line)) return []
  const trimmed = line.trim()
  const inner = trimmed.slice(trimmed.startsWith("|") ? 1 : 0, trimmed.endsWith("|") ? -1 : undefined)
  return inner.split("|").map((cell) => cell.trim())
}
