import type { Weighing } from "./economics.ts"
import type { Plan, Sizes } from "./plan.ts"

/** What was decided about a context, from which sizes, and the costs and savings of the rewrite. */
export type PlanEvent = {
  readonly type: "plan-made"
  readonly plan: Plan
  readonly sizes: Sizes
  readonly weighing?: Weighing
}
