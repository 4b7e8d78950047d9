import type { Channel } from "../message/message.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { callsWithin } from "./calls-in-text.ts"
import { type Action, actions } from "./facts/action.ts"
import { type Contracts, checkContracts, contractsOf, type ToolContract, type Undeclared } from "./facts/contracts.ts"
import { type CallFacts, factsOf, type ToolCall } from "./facts/facts.ts"
import { unreadMarks } from "./facts/leaf.ts"
import { judgeOf, worse } from "./join-guards.ts"
import {
  type AttributeValue,
  type Circumstances,
  type GuardPolicy,
  isSaid,
  type Mode,
  openReason,
  type PolicyContext,
  policyContext,
} from "./policy/condition.ts"
import { createEngine, type Engine, isMeant, loadCedar } from "./policy/engine.ts"
import { type CompiledMatcher, compileMatcher, type Matcher } from "./policy/matcher.ts"
import { readPolicySet } from "./policy/policies.ts"
import type { AttributeName } from "./policy/schema.ts"
import { refuseGiven } from "./policy/template.ts"
import { isDeclarations, type PolicyInput } from "./policy/templates.ts"

export type Decision = "allow" | "deny" | "ask"

/** Why a call was denied or needs approval. */
export type VerdictReason = {
  /** Id of the policy, or `guard:…` for a reason of the guard itself, such as `guard:unread`. */
  readonly policy: string
  readonly rule: string
  /** Who stated the rule, in a policy from a rule in words. */
  readonly speaker?: Channel
  readonly instead?: string
  readonly decision: "deny" | "ask"
  /** Attributes that the policy reads, with their values in this call. */
  readonly facts: Readonly<Record<string, AttributeValue>>
}

export type Verdict = {
  readonly decision: Decision
  readonly reasons: readonly VerdictReason[]
  readonly facts: CallFacts
  /** Errors while judging; if there is one, `reasons` has an entry for it. */
  readonly errors: readonly string[]
  /** Reasons of policies in `observe` mode, which do not change the decision. */
  readonly observed?: readonly VerdictReason[]
}

export type GuardOptions = {
  /**
   * `forbid-only` allows what no policy forbids; `allow-list` only what one permits. `forbid-only` by default, unless a declaration has
   * `default: "deny"`.
   */
  readonly mode?: Mode
  /** Decision for a call that cannot be read or judged; `deny` by default. */
  readonly onFailure?: "deny" | "ask"
  /** Named lists of patterns, which policies read as `context.matches`. */
  readonly matchers?: Readonly<Record<string, Matcher>>
  /** Contracts that the operator declares for tools; those of well-known agents and MCP servers are built in. */
  readonly tools?: readonly ToolContract[]
  /** What happens to a call of a tool without a contract; by default it is judged by its name and fields. */
  readonly undeclared?: Undeclared
}

export type Guard = {
  readonly policies: readonly GuardPolicy[]
  /** Judges one call. Never throws, keeps no state, and returns the same verdict for the same call. */
  readonly judge: (call: ToolCall, circumstances?: Circumstances) => Verdict
}

const guardNames = optionNames<GuardOptions>()("mode onFailure matchers tools undeclared")

function checkOptions(options: GuardOptions): void {
  checkOptionNames(options, guardNames, "createGuard")
  const { mode, onFailure, tools = [], undeclared } = options
  if (mode !== undefined && mode !== "forbid-only" && mode !== "allow-list")
    refuseGiven("mode", "forbid-only or allow-list", mode)
  if (onFailure !== undefined && onFailure !== "deny" && onFailure !== "ask")
    refuseGiven("onFailure", "deny or ask", onFailure)
  if (undeclared !== undefined && !["infer", "ask", "deny"].includes(undeclared))
    refuseGiven("undeclared", "infer, ask or deny", undeclared)
  checkContracts(tools)
}

/** Creates a guard from policies and templates, which are parsed and checked against the schema here, once. */
export const createGuard = (policies: readonly PolicyInput[], options: GuardOptions = {}): Guard =>
  runSteps(guardSteps(policies, options))

