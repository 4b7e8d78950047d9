import type { CaseReport, Measured, Report } from "./gateway.ts"
import type { SoakReport } from "./gateway-soak.ts"

const figure = (value: number): string =>
  Number.isNaN(value)
    ? ""
    : value < 10
      ? value.toFixed(2)
      : value < 100
        ? value.toFixed(1)
        : Math.round(value).toLocaleString("en")
const times = (value: number, base: number | undefined): string =>
  base === undefined ? "" : `${figure(value / base)}x`

function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map((line) => `    ${line.map(pad).join("  ").trimEnd()}`).join("\n")
}

const words: Readonly<Record<Measured["target"], string>> = {
  direct: "no gateway",
  bare: "bare passthrough",
  portkey: "Portkey",
  sqlite: "holdfast, sqlite",
  memory: "holdfast, memory",
  small: "holdfast, compacting",
  guarded: "holdfast, guarded",
}

const howOf = ({ how = {} }: Measured): string =>
  Object.entries(how)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ")

function printCase({ name, measured }: CaseReport): void {
  const direct = measured.find(({ target }) => target === "direct")
  const bare = measured.find(({ target }) => target === "bare")
  const lines = measured.map((one) => [
    words[one.target],
    ...[one.p50, one.p99, one.firstP50].map(figure),
    direct === undefined || one === direct ? "" : figure(one.p50 - direct.p50),
    times(one.p50, bare?.p50),
    String(one.requests),
    one.failed === 0 ? "" : String(one.failed),
    one.changed === 0 ? "" : String(one.changed),
    howOf(one),
  ])
  console.log(`\n  ${name}`)
  console.log(table(["|p50 ms|p99 ms|first byte ms|added ms|: bare|requests|failed|changed|".split("|"), ...lines]))
}

function printThroughput({ name, measured }: CaseReport): void {
  const bare = measured.find(({ target }) => target === "bare")
  const lines = measured.map((one) => [
    words[one.target],
    figure(one.perSecond),
    times(one.perSecond, bare?.perSecond),
    ...[one.p50, one.p99].map(figure),
    one.failed === 0 ? "" : String(one.failed),
    howOf(one),
  ])
  console.log(`\n  ${name}`)
  console.log(table(["|requests a second|: bare|p50 ms|p99 ms|failed|".split("|"), ...lines]))
}

function printSoak({ conditions, minutes, faults }: SoakReport): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`gateway: memory over time (${told.join(", ")})`)
  const lines = minutes.map((one) => [
    String(one.minute),
    ...[one.rssMb, one.heapMb, one.requests, one.changed, one.p50, one.p99, one.loopP99, one.loopLongest].map(figure),
    ...[one.turnLongest, one.turnsOver100, one.gcLongest, one.gcAll, one.cpuMs, one.storeMb, one.load].map(figure),
    one.failed === 0 ? "" : String(one.failed),
  ])
  console.log(
    table([
      [
        ..."minute|rss MB|heap MB after gc|requests|changed|p50 ms|p99 ms|loop p99 ms|loop longest ms".split("|"),
        ..."longest turn CPU ms|turns over 100|gc longest ms|gc ms|CPU ms a request|store MB|load|failed".split("|"),
      ],
      ...lines,
    ]),
  )
  const [first, last] = [minutes[0], minutes.at(-1)]
  const requests = minutes.slice(1).reduce((sum, one) => sum + one.requests, 0)
  if (first !== undefined && last !== undefined && requests > 0)
    console.log(
      `\n  database: ${figure(((last.storeMb - first.storeMb) * 1000) / requests)} kB a turn after the first minute`,
    )
  if (faults.length > 0) console.log(`\n  faults: ${faults.join("; ")}`)
}

export function print(report: Report | SoakReport): void {
  if ("minutes" in report) printSoak(report)
  else printReport(report)
}

function printReport({ conditions, latency, throughput, memory, installed, faults }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`gateway: what it adds to a call (${told.join(", ")})`)
  for (const one of latency) printCase(one)
  for (const one of throughput) printThroughput(one)
  console.log("\n  resident memory, MB")
  console.log(
    table([
      ["", "at the start", "at the end"],
      ...memory.map(({ target, startMb, endMb }) => [
        target === "direct" ? "upstream" : (words[target] ?? target),
        figure(startMb),
        figure(endMb),
      ]),
    ]),
  )
  console.log("\n  on disk, MB")
  console.log(
    table([
      ["", "itself", "with all it needs", "packages"],
      ...installed.map(({ name, ownMb, allMb, packages }) => [name, figure(ownMb), figure(allMb), String(packages)]),
    ]),
  )
  if (faults.length > 0) console.log(`\n  faults: ${faults.join("; ")}`)
}
