import { writeFile } from "node:fs/promises"
import { conditionsNow } from "./conditions.ts"
import { optionsFrom, type RunOptions } from "./constraintrot/options.ts"
import { realWriters, runCycles, simulatedWriters, type Writers } from "./drift/live.ts"
import { type DriftMeans, type DriftReport, driftHtml, driftText, meanOf, whatDriftIs } from "./drift/report.ts"
import { driftRows } from "./drift/rows.ts"

/**
 * Does a specification survive? The same work through up to twenty compactions, with the specification in the conversation or in the prompt
 * stack, behind a plain harness, a framework and Holdfast; reports are checked clause by clause.
 */
export async function run(given: RunOptions = {}): Promise<DriftReport> {
  const { quick = false, seed = 1, html, models = false } = { ...optionsFrom(process.argv), ...given }
  const start = performance.now()
  const [cycles, sessions] = quick ? [8, 2] : models ? [20, 1] : [20, 6]
  const writersFor = (own: number): Writers => (models ? realWriters() : simulatedWriters(own))
  const rows: DriftMeans[] = []
  for (const row of driftRows) {
    const lived = await Promise.all(
      Array.from({ length: sessions }, (_, n) => runCycles(row, cycles, seed * 100 + n, writersFor(seed * 100 + n))),
    )
    rows.push(meanOf(row.name, lived))
    process.stderr.write(`drift: ${row.name}\n`)
  }
  const report: DriftReport = {
    bench: "drift",
    what: whatDriftIs(models),
    simulated: !models,
    conditions: conditionsNow(),
    seed,
    sessions,
    cycles,
    seconds: (performance.now() - start) / 1000,
    rows,
  }
  if (html !== undefined) await writeFile(html, driftHtml(report))
  return report
}

export function print(report: DriftReport): void {
  console.log(driftText(report))
}