/** Same as `createGuard`, in steps of some policies each. */
export function* guardSteps(policies: readonly PolicyInput[], options: GuardOptions = {}): Steps<Guard> {
  checkOptions(options)
  const declared = Array.isArray(policies) ? policies.filter(isDeclarations) : []
  const given = { ...options, tools: [...declared.flatMap(({ tools }) => tools), ...(options.tools ?? [])] }
  checkContracts(given.tools)
  const isDefaultDeny = defaultOf(declared) === "deny"
  const mode = options.mode ?? (isDefaultDeny ? "allow-list" : "forbid-only")
  const cedar = loadCedar()
  const { policies: read, matchers } = yield* readPolicySet(cedar, policies, options.matchers ?? {})
  const judging: CompiledGuard = {
    policies: new Map(read.map((policy) => [policy.id, policy])),
    engine: createEngine(cedar, read, mode),
    matchers: new Map(Object.entries(matchers).map(([name, matcher]) => [name, compileMatcher(matcher)])),
    kinds: new Map(Object.entries(matchers).map(([name, { of }]) => [name, of])),
    contracts: contractsOf(given.tools),
    undeclared: strictest([options.undeclared, ...declared.map(({ undeclared }) => undeclared)]),
    mode,
    onFailure: options.onFailure ?? "deny",
  }
  return {
    policies: read,
    judge: judgeOf(function* (call, circumstances = {}) {
      let verdict = yield* judge(judging, call, circumstances)
      for (const inner of callsWithin(call)) verdict = withInner(verdict, yield* judge(judging, inner, circumstances))
      return verdict
    }),
  }
}

/** Adds the verdict on a nested call: the stricter decision, the reasons of both, the facts of the outer call. */
const withInner = (verdict: Verdict, inner: Verdict): Verdict => ({ ...worse(verdict, inner), facts: verdict.facts })

/** Decision for calls that no policy mentions: `deny` if at least one declaration says so. */
function defaultOf(declared: readonly { readonly default?: "allow" | "deny" }[]): "allow" | "deny" {
  for (const { default: said } of declared)
    if (said !== undefined && said !== "allow" && said !== "deny") refuseGiven("default", "allow or deny", said)
  return declared.some((one) => one.default === "deny") ? "deny" : "allow"
}

/** The strictest of several settings for undeclared tools. */
function strictest(said: readonly (Undeclared | undefined)[]): Undeclared {
  return said.includes("deny") ? "deny" : said.includes("ask") ? "ask" : "infer"
}

type CompiledGuard = {
  readonly policies: ReadonlyMap<string, GuardPolicy>
  readonly engine: Engine
  readonly matchers: ReadonlyMap<string, CompiledMatcher>
  readonly kinds: ReadonlyMap<string, Matcher["of"]>
  readonly contracts: Contracts
  readonly undeclared: Undeclared
  readonly mode: Mode
  readonly onFailure: "deny" | "ask"
}

function* judge(judging: CompiledGuard, call: ToolCall, circumstances: Circumstances): Steps<Verdict> {
  const { facts, failure } = readFacts(judging, call)
  yield
  try {
    return verdictOf(judging, facts, circumstances, failure)
  } catch (error) {
    // The policy engine threw: a call without a verdict is not allowed.
    const message = error instanceof Error ? error.message : String(error)
    const reason = failed(judging, "guard:error", "The call could not be judged.", [message])
    return { decision: judging.onFailure, reasons: [reason], facts, errors: [message] }
  }
}

/** Reads the facts of a call. `factsOf` should not throw; if it does, the facts are empty and `failure` has the message. */
function readFacts(
  { contracts }: CompiledGuard,
  call: ToolCall,
): { readonly facts: CallFacts; readonly failure?: string } {
  try {
    return { facts: factsOf(call, contracts) }
  } catch (error) {
    return {
      facts: factsOf({ tool: "", input: undefined }),
      failure: error instanceof Error ? error.message : String(error),
    }
  }
}

