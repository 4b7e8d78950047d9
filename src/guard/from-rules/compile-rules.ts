import { hashText } from "../../message/sha256.ts"
import type { TemplateUse } from "../policy/templates.ts"
import { type Rule, readRule } from "./binding.ts"
import type { FamilyReading, PolicyFamily } from "./family.ts"
import { askBefore, personalData, secrets, spend } from "./what-is-guarded.ts"
import { paths, productionData, securityControls, tools } from "./what-is-touched.ts"
import { channels, hosts, language, recipients, regions } from "./where-it-goes.ts"

/**
 * A rule is read in steps: its words are normalized (`plain-words.ts`), its values replaced by marks (`values.ts`), each part classified
 * by what it says of the values (`parts.ts`), and sentences that do not bind the agent rejected (`binding.ts`). Then the families are
 * tried in this order.
 */
const families: readonly (readonly [PolicyFamily, (rule: Rule) => FamilyReading])[] = [
  ["spend", spend],
  ["security-controls", securityControls],
  ["secrets", secrets],
  ["personal-data", personalData],
  ["language", language],
  ["recipients", recipients],
  ["production-data", productionData],
  ["regions", regions],
  ["hosts", hosts],
  ["paths", paths],
  ["tools", tools],
  ["channels", channels],
  ["ask-before", askBefore],
]

/** A guard policy compiled from a rule in words. */
export type RulePolicy = {
  /** The sentence it was compiled from, verbatim. */
  readonly rule: string
  readonly family: PolicyFamily
  /** `rule` of the use is the sentence; `name` is derived from a hash of it. */
  readonly policy: TemplateUse
  /** Confidence that the policy means what the sentence says, from 0 to 1. */
  readonly confidence: number
}

/** A rule that could not be compiled to a policy, and why. */
export type UncompiledRule = { readonly rule: string; readonly why: string; readonly family?: PolicyFamily }

const policyNameOf = (rule: string): string => `rule:${hashText(rule).slice(0, 12)}`

/**
 * Compiles a rule to a policy, or says why it cannot be. When in doubt there is no policy: one that was not meant stops an agent that does
 * what it was told.
 */
export function compileRule(text: string): RulePolicy | UncompiledRule {
  const rule = readRule(text)
  if ("why" in rule) return { rule: text, why: rule.why }
  let firstFailure: UncompiledRule | undefined
  for (const [family, read] of families) {
    const found = read(rule)
    if (found === undefined) continue
    if ("policy" in found)
      return { ...found, rule: text, family, policy: { ...found.policy, name: policyNameOf(text), rule: text } }
    firstFailure ??= { rule: text, family, why: found.why }
  }
  return firstFailure ?? { rule: text, why: "it is about nothing that the guard can judge" }
}

/** How policies compiled from rules are used: not at all, reported only, as a question to a person, or enforced. */
export type FromRules = "off" | "observe" | "ask" | "enforce"

export const fromRulesNames: readonly FromRules[] = ["off", "observe", "ask", "enforce"]

/** Minimum confidence to deny a call; below it the policy asks instead, because it may cover more than the rule says. */
const minConfidenceToDeny = 0.8

/** Applies the mode to a compiled policy. It can only forbid or ask, so it never weakens other policies. */
export function policyInMode({ policy, confidence }: RulePolicy, mode: Exclude<FromRules, "off">): TemplateUse {
  if (mode === "observe") return { ...policy, mode: "observe" }
  return mode === "ask" || confidence < minConfidenceToDeny ? { ...policy, decision: "ask" } : policy
}
