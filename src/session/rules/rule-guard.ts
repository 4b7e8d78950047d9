import {
  compileRule,
  type FromRules,
  policyInMode,
  type RulePolicy,
  type UncompiledRule,
} from "../../guard/from-rules/compile-rules.ts"
import type { PolicyFamily } from "../../guard/from-rules/family.ts"
import { type Guard, guardSteps } from "../../guard/guard.ts"
import type { TemplateUse } from "../../guard/policy/templates.ts"
import { HoldfastError, ignoreProblem } from "../../message/errors.ts"
import { type Channel, trust } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createRecent } from "../../message/recall.ts"
import type { Pin } from "../../rules/pin.ts"
import { forEachInSlices, runPaced } from "../../store/pace.ts"
import type { Live } from "../state/live.ts"
import type { HoldfastOptions } from "../state/options.ts"
import { isInForce, knownPins, operatorRules, type SessionPin, standingPins, whyOf } from "./pins.ts"

/** A rule, in words for who wants to know: where it comes from, and what it is for the guard. */
export type ExplainedRule = SessionPin & {
  /** Who said it: the operator, the system, the user, a document, a tool, or what is remembered. */
  readonly speaker: Channel
  readonly why: string
  /** What it is as a policy, or why it is none. */
  readonly policy:
    | Pick<RulePolicy, "family" | "policy" | "confidence">
    | { readonly none: string; readonly family?: PolicyFamily }
}

export function explainRule(pin: SessionPin): ExplainedRule {
  const found = compiled(pin.text)
  const policy =
    "policy" in found
      ? { family: found.family, policy: found.policy, confidence: found.confidence }
      : { none: found.why, ...present({ family: found.family }) }
  return { ...pin, speaker: pin.channel, why: whyOf(pin), policy }
}

/** A rule in force, and the policy that was made of it or why there is none. */
type RuleAsPolicy = { readonly pin: Pin } & (RulePolicy | UncompiledRule)

/** Nobody asked for it, and it may be anyone's: what a tool, a document or memory says binds no call before someone has pinned it. */
const isOwn = ({ channel, by }: Pin): boolean => by !== "found" || trust(channel) >= trust("user")

/** Rules of one session that are compiled; one with more is a flood. */
const maxRules = 500

/** The policies that the rules in force mean, each with its rule. */
async function policiesOfRules(live: Live): Promise<readonly RuleAsPolicy[]> {
  const pins = [...operatorRules(live), ...(await pinsNow(live)).filter(isInForce)].slice(0, maxRules)
  const rules: RuleAsPolicy[] = []
  await forEachInSlices(pins, (pin) => rules.push({ pin, ...compiled(pin.text) }))
  return rules
}

/** The rules of other sessions were read when the call was prepared; where none was yet, they are now, if anything hangs on it. */
async function pinsNow(live: Live): Promise<readonly SessionPin[]> {
  if (rulesBind(live.options) && live.sent === undefined) return knownPins(live)
  return (await standingPins(live).catch(ignoreProblem)) ?? knownPins(live)
}

const modeOf = ({ guard }: Pick<HoldfastOptions, "guard">): FromRules => guard?.fromRules ?? "observe"

/** May a policy from a rule hold a call back? */
export const rulesBind = (options: Pick<HoldfastOptions, "guard">): boolean => /^(?:ask|enforce)$/.test(modeOf(options))

/** Compiling a rule is the same work for the same words. */
const compiled = createRecent<RulePolicy | UncompiledRule>(compileRule, 2000)

/** Guards by their policies: sessions of one agent have the same rules. */
const guards = new Map<string, Promise<Guard | undefined>>()
const maxGuards = 200

/** The guard that the session's own rules make, if any of them is about a call. It can only forbid and ask. */
export async function ruleGuardOf(live: Live): Promise<Guard | undefined> {
  const mode = modeOf(live.options)
  if (mode === "off") return undefined
  const policies = (await policiesOfRules(live)).flatMap((rule): readonly TemplateUse[] =>
    "policy" in rule ? [ofOwner(rule.pin, policyInMode(rule, isOwn(rule.pin) ? mode : "observe"))] : [],
  )
  if (policies.length === 0) return undefined
  const key = JSON.stringify(policies)
  const found = guards.get(key) ?? guardFrom(policies, mode)
  if (guards.size >= maxGuards) guards.clear()
  guards.set(key, found)
  return found
}

/** Whoever is refused is told whose rule it was: the names of policies from the operator's words say so. */
const ofOwner = ({ by }: Pin, policy: TemplateUse): TemplateUse =>
  by === "operator" ? { ...policy, name: `operator-${policy.name}` } : policy

async function guardFrom(policies: readonly TemplateUse[], mode: FromRules): Promise<Guard | undefined> {
  try {
    return await runPaced(guardSteps(policies))
  } catch (error) {
    // Who only observes by default need not have the policy engine.
    if (mode === "observe" && error instanceof HoldfastError && error.problem.code === "package-missing")
      return undefined
    throw error
  }
}