function verdictOf(
  judging: CompiledGuard,
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
  const { agent = "agent", sessions = [] } = circumstances
  for (const [at, action] of wanted.entries()) {
    const request = { agent, sessions, tool: facts.tool, action, get: context.get }
    const answer = engine.ask(request, at === 0)
    errors.push(...answer.errors)
    for (const id of answer.forbids) hit.add(id)
    if (!answer.permitted && answer.forbids.length === 0 && answer.errors.length === 0) unpermitted.push(action)
  }
  const found = [...hit].sort().flatMap((id) => {
    const policy = policies.get(id)
    return policy === undefined ? [] : [{ policy, reason: reasonOf(policy, context) }]
  })
  const unread = unreadMarks.filter((mark) => facts.marks.has(mark) || (mark === "too-many" && context.tooMany()))
  // Unresolved facts are not reported for a call that was not read in full: it is not allowed anyway.
  if (unread.length === 0) found.push(...unresolvedReasons(judging, facts, context, circumstances, hit))
  const reasons = found.filter(({ policy }) => policy.mode === "enforce").map(({ reason }) => reason)
  const observed = found.filter(({ policy }) => policy.mode === "observe").map(({ reason }) => reason)
  for (const action of unpermitted) reasons.push(notPermitted(action, facts))
  if (judging.undeclared !== "infer" && !facts.declared) reasons.push(notDeclared(judging.undeclared, facts))
  if (unread.length > 0) reasons.push(failed(judging, "guard:unread", "The call could not be read in full.", unread))
  if (errors.length > 0) reasons.push(failed(judging, "guard:error", "The call could not be judged.", errors))
  const decision = reasons.some((reason) => reason.decision === "deny") ? "deny" : reasons.length > 0 ? "ask" : "allow"
  return { decision, reasons, facts, errors, ...(observed.length > 0 ? { observed } : {}) }
}

type Found = { readonly policy: GuardPolicy; readonly reason: VerdictReason }

/** The attribute that decides whether the result of a matcher is unresolved. */
const openedBy = (of: Matcher["of"]): AttributeName =>
  of === "deletedPaths" ? "changedPaths" : of === "commandLines" || of === "commandUses" ? "commands" : of

/**
 * Reasons of policies that do not forbid the call by its known facts, but would if an unresolved fact turned out that way: they are
 * evaluated again over everything that the call may do. In `allow-list` mode a `permit` policy that depends on such a fact permits nothing.
 */
function unresolvedReasons(
  judging: CompiledGuard,
  facts: CallFacts,
  known: PolicyContext,
  circumstances: Circumstances,
  hit: ReadonlySet<string>,
): readonly Found[] {
  const { possible = facts } = facts
  const isWider = possible.paths.some(
    ({ tree, mayChange, path }) => tree !== undefined || mayChange === true || path.includes("**/"),
  )
  if (facts.possible === undefined && facts.open.size === 0 && !isWider) return []
  const context = policyContext(possible, judging.matchers, circumstances, "below")
  const { agent = "agent", sessions = [] } = circumstances
  const found: Found[] = []
  const isSame = sameAttributes(known, context)
  const doesMore = [...possible.actions].some((action) => !facts.actions.has(action))
  for (const policy of judging.policies.values()) {
    if (hit.has(policy.id) || !isMeant(policy, { agent, sessions, tool: facts.tool })) continue
    // Every attribute that the policy reads has the same value over everything that the call may do, so the first answer stands.
    const isAnswered = policy.effect === "forbid" && facts.open.size === 0 && [...policy.asks].every(isSame)
    if (isAnswered && (!doesMore || (policy.actions === undefined && !policy.asksAction))) continue
    const named = [...(policy.actions ?? possible.actions)].filter((action) => possible.actions.has(action))
    if (named.length === 0 && !facts.open.has("everything")) continue
    const why = (name: AttributeName): string | undefined => openReason(name, facts, policy.assumed)
    const isOpen = (name: AttributeName, member?: string): boolean => {
      const kind =
        name === "matches" && member !== undefined
          ? judging.kinds.get(member.slice(member.indexOf(":") + 1))
          : undefined
      return why(kind === undefined ? name : openedBy(kind)) !== undefined
    }
    const holds = policy.holds({ value: context.get, isOpen, isLenient: true })
    if (policy.effect === "permit") {
      if (judging.mode === "allow-list" && holds === undefined && facts.open.size > 0)
        found.push({ policy, reason: unresolvedReason(policy, "it is not known whether it is permitted") })
      continue
    }
    if (holds === false) continue
    const reason = [...policy.asks]
      .map((name) => why(name) ?? (name === "matches" ? openOfMatches(policy, judging, why) : undefined))
      .find((one) => one !== undefined)
    if (
      holds === undefined &&
      reason === undefined &&
      !named.some((action) =>
        judging.engine.askOne({ agent, sessions, tool: facts.tool, action, get: context.get }, policy),
      )
    )
      continue
    found.push({ policy, reason: unresolvedReason(policy, reason ?? possibleWhy(facts)) })
  }
  return found
}

