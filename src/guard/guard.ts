import { HoldfastError } from "../message/errors.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { type Action, actions } from "./facts/action.ts"
import { type CallFacts, factsOf, type ToolCall } from "./facts/facts.ts"
import { unreadMarks } from "./facts/leaf.ts"
import {
  type AttributeValue,
  type Circumstances,
  type GuardPolicy,
  type Mode,
  type PolicyContext,
  policyContext,
} from "./policy/condition.ts"
import { createEngine, type Engine, loadCedar } from "./policy/engine.ts"
import { type CompiledMatcher, compileMatcher, type Matcher } from "./policy/matcher.ts"
import { readPolicySet } from "./policy/policies.ts"
import { shown } from "./policy/template.ts"
import type { PolicyInput } from "./policy/templates.ts"

export type Decision = "allow" | "deny" | "ask"

/** Why a call was not simply let through. */
export type VerdictReason = {
  /** Id of the policy; `guard:…` where the guard itself could not judge. */
  readonly policy: string
  readonly rule: string
  readonly instead?: string
  readonly decision: "deny" | "ask"
  /** What the policy asked about and the call said. */
  readonly facts: Readonly<Record<string, AttributeValue>>
}

export type Verdict = {
  readonly decision: Decision
  readonly reasons: readonly VerdictReason[]
  readonly facts: CallFacts
  /** What went wrong while judging; never empty without a reason beside it. */
  readonly errors: readonly string[]
}

export type GuardOptions = {
  /** `forbid-only` lets through what no policy forbids; `allow-list` only what one permits. The first unless given. */
  readonly mode?: Mode
  /** What becomes of a call that cannot be read or judged. Refused unless told otherwise. */
  readonly onFailure?: "deny" | "ask"
  /** Lists of patterns that policies ask by name in `context.matches`. */
  readonly matchers?: Readonly<Record<string, Matcher>>
  /** What tools do whose names do not tell. */
  readonly tools?: Readonly<Record<string, readonly Action[]>>
}

export type Guard = {
  readonly policies: readonly GuardPolicy[]
  /** Judge one call. Never throws, keeps nothing, and says the same to the same call. */
  readonly judge: (call: ToolCall, circumstances?: Circumstances) => Verdict
}

const guardNames = optionNames<GuardOptions>({ mode: true, onFailure: true, matchers: true, tools: true })

function checkOptions(options: GuardOptions): void {
  checkOptionNames(options, guardNames, "createGuard")
  const { mode, onFailure, tools = {} } = options
  const wrong = (option: string, expected: string, found: unknown): never => {
    throw new HoldfastError({ code: "option-invalid", option, expected, found: shown(found) })
  }
  if (mode !== undefined && mode !== "forbid-only" && mode !== "allow-list")
    wrong("mode", "forbid-only or allow-list", mode)
  if (onFailure !== undefined && onFailure !== "deny" && onFailure !== "ask")
    wrong("onFailure", "deny or ask", onFailure)
  for (const [tool, named] of Object.entries(tools))
    if (!Array.isArray(named) || named.length === 0 || !named.every((action) => actions.includes(action)))
      wrong(`tools.${tool}`, `some of ${actions.join(", ")}`, named)
}

/** Make a guard of policies and templates. They are parsed and checked against the schema here, once. */
export function createGuard(policies: readonly PolicyInput[], options: GuardOptions = {}): Guard {
  checkOptions(options)
  const cedar = loadCedar()
  const { policies: read, matchers } = readPolicySet(cedar, policies, options.matchers ?? {})
  const judging: Judging = {
    policies: new Map(read.map((policy) => [policy.id, policy])),
    engine: createEngine(cedar, read, options.mode ?? "forbid-only"),
    matchers: new Map(Object.entries(matchers).map(([name, matcher]) => [name, compileMatcher(matcher)])),
    tools: new Map(Object.entries(options.tools ?? {})),
    onFailure: options.onFailure ?? "deny",
  }
  return { policies: read, judge: (call, circumstances = {}) => judge(judging, call, circumstances) }
}

