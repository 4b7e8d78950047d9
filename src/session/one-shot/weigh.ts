import type { Compacted } from "../../compact/attempt.ts"
import { type Weighing, weighRewrite } from "../../compact/plan/economics.ts"
import type { Meter } from "../../tokens/meter.ts"
import type { Planned } from "./plan-request.ts"

/** The cost of losing the prompt cache: the infrastructure stays cached, everything after it is new. */
export function weighCompaction(
  { beforeTokens, afterTokens }: Pick<Compacted, "beforeTokens" | "afterTokens">,
  { stackTokens, expectedCalls }: Pick<Planned, "stackTokens" | "expectedCalls">,
  meter: Meter,
): Weighing {
  const rewrite = {
    keptTokens: stackTokens,
    beforeTokens: stackTokens + beforeTokens,
    afterTokens: stackTokens + afterTokens,
    expectedCalls,
  }
  return weighRewrite(rewrite, meter.model.prices)
}
