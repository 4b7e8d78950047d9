import { findRules } from "../rules/find-rules.ts"
import { createMeter } from "../tokens/meter.ts"

const sample = "Never push to main. Run the tests before each commit, and ask before anything is deleted."

/** Do once what is slow the first time (patterns are compiled, the vocabulary is read), so that no client waits for it. */
export function warmUp(): void {
  for (const channel of ["user", "tool", "document"] as const) findRules(sample, { channel })
  createMeter({}).text(sample)
}
