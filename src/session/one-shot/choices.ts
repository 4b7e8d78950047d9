import { defaultStrategyOptions, strategies } from "../../compact/stages/strategies.ts"
import type { CompactChoices } from "../../compact/task.ts"
import { present } from "../../message/present.ts"
import type { PinnedRule } from "../../rules/pin.ts"
import type { Meter } from "../../tokens/meter.ts"
import type { CompactOptions } from "./options.ts"
import { createSummarizer } from "./summarizer.ts"

/** A rule given by the caller of one request. */
export const userRule = (text: string): PinnedRule => ({ text, channel: "user" })

/** The options with defaults filled in. */
export function choicesOf(options: CompactOptions, meter: Meter): CompactChoices {
  const { strategy = "staged", schema = "handoff", pins = [], summarizer } = options
  return {
    ...(typeof strategy === "function"
      ? { strategy: "custom", entry: { select: strategy, micro: "even" } }
      : { strategy, entry: strategies[strategy] }),
    strategyOptions: { ...defaultStrategyOptions, ...options.strategyOptions },
    schema,
    digest: summarizer === "none" ? "none" : "full",
    pins: [...new Set(pins)].map(userRule),
    ...present({
      focus: options.focus,
      language: options.language,
      toolBudgets: options.toolBudgets,
      handleOf: options.handleOf,
      summarizer: createSummarizer(options, meter),
    }),
  }
}
