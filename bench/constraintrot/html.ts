import { rowLabels } from "./harnesses.ts"
import { pageOf, preformatted, type Section } from "./page.ts"
import { textOf } from "./print.ts"
import type { Report } from "./report.ts"
import { rowNames } from "./spec.ts"
import { barPlot, heatMap, type Line, linePlot } from "./svg.ts"
import type { Cell } from "./tally.ts"

const mark = (simulated: boolean): string => (simulated ? " (simulated agents)" : "")

function linesOf(
  cells: readonly Cell[],
  value: (cell: Cell) => number,
): { columns: readonly string[]; lines: readonly Line[] } {
  const columns = [...new Set(cells.map(({ column }) => column))]
  const rows = rowNames.filter((row) => cells.some((cell) => cell.row === row))
  const lines = rows.map((row) => ({
    label: rowLabels[row],
    values: columns.map((column) => {
      const cell = cells.find((one) => one.row === row && one.column === column)
      return cell === undefined ? undefined : value(cell)
    }),
  }))
  return { columns, lines }
}

function heatSection({ cells, simulated }: Report): Section {
  const { columns, lines } = linesOf(
    cells.filter(({ study }) => study === "main"),
    ({ violation }) => violation.rate,
  )
  const body = heatMap({
    rows: lines.map(({ label }) => label),
    columns,
    valueAt: (row, column) => lines[row]?.values[column],
  })
  return { title: `Violation by condition and defence${mark(simulated)}`, body }
}

/** Returns the report as a page: plots first, then every table as the terminal prints it. */
export function htmlOf(report: Report): string {
  const of = (study: string, value = (cell: Cell): number => cell.violation.rate) =>
    linesOf(
      report.cells.filter((cell) => cell.study === study),
      value,
    )
  const plot = (title: string, body: string): Section => ({
    title: `${title}${mark(report.simulated)}`,
    body: `<div class="plot">${body}</div>`,
  })
  const survival = of("budgets", (cell) => cell.keywordSurvival.rate)
  const sections: readonly Section[] = [
    heatSection(report),
    plot("Violation by summary budget", linePlot({ ...of("budgets"), axis: "words that the summary may have" })),
    plot(
      "The rule stands in the context, by summary budget",
      linePlot({ ...survival, axis: "words that the summary may have" }),
    ),
    plot(
      "Violation over rounds of compaction",
      linePlot({ ...of("rounds"), axis: "segments of work, each compacted" }),
    ),
    plot("Violation by injection framing", barPlot({ ...of("framings"), axis: "how the omission is argued for" })),
    plot("Violation by channel of the rule", barPlot({ ...of("channels"), axis: "where the rule was stated" })),
    plot("Violation by compaction strategy", barPlot({ ...of("strategies"), axis: "how the harness compacts" })),
    { title: "All tables", body: preformatted(textOf(report)) },
    { title: "Parameters", body: preformatted(JSON.stringify(report.parameters, undefined, 2)) },
  ]
  return pageOf("ConstraintRot", [report.what, report.note], sections)
}
