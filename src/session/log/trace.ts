import type { CompactEvent } from "../../compact/attempt.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import type { StackEvent } from "../../compact/stack/fit.ts"
import type { RepairEvent } from "../../message/repair.ts"
import type { LossEvent } from "../../wire/translate.ts"
import type { LogEvent } from "./event.ts"

/** What was done to a context and why. Each room names its own events, with reason, sizes and ids, enough to do the step again. */
export type TraceEvent = RepairEvent | StackEvent | LossEvent | PlanEvent | CompactEvent | LogEvent

/** In the order in which it was done. */
export type Trace = readonly TraceEvent[]
