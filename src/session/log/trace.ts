import type { CompactEvent } from "../../compact/attempt.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import type { StackEvent } from "../../compact/stack/fit.ts"
import type { RepairEvent } from "../../message/repair.ts"
import type { LossEvent } from "../../wire/translate.ts"
import type { LogEvent } from "./event.ts"

/** What was done to a context and why. Each module defines its own events, with reason, sizes and ids: enough to repeat the step. */
export type TraceEvent = RepairEvent | StackEvent | LossEvent | PlanEvent | CompactEvent | LogEvent

/** The events in order. */
export type Trace = readonly TraceEvent[]
