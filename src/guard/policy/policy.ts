import type { Action } from "../facts/action.ts"
import type { Condition } from "./condition.ts"
import type { AttributeName } from "./schema.ts"

/** One policy, checked, with what it asks about a call. */
export type Policy = {
  readonly id: string
  readonly text: string
  /** The input that it came from, and the line there. */
  readonly source: string
  readonly line: number
  readonly effect: "permit" | "forbid"
  readonly decision: "deny" | "ask"
  /** The rule in words, from `@rule("…")`. */
  readonly rule: string
  /** What to do instead, from `@instead("…")`. */
  readonly instead?: string
  readonly asks: ReadonlySet<AttributeName>
  /** The actions that its head names; absent where it holds for all of them. */
  readonly actions?: ReadonlySet<Action>
  /** The one tool and the one agent that its head names, if it does. */
  readonly tool?: string
  readonly agent?: string
  /** Its conditions ask which action it is. */
  readonly asksAction: boolean
  /** False where it surely does not hold. */
  readonly mayHold: Condition
}
