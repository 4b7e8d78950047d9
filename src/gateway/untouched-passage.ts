import { joinGuards } from "../guard/join-guards.ts"
import { usualAgent } from "../session/options.ts"
import { sessionNames } from "../session/session-names.ts"
import type { Asked } from "./fast-path/asked.ts"
import { groupSession } from "./identity/session-name.ts"
import type { Passage } from "./passage.ts"
import type { How } from "./settings/exchange-record.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"

const namesIn = (tenant: string, session: string | undefined): readonly string[] =>
  session === undefined ? [] : [session, ...sessionNames(groupSession(tenant, session, undefined), { tenant })]

/** A call that goes on as it came, in no session. The operator's policies, and the built-in one, judge its answer all the same. */
export function untouchedPassage(
  { bytes, own, tenant }: Asked,
  how: How,
  { operator, guard: builtIn }: Pick<GatewayOptions, "operator" | "guard">,
): Passage {
  const guarding = async () => {
    const laid = (await operator?.refresh())?.guard
    const [first, ...others] = [builtIn, laid].filter((guard) => guard !== undefined)
    if (first === undefined) return undefined
    const { agent = usualAgent, session } = own
    const circumstances = { agent, sessions: namesIn(tenant, session) }
    return { guard: joinGuards([first, ...others]), circumstances, onJudged: async () => {} }
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
