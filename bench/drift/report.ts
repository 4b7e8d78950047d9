import { pageOf, preformatted } from "../constraintrot/page.ts"
import { linePlot } from "../constraintrot/svg.ts"
import type { CycleResult } from "./live.ts"

export type DriftReport = {
  readonly bench: "drift"
  readonly what: string
  readonly simulated: boolean
  readonly conditions: Readonly<Record<string, string | number>>
  readonly seed: number
  readonly sessions: number
  readonly cycles: number
  readonly seconds: number
  readonly rows: readonly DriftMeans[]
}

/** Means over the sessions of a row, cycle by cycle. */
export type DriftMeans = {
  readonly name: string
  readonly compliance: readonly number[]
  readonly visible: readonly number[]
  readonly verbatim: readonly number[]
  readonly stackSame: readonly boolean[]
  readonly compactions: number
}

export const whatDriftIs = (isReal: boolean): string =>
  `${question} ${isReal ? "Reports and summaries are written by a real model." : simulatedNote}`

const question =
  "The same task with its specification in the conversation or in the prompt stack, through many compactions: how much of the specification do the reports still keep?"
const simulatedNote =
  "SIMULATED: the writer follows exactly the clauses that it can read in its context, and the summarizer is a calibrated stand-in; neither is a real model."

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

export function meanOf(name: string, sessions: readonly (readonly CycleResult[])[]): DriftMeans {
  const cycles = sessions[0]?.length ?? 0
  const at = (value: (result: CycleResult) => number) =>
    Array.from({ length: cycles }, (_, n) =>
      mean(sessions.flatMap((session) => (session[n] === undefined ? [] : [value(session[n])]))),
    )
  return {
    name,
    compliance: at(({ compliance }) => compliance),
    visible: at(({ visible }) => visible),
    verbatim: at(({ verbatim }) => Number(verbatim)),
    stackSame: Array.from({ length: cycles }, (_, n) => sessions.every((session) => session[n]?.stackSame === true)),
    compactions: mean(sessions.map((session) => session.at(-1)?.compactions ?? 0)),
  }
}

const percent = (value: number | undefined): string => (value === undefined ? "-" : `${Math.round(100 * value)}`)

export function driftText(report: DriftReport): string {
  const shown = [1, 2, 3, 5, 10, 15, 20].filter((cycle) => cycle <= report.cycles)
  const width = Math.max(...report.rows.map(({ name }) => name.length))
  const head = `${"".padEnd(width)}  ${shown.map((cycle) => String(cycle).padStart(5)).join("")}  compactions  stack identical  spec verbatim at the end`
  const lines = report.rows.map((row) => {
    const values = shown.map((cycle) => percent(row.compliance[cycle - 1]).padStart(5)).join("")
    const same = row.stackSame.filter(Boolean).length
    return `${row.name.padEnd(width)}  ${values}  ${row.compactions.toFixed(1).padStart(11)}  ${`${same} of ${report.cycles}`.padStart(15)}  ${percent(row.verbatim.at(-1))} %`
  })
  return [
    `Drift: ${report.what}`,
    `${report.sessions} sessions of ${report.cycles} cycles a row, seed ${report.seed}, ${report.seconds.toFixed(0)} s; ${Object.values(report.conditions).join(", ")}`,
    `\nClauses of the specification kept by the report, % (by cycle)${report.simulated ? " [simulated]" : ""}`,
    head,
    ...lines,
  ].join("\n")
}

export function driftHtml(report: DriftReport): string {
  const columns = Array.from({ length: report.cycles }, (_, n) => String(n + 1))
  const plot = (value: (row: DriftMeans) => readonly number[]) =>
    `<div class="plot">${linePlot({ columns, lines: report.rows.map((row) => ({ label: row.name, values: value(row) })), axis: "cycle" })}</div>`
  return pageOf(
    "Drift",
    [report.what],
    [
      { title: "Clauses kept by the report (simulated writer)", body: plot((row) => row.compliance) },
      { title: "Clauses that can be read in the context (simulated summarizer)", body: plot((row) => row.visible) },
      { title: "Table (simulated)", body: preformatted(driftText(report)) },
    ],
  )
}
