import type { LogEvent } from "../log/event.ts"
import type { Transcript } from "../message/message.ts"
import type { Meter } from "../tokens/meter.ts"
import { type Budgeted, budgetView } from "./budget.ts"
import type { Live } from "./live.ts"
import type { Call } from "./open-call.ts"
import type { PrepareOptions } from "./prepared.ts"

/** Everything about one call that the steps of preparing it share; `notes` is what they have to tell beside their outcome. */
export type Preparing = {
  readonly live: Live
  readonly call: Call
  readonly meter: Meter
  readonly pins: readonly string[]
  readonly options: PrepareOptions
  readonly notes: LogEvent[]
}

/** What is to be done if these are the messages that are sent. */
export const budgetOf = ({ live, call, meter, pins, options }: Preparing, messages: Transcript): Budgeted =>
  budgetView(live, { ...call.frame, messages }, meter, pins, options)
