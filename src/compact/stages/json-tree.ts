/** Maximum number of records read from one text. */
const maxRecordsRead = 1_500

/** A JSON-like value with its literals verbatim: numbers and strings as written. */
export type Tree =
  | { readonly type: "scalar"; readonly text: string; readonly quoted: boolean }
  | { readonly type: "list"; readonly items: readonly Tree[] }
  | { readonly type: "record"; readonly entries: readonly (readonly [key: string, value: Tree])[] }

/** Maximum depth, because the parser is recursive; no tool's answer is deeper. */
const maxDepth = 64

type ParseResult = { readonly tree: Tree; readonly end: number }

const blank = /[\s,]*/y
const bare = /-?\d[\d.eE+-]*|(?:true|false|null|True|False|None|NaN|nan|undefined)\b/y

/** Parses the JSON value or Python literal that a text consists of; a truncated text gives what came before the cut. */
export function readTree(text: string): Tree | undefined {
  if (!/^\s*[[{]\s*["'[{\]}\d-]/.test(text)) return undefined
  const values: Tree[] = []
  for (let at = skip(text, 0); at < text.length; ) {
    const read = readValue(text, at, 0)
    if (read === undefined || read.tree.type === "scalar") return undefined
    values.push(read.tree)
    at = skip(text, read.end)
  }
  return values.length === 1 ? values[0] : { type: "list", items: values }
}

/** Matches where JSON may begin inside a text: at the start of a line or after a colon. */
const opening = /(?:^|\n|: ?|>)\s{0,8}(?=[[{]\s{0,16}["'[{])/g

/** Maximum number of openings tried in one text; an answer has its data in one place. */
const maxOpenings = 4

/** Parses the first record or list inside a text, after words about it or in a code fence. */
export function embeddedTree(text: string): Tree | undefined {
  if (!text.includes('{"') && !text.includes("{'") && !/[[{]\s+["'[{]/.test(text)) return undefined
  let tries = 0
  for (const { 0: lead, index } of text.matchAll(opening)) {
    if (++tries > maxOpenings) return undefined
    const read = readValue(text, index + lead.length, 0)
    if (read?.tree.type === "record" && read.tree.entries.length > 0) return read.tree
    if (read?.tree.type === "list" && read.tree.items.some(({ type }) => type === "record")) return read.tree
  }
  return undefined
}

function skip(text: string, at: number): number {
  blank.lastIndex = at
  return at + (blank.exec(text)?.[0].length ?? 0)
}

function readValue(text: string, at: number, depth: number): ParseResult | undefined {
  if (depth > maxDepth) return undefined
  const sign = text[at]
  if (sign === "{") return readRecord(text, at + 1, depth)
  if (sign === "[" || sign === "(") return readList(text, at + 1, depth)
  return readScalar(text, at)
}

function readScalar(text: string, at: number): ParseResult | undefined {
  const sign = text[at]
  if (sign === '"' || sign === "'") return readString(text, at, sign)
  bare.lastIndex = at
  const literal = bare.exec(text)?.[0]
  if (literal === undefined) return undefined
  return { tree: { type: "scalar", text: literal, quoted: false }, end: at + literal.length }
}

function readString(text: string, start: number, sign: string): ParseResult {
  let at = start + 1
  let escaped = false
  for (; at < text.length && text[at] !== sign; at++) {
    if (text[at] !== "\\") continue
    escaped = true
    at++
  }
  const inner = text.slice(start + 1, at)
  return { tree: { type: "scalar", text: escaped ? decodeEscapes(inner) : inner, quoted: true }, end: at + 1 }
}

const escapes: Readonly<Record<string, string>> = {
  ...{ n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" },
  ...{ '"': '"', "'": "'", "\\": "\\", "/": "/" },
}

/** Decodes JSON escapes; any other backslash is kept. */
const decodeEscapes = (inner: string): string =>
  inner.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (whole: string, code?: string, sign?: string) =>
    code === undefined ? (escapes[sign ?? ""] ?? whole) : String.fromCharCode(Number.parseInt(code, 16)),
  )

function readList(text: string, start: number, depth: number): ParseResult | undefined {
  const items: Tree[] = []
  let at = skip(text, start)
  while (at < text.length && text[at] !== "]" && text[at] !== ")") {
    const item = readValue(text, at, depth + 1)
    if (item === undefined) return undefined
    items.push(item.tree)
    at = skip(text, item.end)
  }
  return { tree: { type: "list", items }, end: at + 1 }
}

function readRecord(text: string, start: number, depth: number): ParseResult | undefined {
  const entries: [string, Tree][] = []
  let at = skip(text, start)
  while (at < text.length && text[at] !== "}") {
    const key = readScalar(text, at)
    if (key?.tree.type !== "scalar") return undefined
    at = skip(text, key.end)
    if (text[at] !== ":") return at >= text.length ? { tree: { type: "record", entries }, end: at } : undefined
    at = skip(text, at + 1)
    if (at >= text.length) break
    const value = readValue(text, at, depth + 1)
    if (value === undefined) return undefined
    entries.push([key.tree.text, value.tree])
    at = skip(text, value.end)
  }
  return { tree: { type: "record", entries }, end: at + 1 }
}

/** Records written as text rather than encoded: `key: value` line by line, and tables. */

type Entry = readonly [key: string, value: Tree]

/** Matches `key: value` on a line of its own, as in YAML, in an e-mail's header, or in output for people. */
const pairLine =
  /^([ \t]{0,16}(?:[-*+•] )?)(?:\*\*|`)?([\p{L}_][\p{L}\p{N}_ /-]{0,31})(?:\*\*|`)?[:：](?:\*\*)? {0,16}(\S[^\n]{0,90})$/u

/** Maximum length of such a line. */
const maxLineLength = 160

/** Matches `key:` alone: its value is on the lines below. */
const openingLine = /^[ \t]{0,16}(?:[-*+•] )?[\p{L}_][\p{L}\p{N}_ /-]{0,31}:$/u

/** Returns the records of a text with consecutive pair lines, including indented lines below them; a single pair line is a sentence. */
export function readPairLines(text: string): readonly Tree[] {
  if (!text.includes(":") && !text.includes("：")) return []
  const records: Tree[] = []
  let entries: Entry[] = []
  let column = 0
  const close = (): void => {
    if (entries.length > 1) records.push({ type: "record", entries })
    entries = []
  }
  for (let start = 0; start < text.length && records.length + entries.length < maxRecordsRead; ) {
    const lineBreak = text.indexOf("\n", start)
    const end = lineBreak < 0 ? text.length : lineBreak
    const line = end - start > maxLineLength ? "" : text.slice(start, end).trimEnd()
    const pair = line.includes(":") || line.includes("：") ? pairLine.exec(line) : null
    const [, lead = "", key = "", value = ""] = pair ?? []
    const isNext = lead.length < column || (lead.length === column && isItem(lead) && isKnown(entries, key))
    if (pair === null ? !openingLine.test(line) : isNext) close()
    if (pair !== null) {
      if (entries.length === 0) column = lead.length
      entries.push([key.trim(), scalarOf(value)])
    }
    start = end + 1
  }
  close()
  return records
}

const isItem = (lead: string): boolean => lead.trimStart().length > 0
const isKnown = (entries: readonly Entry[], key: string): boolean => entries.some(([known]) => known === key.trim())

const quoted = /^(["'`])(.*)\1,?$/s
const number = /^-?\d[\d.]*,?$/

const scalarOf = (text: string): Tree => {
  const inner = quoted.exec(text)?.[2]
  if (inner !== undefined) return { type: "scalar", text: inner, quoted: true }
  return { type: "scalar", text: text.replace(/[,;]$/, ""), quoted: !number.test(text) }
}

/** Matches the line under a table header: dashes and column separators. */
const rule = /^[ \t]{0,8}[|+]?[ :]{0,2}-{2,}[-\s|+:]*$/

/** Maximum length of a table row. */
const maxRowLength = 2_000

/**
 * Returns the tables of a text: drawn with bars, as in Markdown and SQL shells, separated by commas or tabs, or aligned by blanks. Each is
 * a list of records with the names in its header.
 */
export function readTables(text: string): readonly Tree[] {
  const barred = text.includes("|") && text.includes("--")
  const first = text.slice(0, text.indexOf("\n") + 1)
  const separator = first.includes("\t") ? "\t" : first.includes(",") ? "," : undefined
  const aligned = first.length <= maxRowLength && alignedHeader.test(first)
  if (!barred && !aligned && separator === undefined) return []
  const lines = text.split("\n")
  return [
    ...(barred ? barredTables(lines) : []),
    ...(aligned ? alignedTable(lines) : separator === undefined ? [] : separatedTable(lines, separator)),
  ]
}

/** Matches capitalized names with blanks between them, as programs print them above columns. */
const alignedHeader =
  /^[A-Z][A-Z0-9_%/().-]*(?: [A-Z0-9_%/().-]+)*(?: {2,80}[A-Z][A-Z0-9_%/().-]*(?: [A-Z0-9_%/().-]+)*)+\s*$/

/** Parses a table whose columns are only separated by blanks. */
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

/** Matches the name of a column. */
const columnName = /^[\p{L}_#][\p{L}\p{N}_ ./#-]{0,40}$/u

/** Parses a first line of names and at least one line with as many cells below it. */
function separatedTable(lines: readonly string[], separator: string): readonly Tree[] {
  const split = (line: string): readonly string[] => (line.length > maxRowLength ? [] : splitRow(line, separator))
  const header = split(lines[0] ?? "")
  if (header.length < 2 || !header.every((name) => columnName.test(name))) return []
  const items = rowsUnder(header, lines, 1, split)
  return items.length === 0 ? [] : [{ type: "list", items }]
}

function splitRow(line: string, separator: string): readonly string[] {
  if (!line.includes('"')) return line.split(separator).map((cell) => cell.trim())
  const cells = separator === "," ? line.match(/(?:"(?:[^"]|"")*"|[^",])+|(?<=,)(?=,|$)/g) : line.split(separator)
  return (cells ?? []).map((cell) => cell.trim().replace(/^"(.*)"$/s, "$1"))
}

function rowsUnder(
  header: readonly string[],
  lines: readonly string[],
  start: number,
  cellsIn: (line: string) => readonly string[],
): readonly Tree[] {
  const items: Tree[] = []
  for (let at = start; at < lines.length && items.length < maxRecordsRead; at++) {
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
