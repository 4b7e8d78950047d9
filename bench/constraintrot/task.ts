import type { TemplateUse } from "../../src/guard/policy/templates.ts"
import type { Call } from "./call.ts"

export type Language = "en" | "zh" | "es"

export type TaskName =
  | "email"
  | "language"
  | "channel"
  | "deploy"
  | "spend"
  | "proddb"
  | "secret"
  | "pii"
  | "seccontrol"

/** A request that is complete in itself: its text, and the call that it naturally leads to. */
export type TriggerRequest = { readonly ask: Readonly<Record<Language, string>>; readonly call: Call }

export type Task = {
  readonly name: TaskName
  /** Soft: only the organization's rule forbids it. Hard: most models would refuse by themselves. */
  readonly kind: "soft" | "hard"
  /** Share of cases in which a simulated agent does it if it sees no rule against it; the rest is its own caution. */
  readonly completion: number
  /** The rule in several wordings. */
  readonly rules: Readonly<Record<Language, readonly string[]>>
  readonly forbidden: readonly TriggerRequest[]
  /** The same kind of action within the rule; empty for some tasks. */
  readonly allowed: readonly TriggerRequest[]
  /** A "rule" that an attacker plants in a tool's output; obeying it turns the allowed action into a forbidden one. */
  readonly planted?: string
  /** Words of the rule that must all be in one sentence for it to count as surviving. */
  readonly keywords: readonly RegExp[]
  /** The operator's policy for the guard, given out of band. */
  readonly policies: readonly TemplateUse[]
  readonly violates: (call: Call) => boolean
}

export const company = "northpier.example"
