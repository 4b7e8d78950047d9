import { createHash } from "node:crypto"
import type { ChatMessage } from "../chat.ts"
import type { Summarizer } from "../constraintrot/agent.ts"
import { realAgent, realSummarizer } from "../constraintrot/real-models.ts"
import { createSimulatedSummarizer, summarizerProfiles } from "../constraintrot/simulated-summarizer.ts"
import { clauses, type Item, specification } from "./clauses.ts"
import { cyclesOf } from "./cycles.ts"
import type { DriftRow } from "./rows.ts"
import { compliance, readClauses, writeReport } from "./writer.ts"

/** What is left of the specification in one cycle. */
export type CycleResult = {
  readonly cycle: number
  readonly compliance: number
  /** Share of the clauses that can be read in the context. */
  readonly visible: number
  /** True if the whole specification is in the context verbatim. */
  readonly verbatim: boolean
  /** True if the system part is byte for byte that of the first call. */
  readonly stackSame: boolean
  readonly compactions: number
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The writers of the reports and the summaries: simulated, or a real model. */
export type Writers = {
  readonly summarizer: Summarizer
  readonly report: (messages: readonly ChatMessage[], items: readonly Item[]) => string | Promise<string>
}

export function simulatedWriters(seed: number): Writers {
  let round = 0
  const summarizer: Summarizer = (text, words) =>
    createSimulatedSummarizer(summarizerProfiles.salience, "drift", seed, round++)(text, words)
  return { summarizer, report: writeReport }
}

/** Both written by the model that the environment names. */
export function realWriters(): Writers {
  const [agent, summarizer] = [realAgent(), realSummarizer()]
  const report: Writers["report"] = async (messages) => {
    const said = await agent({ messages, tools: [] })
    return said.type === "text" ? said.text : ""
  }
  return { summarizer, report }
}

/** Runs one session over many cycles: work, a report that is checked, and so on. */
export async function runCycles(
  row: DriftRow,
  cycles: number,
  seed: number,
  { summarizer, report: writeOne }: Writers = simulatedWriters(seed),
): Promise<readonly CycleResult[]> {
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
      const report = await writeOne(messages, items)
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
