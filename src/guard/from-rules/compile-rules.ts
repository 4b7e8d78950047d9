import { hashText } from "../../message/sha256.ts"
import type { TemplateUse } from "../policy/templates.ts"
import { type Rule, readRule } from "./binding.ts"
import type { FamilyReading, PolicyFamily } from "./family.ts"
import { askBefore, personalData, secrets, spend } from "./what-is-guarded.ts"
import { paths, productionData, securityControls, tools } from "./what-is-touched.ts"
import { channels, hosts, language, recipients, regions } from "./where-it-goes.ts"

/**
 * A rule in words is read in steps: its words become plain ones (`plain-words.ts`), its values marks (`values.ts`), its parts say what they
 * say of the values (`parts.ts`), and it has to bind the agent at all (`binding.ts`). Then the families are asked in this order.
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

/** A policy of the guard that was made from a rule in words. */
export type RulePolicy = {
  /** The sentence that it came from, verbatim. */
  readonly rule: string
  readonly family: PolicyFamily
  /** `rule` of the use is the sentence, `name` tells where it came from. */
  readonly policy: TemplateUse
  /** How sure it is that the policy says what the sentence does, from 0 to 1. */
  readonly confidence: number
}

/** A rule that no policy was made of. */
export type UncompiledRule = { readonly rule: string; readonly why: string; readonly family?: PolicyFamily }

const nameOf = (rule: string): string => `rule:${hashText(rule).slice(0, 12)}`

/**
 * The policy that a rule in words means, or why there is none. In doubt there is none: a policy that was not meant stops an agent that does
 * what it was told.
 */
export function compileRule(text: string): RulePolicy | UncompiledRule {
  const rule = readRule(text)
  if ("why" in rule) return { rule: text, why: rule.why }
  let near: UncompiledRule | undefined
  for (const [family, read] of families) {
    const found = read(rule)
    if (found === undefined) continue
    if ("policy" in found)
      return { ...found, rule: text, family, policy: { ...found.policy, name: nameOf(text), rule: text } }
    near ??= { rule: text, family, why: found.why }
  }
  return near ?? { rule: text, why: "it is about nothing that the guard can judge" }
}

/** What becomes of policies that were made from rules: nothing, told only, a person is asked, or they are given effect. */
export type FromRules = "off" | "observe" | "ask" | "enforce"

export const fromRulesNames: readonly FromRules[] = ["off", "observe", "ask", "enforce"]

/** Below this a policy asks where it would deny: it may bind more than the rule says. */
const sureEnough = 0.8

/**
 * A policy in the way that somebody wants policies from rules used. It only ever forbids or asks, so it takes nothing away from the
 * policies beside it.
 */
export function policyInMode({ policy, confidence }: RulePolicy, mode: Exclude<FromRules, "off">): TemplateUse {
  if (mode === "observe") return { ...policy, mode: "observe" }
  return mode === "ask" || confidence < sureEnough ? { ...policy, decision: "ask" } : policy
}
