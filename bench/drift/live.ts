import { createHash } from "node:crypto"
import type { Summarizer } from "../constraintrot/agent.ts"
import { createSimulatedSummarizer, summarizerProfiles } from "../constraintrot/simulated-summarizer.ts"
import { clauses, specification } from "./clauses.ts"
import { cyclesOf } from "./cycles.ts"
import type { DriftRow } from "./rows.ts"
import { compliance, readClauses, writeReport } from "./writer.ts"

/** What became of the specification in one cycle. */
export type CycleResult = {
  readonly cycle: number
  readonly compliance: number
  /** Clauses that can be read in the context, of all. */
  readonly visible: number
  /** Does the whole specification stand in the context verbatim? */
  readonly verbatim: boolean
  /** Is the system part byte for byte that of the first call? */
  readonly stackSame: boolean
  readonly compactions: number
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/** One session over many cycles: work, a report that is checked, and on. */
export async function liveThrough(row: DriftRow, cycles: number, seed: number): Promise<readonly CycleResult[]> {
  let round = 0
  const summarizer: Summarizer = (text, words) =>
    createSimulatedSummarizer(summarizerProfiles.salience, "drift", seed, round++)(text, words)
  const living = row.open(summarizer)
  const results: CycleResult[] = []
  let first: string | undefined
  let compactions = 0
  try {
    if (row.holds === "conversation")
      await living.append([
        { role: "user", content: specification },
        { role: "assistant", content: "Understood." },
      ])
    for (const [n, { work, items, ask }] of cyclesOf(cycles, seed).entries()) {
      for (const turn of work) {
        await living.append(turn)
        if ((await living.show()).compacted) compactions++
      }
      await living.append([ask])
      const { messages, compacted } = await living.show()
      if (compacted) compactions++
      const report = writeReport(messages, items)
      await living.append([{ role: "assistant", content: report }])
      const system = hashOf(
        messages.flatMap(({ role, content }) => (role === "system" ? [content ?? ""] : [])).join("\n"),
      )
      first ??= system
      const text = messages.map(({ content }) => content ?? "").join("\n")
      results.push({
        cycle: n + 1,
        compliance: compliance(report, items),
        visible: readClauses(messages).size / clauses.length,
        verbatim: text.includes(specification),
        stackSame: system === first,
        compactions,
      })
    }
    return results
  } finally {
    await living.close()
  }
}
