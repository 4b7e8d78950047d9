import type { SessionEvent } from "../../session/events.ts"
import { createDegradedSessions } from "./degraded-sessions.ts"
import { createLabelValues } from "./label-values.ts"
import type { Registry } from "./registry.ts"

/** Counts what happens in sessions, whoever asked for it. What a record has as well is counted in one place only. */
export function countEvents(registry: Registry): (event: SessionEvent) => void {
  const compacted = countCompactions(registry)
  const { counter, measured } = registry
  const rules = counter({ name: "holdfast_rules_found_total", help: "Standing rules that were found and pinned." })
  const summaries = counter({
    name: "holdfast_summaries_total",
    help: "Summaries written in the background, by what came of them.",
    labels: ["outcome"],
  })
  const failures = counter({
    name: "holdfast_background_failures_total",
    help: "Work in the background that failed, by its kind.",
    labels: ["work"],
  })
  const [degraded, works] = [createDegradedSessions(), createLabelValues()]
  measured(
    {
      name: "holdfast_store_durability_degraded",
      help: "Whether something waits in memory that the store did not take.",
    },
    () => (degraded.count() > 0 ? 1 : 0),
  )
  measured(
    { name: "holdfast_sessions_unsaved", help: "Sessions of which the store has not everything." },
    degraded.count,
  )
  return (event) => {
    degraded.take(event)
    switch (event.type) {
      case "compaction-installed":
      case "compaction-undone":
        return compacted(event)
      case "rules-found":
        return rules.add(event.pins.length)
      case "summary-ready":
        return summaries.add(1, "ready")
      case "summary-failed":
        return summaries.add(1, "failed")
      case "summary-abandoned":
        return summaries.add(1, "abandoned")
      case "background-failed":
        return failures.add(1, works(event.work))
    }
  }
}

type CompactionEvent = Extract<SessionEvent, { type: "compaction-installed" | "compaction-undone" }>

function countCompactions({ counter }: Registry): (event: CompactionEvent) => void {
  const compactions = counter({
    name: "holdfast_compactions_total",
    help: "Compactions that were installed, by remedy.",
    labels: ["remedy"],
  })
  const removed = counter({
    name: "holdfast_compaction_tokens_removed_total",
    help: "Tokens by which compactions made contexts smaller.",
  })
  const undone = counter({ name: "holdfast_compactions_undone_total", help: "Compactions that were taken back." })
  const remedies = createLabelValues()
  return (event) => {
    if (event.type === "compaction-undone") return undone.add(1)
    compactions.add(1, remedies(event.remedy))
    removed.add(Math.max(0, event.beforeTokens - event.afterTokens))
  }
}
