import type { TemplateUse } from "../policy/templates.ts"
import type { Rule } from "./binding.ts"

/** The subjects of rules that the guard can judge. */
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

/** A rule as a policy with a confidence, or why it is about the family but makes no policy. `undefined` if it is not about the family. */
export type FamilyReading =
  | { readonly policy: TemplateUse; readonly confidence: number }
  | { readonly why: string }
  | undefined

/**
 * Confidence that a policy means what its rule says: stated explicitly; one of its words is ambiguous; put together from several parts, or
 * broader than what is named; only implied.
 */
export const [sure, likely, broad, guessed] = [0.95, 0.85, 0.75, 0.6]

/** Returns the policy of a rule with its confidence. If the rule asks for approval, so does the policy. */
export const policyReading = ({ asks }: Rule, policy: TemplateUse, confidence: number): FamilyReading => ({
  policy: asks ? { ...policy, decision: "ask" } : policy,
  confidence,
})

export const someOnly = { why: "it is about some messages only, which the guard cannot tell from others" } as const

export const someCalls = { why: "it is about some of such calls only" } as const

export const twoThings = { why: "it says two things at once; state them one by one" } as const

export const narrowed = { why: "it has words that may narrow it, and what they mean is not known" } as const
