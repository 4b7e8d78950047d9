import { writeExtractive } from "../compact/summary/extractive.ts"
import type { Summary, SummarySection } from "../compact/summary/summary.ts"
import type { Summarizer, SummaryQuestion } from "../compact/task.ts"
import { beginSummary } from "./background.ts"
import type { Live } from "./live.ts"
import { entryId } from "./log/entry.ts"
import type { LogEvent } from "./log/event.ts"
import type { Preparing } from "./preparing.ts"
import { currentSpeculation, readSummary } from "./stored-summary.ts"

/** How often a summary that is waited for is looked for. */
const pollMs = 20

/** A summarizer that has its answer already: what was written in the background, as far as it goes, and the rest without a model. */
export async function readySummarizer(preparing: Preparing): Promise<Summarizer | undefined> {
  const { live, options } = preparing
  const { summarizer } = live.options
  if (summarizer === undefined || typeof summarizer === "string") return undefined
  const maxWaitMs = options.maxWaitMs ?? live.options.maxWaitMs ?? 0
  const begun = (await currentSpeculation(live)) ?? (maxWaitMs > 0 ? await beginSummary(preparing) : undefined)
  if (begun === undefined) return undefined
  const summary = await awaitSummary(live, begun.key, maxWaitMs)
  const writer = typeof summarizer === "function" ? "custom" : "model"
  if (summary === undefined) {
    if (maxWaitMs > 0) note(preparing, { type: "summary-awaited", key: begun.key, outcome: "late" })
    return undefined
  }
  note(preparing, { type: "summary-used", key: begun.key, covered: begun.covered.length })
  const covered = new Set(begun.covered.map(entryId))
  return { writer, write: async (question) => ({ summary: complete(summary, question, covered), events: [] }) }
}

const note = ({ notes }: Preparing, event: LogEvent): void => {
  notes.push(event)
}

async function awaitSummary({ store, id }: Live, key: string, maxWaitMs: number): Promise<Summary | undefined> {
  let isOver = maxWaitMs <= 0
  const timer = setTimeout(() => {
    isOver = true
  }, maxWaitMs)
  try {
    for (;;) {
      const json = await store.getSummary(id, key).catch(() => undefined)
      if (json !== undefined || isOver) return json === undefined ? undefined : readSummary(json)
      await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, maxWaitMs)))
    }
  } finally {
    clearTimeout(timer)
  }
}

/** What came after the summary was begun, or was not in it, said without a model and put into the same sections. */
function complete(written: Summary, { messages, schema }: SummaryQuestion, covered: ReadonlySet<string>): Summary {
  const rest = messages.filter(({ id }) => !covered.has(id))
  const extracted = rest.length === 0 ? [] : writeExtractive(rest, { schema }).sections
  const names = [...new Set([...written.sections, ...extracted].map(({ name }) => name))]
  const linesOf = (sections: readonly SummarySection[], name: string): SummarySection["lines"] =>
    sections.find((section) => section.name === name)?.lines ?? []
  const sections = names.map((name) => ({
    name,
    lines: [...linesOf(written.sections, name), ...linesOf(extracted, name)],
  }))
  return { schema: written.schema, sections }
}