/** Returns a function that is true if an attribute has the same value in both contexts. */
function sameAttributes(one: PolicyContext, other: PolicyContext): (name: AttributeName) => boolean {
  const known = new Map<AttributeName, boolean>()
  return (name) => {
    // Attributes read from the argument values alone are the same in both, and expensive to compute.
    if (isSaid(name)) return true
    const met = known.get(name)
    if (met !== undefined) return met
    const [left, right] = [one.get(name), other.get(name)]
    const isSame =
      typeof left === "object" && typeof right === "object"
        ? left.length === right.length && left.every((value, at) => value === right[at])
        : left === right
    known.set(name, isSame)
    return isSame
  }
}

/** Why the result of a matcher that a policy uses is unresolved. */
function openOfMatches(
  { text }: GuardPolicy,
  { kinds }: CompiledGuard,
  why: (name: AttributeName) => string | undefined,
): string | undefined {
  for (const [name, of] of kinds) if (text.includes(`:${name}"`)) return why(openedBy(of))
  return undefined
}

const possibleWhy = ({ declared, paths }: CallFacts): string =>
  !declared
    ? "only the name of the tool says what it does"
    : paths.some(({ tree, path }) => tree !== undefined || path.includes("**/"))
      ? "it takes a whole folder, in which there may be something that the rule is about"
      : paths.some(({ mayChange }) => mayChange === true)
        ? "nobody has said what the program does to the files that it is given"
        : "a file that it writes would do so when it is run"

const unresolvedReason = ({ id, rule, speaker, instead, unresolved }: GuardPolicy, why: string): VerdictReason => ({
  policy: id,
  rule,
  decision: unresolved,
  facts: { unresolved: [why] },
  ...present({ speaker, instead }),
})

const notDeclared = (decision: "ask" | "deny", { tool }: CallFacts): VerdictReason => ({
  policy: "guard:undeclared",
  rule: "Only tools that the operator has declared may be called.",
  decision,
  instead: "Use a tool that is declared, or ask the user to have this one declared.",
  facts: { tool },
})

function failed({ onFailure }: CompiledGuard, policy: string, rule: string, why: readonly string[]): VerdictReason {
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

/** Reason for a policy that applied: the attributes it reads with their values; for matchers, the values outside or within the list. */
function reasonOf(
  { id, rule, speaker, instead, decision, asks, text }: GuardPolicy,
  { get, matched }: PolicyContext,
): VerdictReason {
  const facts: Record<string, AttributeValue> = {}
  for (const name of asks) {
    if (name === "text") continue
    if (name === "matches") for (const [key, found] of matched()) if (text.includes(key)) facts[key] = found
    const value = get(name)
    if (name !== "matches" && isTelling(value)) facts[name] = value
  }
  return { policy: id, rule, decision, facts, ...present({ speaker, instead }) }
}
