import type { Compacted } from "../../compact/attempt.ts"
import { type Weighing, weighRewrite } from "../../compact/plan/economics.ts"
import type { Meter } from "../../tokens/meter.ts"
import type { Planned } from "./plan-request.ts"

/** What the rewrite costs in cache: the stack stays, all behind it is new. */
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
