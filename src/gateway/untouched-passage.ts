import { joinGuards } from "../guard/join-guards.ts"
import type { Asked } from "./asked.ts"
import type { How } from "./exchange-record.ts"
import type { GatewayOptions } from "./gateway-options.ts"
import type { Passage } from "./passage.ts"

/** A call that goes on as it came, in no session. The operator's policies, and the built-in one, judge its answer all the same. */
export function untouchedPassage(
  { bytes }: Asked,
  how: How,
  { operator, guard: builtIn }: Pick<GatewayOptions, "operator" | "guard">,
): Passage {
  const guarding = async () => {
    const laid = (await operator?.refresh())?.guard
    const [first, ...others] = [builtIn, laid].filter((guard) => guard !== undefined)
    return first === undefined ? undefined : { guard: joinGuards([first, ...others]), onJudged: async () => {} }
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
