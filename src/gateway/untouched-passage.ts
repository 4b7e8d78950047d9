import type { Operator } from "../operator/operator.ts"
import type { Asked } from "./asked.ts"
import type { How } from "./exchange-record.ts"
import type { Passage } from "./passage.ts"

/** A call that goes on as it came, in no session. The operator's policies judge its answer all the same. */
export function untouchedPassage({ bytes }: Asked, how: How, operator: Operator | undefined): Passage {
  const guarding = async () => {
    const guard = (await operator?.refresh())?.guard
    return guard === undefined ? undefined : { guard, onJudged: async () => {} }
  }
  return {
    how,
    bytes,
    changed: false,
    known: () => ({ trace: [] }),
    guarding,
    smaller: async () => undefined,
    ended: () => {},
  }
}
