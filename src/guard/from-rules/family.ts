import type { TemplateUse } from "../policy/templates.ts"
import type { Rule } from "./binding.ts"

/** The kinds of rules that the guard can judge. */
export type PolicyFamily =
  | "recipients"
  | "spend"
  | "channels"
  | "regions"
  | "language"
  | "production-data"
  | "secrets"
  | "personal-data"
  | "security-controls"
  | "paths"
  | "hosts"
  | "tools"
  | "ask-before"

/** What a rule is as a policy, and how sure that is; or why it is about a family and is none. Nothing if it is not about the family. */
export type FamilyReading =
  | { readonly policy: TemplateUse; readonly confidence: number }
  | { readonly why: string }
  | undefined

/**
 * How sure it is that a policy says what its rule does: it is said in so many words; a word of it may mean something else; it had to be
 * put together from parts, or the policy covers more than is named; it has to be read between the lines.
 */
export const [sure, likely, broad, guessed] = [0.95, 0.85, 0.75, 0.6]

/** The policy of a rule. A rule that a person may set aside by saying so asks that person. */
export const made = ({ asks }: Rule, policy: TemplateUse, confidence: number): FamilyReading => ({
  policy: asks ? { ...policy, decision: "ask" } : policy,
  confidence,
})

export const someOnly = { why: "it is about some messages only, which the guard cannot tell from others" } as const

export const someCalls = { why: "it is about some of such calls only" } as const

export const twoThings = { why: "it says two things at once; state them one by one" } as const

export const narrowed = { why: "it has words that may narrow it, and what they mean is not known" } as const
