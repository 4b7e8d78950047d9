import { beginSummary } from "./background.ts"
import type { Budgeted } from "./budget.ts"
import { flushMemory } from "./flush-memory.ts"
import type { Preparing } from "./preparing.ts"

/** What a plan asks for beside the call itself is done once the call is over: nobody waits for it. */
export function afterwards(preparing: Preparing, { plan }: Budgeted, compacted: boolean): void {
  const { live } = preparing
  const flushes = compacted || plan.type === "compact" || (plan.type === "leave" && plan.flush)
  if (flushes && live.options.memory?.flush !== false) {
    live.later("memory", async () => {
      await flushMemory(live)
    })
  }
  if (plan.type === "leave" && plan.speculate && live.queue !== undefined) {
    live.later("speculation", async () => {
      await beginSummary(preparing)
    })
  }
}