type Judging = {
  readonly policies: ReadonlyMap<string, GuardPolicy>
  readonly engine: Engine
  readonly matchers: ReadonlyMap<string, CompiledMatcher>
  readonly tools: ReadonlyMap<string, readonly Action[]>
  readonly onFailure: "deny" | "ask"
}

function judge(judging: Judging, call: ToolCall, circumstances: Circumstances): Verdict {
  const { facts, failure } = readFacts(judging, call)
  try {
    return verdictOf(judging, facts, circumstances, failure)
  } catch (error) {
    // The engine itself gave up: no verdict is no leave.
    const message = error instanceof Error ? error.message : String(error)
    const reason = failed(judging, "guard:error", "The call could not be judged.", [message])
    return { decision: judging.onFailure, reasons: [reason], facts, errors: [message] }
  }
}

type Read = { readonly facts: CallFacts; readonly failure?: string }

/** Reading promises not to throw; if it does all the same, nothing is known about the call, and that is said. */
function readFacts({ tools }: Judging, call: ToolCall): Read {
  try {
    return { facts: factsOf(call, tools.get(call.tool)) }
  } catch (error) {
    return {
      facts: factsOf({ tool: "", input: undefined }),
      failure: error instanceof Error ? error.message : String(error),
    }
  }
}

function verdictOf(
  judging: Judging,
  facts: CallFacts,
  circumstances: Circumstances,
  failure: string | undefined,
): Verdict {
  const { engine, policies, matchers } = judging
  const wanted = actions.filter((action) => facts.actions.has(action))
  const context = policyContext(facts, matchers, circumstances)
  const errors = failure === undefined ? [] : [failure]
  const hit = new Set<string>()
  const unpermitted: Action[] = []
  for (const [at, action] of wanted.entries()) {
    const { agent = "agent", sessions = [] } = circumstances
    const request = { agent, sessions, tool: facts.tool, action, get: context.get }
    const answer = engine.ask(request, at === 0)
    errors.push(...answer.errors)
    for (const id of answer.forbids) hit.add(id)
    if (!answer.permitted && answer.forbids.length === 0 && answer.errors.length === 0) unpermitted.push(action)
  }
  const reasons = [...hit].sort().flatMap((id) => {
    const policy = policies.get(id)
    return policy === undefined ? [] : [reasonOf(policy, context)]
  })
  for (const action of unpermitted) reasons.push(notPermitted(action, facts))
  const unread = unreadMarks.filter((mark) => facts.marks.has(mark) || (mark === "too-many" && context.tooMany()))
  if (unread.length > 0) reasons.push(failed(judging, "guard:unread", "The call could not be read in full.", unread))
  if (errors.length > 0) reasons.push(failed(judging, "guard:error", "The call could not be judged.", errors))
  const decision = reasons.some((reason) => reason.decision === "deny") ? "deny" : reasons.length > 0 ? "ask" : "allow"
  return { decision, reasons, facts, errors }
}

function failed({ onFailure }: Judging, policy: string, rule: string, why: readonly string[]): VerdictReason {
  return {
    policy,
    rule,
    decision: onFailure,
    instead: "Make the call smaller and plainer, or ask the user.",
    facts: { why },
  }
}

const notPermitted = (action: Action, { tool }: CallFacts): VerdictReason => ({
  policy: "guard:not-permitted",
  rule: `No policy permits the action "${action}".`,
  decision: "deny",
  facts: { tool, action },
})

const isTelling = (value: AttributeValue | undefined): value is AttributeValue =>
  value !== undefined && value !== false && value !== 0 && value !== "" && !(Array.isArray(value) && value.length === 0)

/** The attributes that a policy asked, with what the call said; of matchers the values that fell outside or within. */
function reasonOf(
  { id, rule, instead, decision, asks, text }: GuardPolicy,
  { get, matched }: PolicyContext,
): VerdictReason {
  const facts: Record<string, AttributeValue> = {}
  for (const name of asks) {
    if (name === "text") continue
    if (name === "matches") for (const [key, found] of matched()) if (text.includes(key)) facts[key] = found
    const value = get(name)
    if (name !== "matches" && isTelling(value)) facts[name] = value
  }
  return { policy: id, rule, decision, facts, ...present({ instead }) }
}
