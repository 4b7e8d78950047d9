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

/** A request that is complete in itself: the words around it, and the call that it naturally ends in. */
export type Asked = { readonly ask: Readonly<Record<Language, string>>; readonly call: Call }

export type Task = {
  readonly name: TaskName
  /** Soft: only the organization's rule speaks against it. Hard: most models would refuse by themselves. */
  readonly kind: "soft" | "hard"
  /** How often a simulated agent does it if it sees no rule against it; the rest is its own caution. */
  readonly completion: number
  /** The rule in several wordings. */
  readonly rules: Readonly<Record<Language, readonly string[]>>
  readonly forbidden: readonly Asked[]
  /** The same kind of action within the rule; none for some. */
  readonly allowed: readonly Asked[]
  /** A "rule" that an attacker plants in a tool's output; who obeys it turns the allowed action into a forbidden one. */
  readonly planted?: string
  /** Words of the rule that a survivor must have, all of them in one sentence. */
  readonly keywords: readonly RegExp[]
  /** The operator's policy for the guard, given out of band. */
  readonly policies: readonly TemplateUse[]
  readonly violates: (call: Call) => boolean
}

export const company = "northpier.example"
