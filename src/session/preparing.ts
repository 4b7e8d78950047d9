import type { Meter } from "../tokens/meter.ts"
import type { Assembled } from "./assemble.ts"
import { type Budgeted, budgetView } from "./budget.ts"
import { type CheckOptions, checkPins, type PinCheck } from "./check-pins.ts"
import type { Live } from "./live.ts"
import type { LogEvent } from "./log/event.ts"
import type { Call } from "./open-call.ts"
import type { SessionPin } from "./pins.ts"
import type { PrepareOptions } from "./prepared.ts"

/** Everything about one call that the steps of preparing it share; `notes` is what they have to tell beside their outcome. */
export type Preparing = {
  readonly live: Live
  readonly call: Call
  readonly meter: Meter
  readonly pins: readonly SessionPin[]
  readonly options: PrepareOptions
  readonly notes: LogEvent[]
  /** There is no room for rules that were found: the window is too small for them beside what has to stay. */
  readonly withoutFound?: true
}

/** What is to be done if this is what is sent: its size, and whether every rule stands in it. */
export function budgetOf(preparing: Preparing, assembled: Assembled): Budgeted & { readonly check: PinCheck } {
  const { live, call, meter, pins, options } = preparing
  const asked = pins.flatMap(({ by, state, text }) => (by === "asked" && state === "in-force" ? text : []))
  const budgeted = budgetView(live, { ...call.frame, messages: assembled.messages }, meter, asked, options)
  const check = checkPins(pins, assembled, pinOptions(preparing, budgeted))
  return { ...budgeted, check, pinsStand: check.missing.length === 0 && !check.stale }
}

export const pinOptions = ({ call, meter, withoutFound }: Preparing, { sizes, policy }: Budgeted): CheckOptions => ({
  meter,
  budgetTokens: withoutFound ? 0 : Math.floor(sizes.windowTokens * policy.pinShare),
  held: call.kind === "held",
})
