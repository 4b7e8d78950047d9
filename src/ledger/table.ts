import type { Tree } from "./json-tree.ts"

/** The line under a header: dashes, with the signs that part columns. */
const rule = /^[ \t]{0,8}[|+]?[ :]{0,2}-{2,}[-\s|+:]*$/

/** Tables drawn with bars, as in Markdown and SQL shells, each as a list of records under its header's names. */
export function readTables(text: string): readonly Tree[] {
  if (!text.includes("|") || !text.includes("--")) return []
  const lines = text.split("\n")
  const tables: Tree[] = []
  for (let at = 1; at < lines.length; at++) {
    const header = cellsOf(lines[at - 1] ?? "")
    if (header.length < 2 || !rule.test(lines[at] ?? "")) continue
    const items: Tree[] = []
    for (
      let cells = cellsOf(lines[at + 1] ?? "");
      cells.length === header.length;
      cells = cellsOf(lines[at + 1] ?? "")
    ) {
      items.push({ type: "record", entries: cells.map((cell, n) => [header[n] ?? "", scalar(cell)] as const) })
      at++
    }
    tables.push({ type: "list", items })
  }
  return tables
}

const scalar = (text: string): Tree => ({ type: "scalar", text, quoted: !/^-?\d[\d.]*$/.test(text) })

/** A line longer than this is no table row that anyone reads. */
const maxRowLength = 2_000

function cellsOf(line: string): readonly string[] {
  if (line.length > maxRowLength || !line.includes("|") || rule.test(line)) return []
  const trimmed = line.trim()
  const inner = trimmed.slice(trimmed.startsWith("|") ? 1 : 0, trimmed.endsWith("|") ? -1 : undefined)
  return inner.split("|").map((cell) => cell.trim())
}
