import type { Report } from "../session/one-shot/report.ts"
import type { Changes } from "./changes.ts"
import { count, type Paper, paragraph } from "./paper.ts"
import { wrap } from "./printable.ts"

/** More rows than this of the whole, or of one line of it, are not shown here; the rest is in the body. */
const maxRows = 48
const maxRowsPerLine = 2

const writers: Readonly<Record<Report["writer"], string>> = {
  extractive: "without a model, from the words themselves",
  model: "by a model, and checked",
  custom: "by your own function, and checked",
  none: "as a notice only",
}

/** The digest as the model will read it, shortened where it is long. */
export function accountDigest({ digest, writer }: Report, { digest: text }: Changes, paper: Paper): readonly string[] {
  if (digest === undefined || text === undefined) return []
  const facts = digest.ledger.facts.length
  const head = `of ${count(digest.covered, "message")}, written ${writers[writer]}; ${count(facts, "exact value")} kept`
  const rows = text.split("\n").flatMap((line) => cut(wrap(line, paper.width - 2), maxRowsPerLine))
  const shown = cut(rows, maxRows)
  const whole = text.length <= shown.reduce((sum, row) => sum + row.length + 1, 0)
  return [
    "",
    ...paragraph("Digest", `${head}. The model reads:`, paper),
    ...shown.map((row) => `${paper.dim("|")} ${row}`.trimEnd()),
    ...(whole ? [] : [paper.dim("Long lines are cut here; the body has all of them.")]),
    "",
  ]
}

const cut = (rows: readonly string[], most: number): readonly string[] =>
  rows.length <= most ? rows : [...rows.slice(0, most - 1), `${rows[most - 1]?.slice(0, -2) ?? ""} …`]
