import { maxDepth, readFlow, refuse, scalarOf, type Yaml } from "./prompty-flow.ts"

type Line = { readonly indent: number; readonly text: string; readonly number: number }

/** Lines with a place in them. What stands behind a dash is read as a line of its own, so the list is ours to change. */
type Reader = { readonly lines: Line[]; at: number }

/**
 * Read the part of YAML that .prompty files are written in: nested maps and lists by indentation, plain, quoted and block scalars, and maps
 * and lists in brackets on one line. Anchors, aliases, tags and several documents are refused by line.
 */
export function readYaml(text: string, firstLine: number): Yaml {
  const lines = text.split("\n").map((raw, n): Line => {
    const whole = raw.replace(/\r$/, "")
    const indent = whole.length - whole.trimStart().length
    const tab = whole.slice(0, indent).includes("\t") && whole.trim() !== ""
    if (tab) refuse(firstLine + n, "spaces before the first word", "a tab")
    return { indent, text: whole.trim(), number: firstLine + n }
  })
  const reader: Reader = { lines, at: 0 }
  const first = peek(reader)
  if (first === undefined) return {}
  const value = readBlock(reader, first.indent, 0)
  const rest = peek(reader)
  return rest === undefined
    ? value
    : refuse(rest.number, "a line that is indented like those before it", "another indentation")
}

/** The next line that says something. */
function peek(reader: Reader): Line | undefined {
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at]
    if (line !== undefined && line.text !== "" && !line.text.startsWith("#")) return line
  }
  return undefined
}

const isItem = ({ text }: Line): boolean => text === "-" || text.startsWith("- ")

function readBlock(reader: Reader, indent: number, depth: number): Yaml {
  const line = peek(reader)
  if (line === undefined) return null
  if (depth > maxDepth) return refuse(line.number, `at most ${maxDepth} levels`, "a deeper one")
  if (isItem(line)) return readList(reader, indent, depth)
  if (splitKey(line) !== undefined) return readMap(reader, indent, depth)
  reader.at++
  return readValue(reader, line, line.text, indent - 1)
}

function readList(reader: Reader, indent: number, depth: number): Yaml {
  const items: Yaml[] = []
  for (let line = peek(reader); line !== undefined && line.indent === indent && isItem(line); line = peek(reader)) {
    const rest = line.text.slice(1).trimStart()
    const inner: Line = { ...line, indent: indent + line.text.length - rest.length, text: rest }
    if (rest === "" || rest.startsWith("#")) {
      reader.at++
      items.push(readNested(reader, indent, depth))
    } else if (isItem(inner) || splitKey(inner) !== undefined) {
      reader.lines[reader.at] = inner
      items.push(readBlock(reader, inner.indent, depth + 1))
    } else {
      reader.at++
      items.push(readValue(reader, line, rest, indent))
    }
  }
  return items
}

function readMap(reader: Reader, indent: number, depth: number): Yaml {
  const entries = new Map<string, Yaml>()
  for (let line = peek(reader); line !== undefined && line.indent === indent && !isItem(line); line = peek(reader)) {
    const pair = splitKey(line)
    if (pair === undefined) return refuse(line.number, "a name and a colon", "something else")
    if (entries.has(pair.key)) return refuse(line.number, "each name once", "a name for the second time")
    reader.at++
    const empty = pair.rest === "" || pair.rest.startsWith("#")
    entries.set(pair.key, empty ? readNested(reader, indent, depth, true) : readValue(reader, line, pair.rest, indent))
  }
  return Object.fromEntries(entries)
}

/** What stands below a name or dash: something indented further; below a name also a list that is not. */
function readNested(reader: Reader, indent: number, depth: number, ofMap = false): Yaml {
  const next = peek(reader)
  if (next === undefined) return null
  if (next.indent > indent) return readBlock(reader, next.indent, depth + 1)
  return ofMap && next.indent === indent && isItem(next) ? readList(reader, indent, depth + 1) : null
}

function splitKey({ text }: Line): { readonly key: string; readonly rest: string } | undefined {
  const found =
    /^(?:"([^"\\]{0,200})"|'([^']{0,200})'|([^\s"'[\]{},&*!|>%@`#][^:]{0,200}?))\s{0,20}:(?:\s+(.*))?$/.exec(text)
  if (found === null) return undefined
  return { key: found[1] ?? found[2] ?? found[3] ?? "", rest: found[4] ?? "" }
}

function readValue(reader: Reader, line: Line, text: string, indent: number): Yaml {
  if (/^[|>]/.test(text)) return readScalarBlock(reader, line, text, indent)
  if (/^[&*!]/.test(text)) return refuse(line.number, "a plain value", "an anchor, alias or tag")
  if (/^["'[{]/.test(text)) return readFlow(text, line.number)
  const pieces = [text.replace(/\s#.*$/, "").trimEnd()]
  for (let next = peek(reader); next !== undefined && next.indent > indent; next = peek(reader)) {
    if (splitKey(next) !== undefined) return refuse(next.number, "the rest of the text above it", "a name and a colon")
    pieces.push(next.text.replace(/\s#.*$/, "").trimEnd())
    reader.at++
  }
  return pieces.length > 1 ? pieces.join(" ") : scalarOf(pieces[0] ?? "")
}

/** `|` keeps the breaks, `>` makes blanks of them; `-` drops the break at the end, `+` keeps all of them. */
function readScalarBlock(reader: Reader, line: Line, text: string, indent: number): Yaml {
  const head = /^([|>])(\d?)([+-]?)(\d?)\s*(?:#.*)?$/.exec(text)
  if (head === null) return refuse(line.number, "nothing behind | or >", "more text")
  const rows: Line[] = []
  for (let next = reader.lines[reader.at]; next !== undefined; next = reader.lines[reader.at]) {
    if (next.text !== "" && next.indent <= indent) break
    rows.push(next)
    reader.at++
  }
  const given = Number(head[2] || head[4] || 0)
  const least = rows.reduce((least, row) => (row.text === "" ? least : Math.min(least, row.indent)), Infinity)
  const margin = given > 0 ? Math.max(0, indent) + given : least
  const written = rows.map((row) => (row.text === "" ? "" : " ".repeat(Math.max(0, row.indent - margin)) + row.text))
  const body = written.join("\n").replace(/\n+$/, "")
  const folded = head[1] === "|" ? body : body.replace(/(?<!\n)\n(?![\n ])/g, " ").replace(/\n\n/g, "\n")
  if (head[3] === "-" || folded === "") return folded
  return head[3] === "+" ? `${folded}${"\n".repeat(written.length - body.split("\n").length + 1)}` : `${folded}\n`
}
