import type { Paper } from "./paper.ts"
import { sentenceOf } from "./printable.ts"

export type Column = { readonly title: string; readonly align?: "right" }

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
