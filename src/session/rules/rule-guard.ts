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

/** A rule with an explanation: where it comes from, and what the guard makes of it. */
export type ExplainedRule = SessionPin & {
  /** The channel it came from: operator, system, user, document, tool or memory. */
  readonly speaker: Channel
  readonly why: string
  /** The policy that it compiles to, or why it compiles to none. */
  readonly policy:
    | Pick<RulePolicy, "family" | "policy" | "confidence">
    | { readonly none: string; readonly family?: PolicyFamily }
  /** False if the policy only observes, whatever `guard.fromRules` says. */
  readonly binds: boolean
}

export function explainRule(pin: SessionPin): ExplainedRule {
  const found = compiled(pin.text)
  const policy =
    "policy" in found
      ? { family: found.family, policy: found.policy, confidence: found.confidence }
      : { none: found.why, ...present({ family: found.family }) }
  return { ...pin, speaker: pin.channel, why: whyOf(pin), policy, binds: isInForce(pin) && mayBind(pin) }
}

/** A rule in force, and the policy that it compiles to, or why it compiles to none. */
type RuleAsPolicy = { readonly pin: Pin } & (RulePolicy | UncompiledRule)

/** True if a rule may bind calls. One found in a tool's output, a document or memory may be anyone's, and only does once it is pinned. */
const mayBind = ({ channel, by }: Pin): boolean => by !== "found" || trust(channel) >= trust("user")

/** Limit on the rules of one session that are compiled; more is a flood. */
const maxRules = 500

/** The rules in force, each with its policy if it has one. */
async function policiesOfRules(live: Live): Promise<readonly RuleAsPolicy[]> {
  const pins = [...operatorRules(live), ...(await pinsNow(live)).filter(isInForce)].slice(0, maxRules)
  const rules: RuleAsPolicy[] = []
  await forEachInSlices(pins, (pin) => rules.push({ pin, ...compiled(pin.text) }))
  return rules
}

/** The session's rules. Preparing a call reads the shared rules; if none was prepared yet, they are read here if they can bind calls. */
async function pinsNow(live: Live): Promise<readonly SessionPin[]> {
  if (rulesBind(live.options) && live.sent === undefined) return knownPins(live)
  return (await standingPins(live).catch(ignoreProblem)) ?? knownPins(live)
}

const modeOf = ({ guard }: Pick<HoldfastOptions, "guard">): FromRules => guard?.fromRules ?? "observe"

/** True if a policy from a rule can hold a call back. */
export const rulesBind = (options: Pick<HoldfastOptions, "guard">): boolean => /^(?:ask|enforce)$/.test(modeOf(options))

/** Compiles a rule, with a cache by text. */
const compiled = createRecent<RulePolicy | UncompiledRule>(compileRule, 2000)

/** Cache of guards by their policies: sessions of one agent have the same rules. */
const guards = new Map<string, Promise<Guard | undefined>>()
const maxGuards = 200

/** The guard made from the session's rules, if any of them compiles to a policy. It can only deny and ask. */
export async function ruleGuardOf(live: Live): Promise<Guard | undefined> {
  const mode = modeOf(live.options)
  if (mode === "off") return undefined
  const policies = (await policiesOfRules(live)).flatMap((rule): readonly TemplateUse[] =>
    "policy" in rule
      ? [{ ...policyInMode(rule, mayBind(rule.pin) ? mode : "observe"), speaker: rule.pin.channel }]
      : [],
  )
  if (policies.length === 0) return undefined
  const key = JSON.stringify(policies)
  const found = guards.get(key) ?? guardFrom(policies, mode)
  if (guards.size >= maxGuards) guards.clear()
  guards.set(key, found)
  return found
}

async function guardFrom(policies: readonly TemplateUse[], mode: FromRules): Promise<Guard | undefined> {
  try {
    return await runPaced(guardSteps(policies))
  } catch (error) {
    // In the default mode, observe, the package with the policy engine need not be installed.
    if (mode === "observe" && error instanceof HoldfastError && error.problem.code === "package-missing")
      return undefined
    throw error
  }
}
