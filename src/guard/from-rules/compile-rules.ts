import { sentencesIn } from "../../language/sentences.ts"
import { hashText } from "../../message/sha256.ts"
import { amountsIn } from "../facts/amounts.ts"
import type { TemplateUse } from "../policy/templates.ts"
import type { FamilyReading, PolicyFamily } from "./family.ts"
import { readAgain } from "./second-reading.ts"
import { type RuleStatement, readStatement } from "./statement.ts"
import { askBefore, paths, productionData, regions, securityControls, spend, tools } from "./what-is-done.ts"
import { channels, hosts, language, personalData, recipients, secrets } from "./what-leaves.ts"

/** The families in the order in which a rule is tried: those whose values say most come first. */
const readers: readonly (readonly [PolicyFamily, (rule: RuleStatement) => FamilyReading])[] = [
  ["spend", spend],
  ["personal-data", personalData],
  ["secrets", secrets],
  ["security-controls", securityControls],
  ["recipients", recipients],
  ["hosts", hosts],
  ["regions", regions],
  ["language", language],
  ["production-data", productionData],
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

const notJudged = "it is about nothing that the guard can judge"

/**
 * The policy that a rule in words means, or why there is none. In doubt there is none: a policy that was not meant stops an agent that does
 * what it was told.
 */
export function compileRule(rule: string): RulePolicy | UncompiledRule {
  const found = compileSentence(rule)
  if ("policy" in found) return found
  return compileSentences(rule) ?? compileAgain(rule, found)
}

/** What the second reading makes of a rule; what the first had found near says more about why there is none. */
function compileAgain(rule: string, first: UncompiledRule): RulePolicy | UncompiledRule {
  const again = readAgain(rule)
  if (again === undefined) return first
  if ("why" in again) return first.why === notJudged ? { rule, why: again.why } : first
  const { family, reading } = again
  if ("why" in reading) return first.why === notJudged ? { rule, family, why: reading.why } : first
  return { rule, family, policy: { ...reading.policy, name: nameOf(rule), rule }, confidence: reading.confidence }
}

/** Whoever says a thing twice says it once: the policy that each of several sentences means. */
function compileSentences(rule: string): RulePolicy | undefined {
  const [first, ...others] = sentencesIn(rule, { start: 0, end: rule.length }).map(({ start, end }) =>
    compileSentence(rule.slice(start, end)),
  )
  if (first === undefined || !("policy" in first) || others.length === 0) return undefined
  const policy = { ...first.policy, name: nameOf(rule), rule }
  const isSame = (one: RulePolicy | UncompiledRule): boolean =>
    "policy" in one && JSON.stringify({ ...one.policy, name: nameOf(rule), rule }) === JSON.stringify(policy)
  return others.every(isSame) ? { ...first, rule, policy } : undefined
}

const nameOf = (rule: string): string => `rule:${hashText(rule).slice(0, 12)}`

function compileSentence(rule: string): RulePolicy | UncompiledRule {
  const statement = readStatement(rule)
  if ("why" in statement) return { rule, why: statement.why }
  let near: UncompiledRule | undefined
  for (const [family, read] of readers) {
    const found = read(statement)
    if (found === undefined) continue
    if ("policy" in found) {
      if (statement.condition !== undefined && !(family === "spend" && amountsIn(statement.condition).length > 0))
        return { rule, family, why: `it holds under a condition that a call does not show: "${statement.condition}"` }
      const policy = { ...found.policy, name: nameOf(rule), rule }
      return { rule, family, policy, confidence: found.confidence }
    }
    near ??= { rule, family, why: found.why }
  }
  return near ?? { rule, why: notJudged }
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
