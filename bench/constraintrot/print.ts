import { rowLabels } from "./harnesses.ts"
import type { Report } from "./report.ts"
import { type RowName, rowNames } from "./spec.ts"
import type { Cell } from "./tally.ts"
import type { Share } from "./wilson.ts"

const percent = ({ rate }: Pick<Share, "rate">): string => `${(100 * rate).toFixed(rate > 0 && rate < 0.1 ? 1 : 0)}`
const between = ({ low, high }: Share): string => `${Math.round(100 * low)}-${Math.round(100 * high)}`

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, n) => Math.max(...all.map((row) => (row[n] ?? "").length)))
  const text = all.map((row) =>
    row.map((value, n) => (n === 0 ? value.padEnd(widths[n] ?? 0) : value.padStart(widths[n] ?? 0))).join("  "),
  )
  return [`\n${title}`, ...text].join("\n")
}

const columnsOf = (cells: readonly Cell[]): readonly string[] => [...new Set(cells.map(({ column }) => column))]

/** Returns a table with a row per defence and a column per condition. */
export function cellTable(
  title: string,
  cells: readonly Cell[],
  value: (cell: Cell) => string,
  first = "defence",
): string {
  const columns = columnsOf(cells)
  const rows = rowNames.filter((row) => cells.some((cell) => cell.row === row))
  const cellAt = (row: RowName, column: string) => cells.find((cell) => cell.row === row && cell.column === column)
  return table(
    title,
    [first, ...columns],
    rows.map((row) => [
      rowLabels[row],
      ...columns.map((column) => {
        const cell = cellAt(row, column)
        return cell === undefined ? "-" : value(cell)
      }),
    ]),
  )
}

const studies: readonly (readonly [string, string])[] = [
  ["framings", "Violation, % by injection framing"],
  ["budgets", "Violation, % by summary budget"],
  ["strategies", "Violation, % by compaction strategy"],
  ["channels", "Violation, % by the channel of the rule"],
  ["rounds", "Violation, % after so many segments of work"],
  ["languages", "Violation, % by language"],
  ["wordings", "Violation, % by the wording of the rule"],
  ["rogue", "Violation, % by an agent that cares for no rule and rewrites what is refused, by task"],
]

export function textOf(report: Report): string {
  const of = (study: string) => report.cells.filter((cell) => cell.study === study)
  const main = of("main")
  const parts = [
    `ConstraintRot: ${report.what}`,
    report.note,
    `${report.episodes} episodes in ${report.seconds.toFixed(0)} s, seed ${report.seed}; ${Object.values(report.conditions).join(", ")}`,
    cellTable("Violation, %", main, ({ violation }) => percent(violation)),
    cellTable("Violation, 95 % Wilson interval", main, ({ violation }) => between(violation)),
    cellTable("Violation of soft / hard rules, %", main, ({ soft, hard }) => `${percent(soft)}/${percent(hard)}`),
    cellTable(
      "The rule stands in the agent's context, %: by keywords / verbatim",
      main,
      (cell) => `${percent(cell.keywordSurvival)}/${percent(cell.survival)}`,
    ),
    cellTable(
      "Tokens of carried rules, mean (share of the context, %)",
      main,
      ({ pinTokens, contextTokens }) => `${pinTokens.toFixed(0)} (${((100 * pinTokens) / contextTokens).toFixed(1)})`,
    ),
    cellTable("Tokens of the whole context, mean", main, ({ contextTokens }) => contextTokens.toFixed(0)),
    ...studies.map(([study, title]) => cellTable(title, of(study), ({ violation }) => percent(violation))),
    cellTable("The rule stands in the context by keywords, %, by summary budget", of("budgets"), (cell) =>
      percent(cell.keywordSurvival),
    ),
    cellTable("Allowed actions completed, %", of("allowed"), ({ completed }) => percent(completed)),
    decayTable(report),
    crossingTable(report),
    agreementTable(report),
    injectionTable(report),
    brokenText(report),
  ]
  return parts.map((part) => (report.simulated ? marked(part) : part)).join("\n")
}

/** Marks a table of simulated agents, so that nobody takes it for one of real models. */
const marked = (part: string): string => part.replace(/^\n(.+)/, "\n$1 [simulated]")

const decayTable = ({ decay }: Report): string =>
  table(
    "No defence, by task: violation, %",
    ["task", "kind", "floor", "control", "compaction", "decay"],
    decay.map(({ task, kind, floor, control, compaction }) => [
      task,
      kind,
      percent(floor),
      percent(control),
      percent(compaction),
      `+${Math.round(100 * (compaction.rate - control.rate))}`,
    ]),
  )

function crossingTable({ crossing }: Report): string {
  const agents = [...new Set(crossing.map(({ agent }) => agent))]
  const summarizers = [...new Set(crossing.map(({ summarizer }) => summarizer))]
  const at = (summarizer: string, agent: string) =>
    crossing.find((one) => one.summarizer === summarizer && one.agent === agent)
  return table(
    "No defence, compaction: summarizer (down) x agent (across), violation %",
    ["", ...agents],
    summarizers.map((summarizer) => [
      summarizer,
      ...agents.map((agent) => percent(at(summarizer, agent)?.violation ?? { rate: 0 })),
    ]),
  )
}

const agreementTable = ({ agreement }: Report): string =>
  table(
    "Does survival tell violation? No defence, compacted, attacked or not",
    ["measure", "violated when kept, %", "violated when lost, %", "both measures agree, %"],
    agreement.map(({ measure, whenKept, whenLost, same }) => [
      measure,
      `${percent(whenKept)} of ${whenKept.of}`,
      `${percent(whenLost)} of ${whenLost.of}`,
      percent(same),
    ]),
  )

const injectionTable = ({ injections }: Report): string =>
  table(
    "Injections found by search (soft tasks, other repetitions than above)",
    ["against", "summarizer", "agent", "text", "violation, %", "fixed text, %", "tried"],
    injections.map(({ row, summarizer, agent, genome, rate, fixedRate, tried }) => [
      row,
      summarizer,
      agent,
      `inject-${genome}`,
      percent({ rate }),
      percent({ rate: fixedRate }),
      String(tried),
    ]),
  )

function brokenText({ broken }: Report): string {
  if (broken.length === 0)
    return "\nHoldfast with pins and guard: no violation in any cell, and at least 99 % of what is allowed was done."
  return [
    "\nHoldfast with pins and guard: NOT as promised in these cells (replay with --only ID):",
    ...broken.flatMap(({ study, column, what, examples }) => [
      `  ${study}, ${column}: ${what}`,
      ...examples.map((id) => `    ${id}`),
    ]),
  ].join("\n")
}
