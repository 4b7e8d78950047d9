import { createRequire } from "node:module"
import { lazy } from "../../language/lazy.ts"
import { assert } from "../../message/assert.ts"
import { HoldfastError } from "../../message/errors.ts"
import { createPerObject } from "../../message/recall.ts"
import { hashData } from "../../message/sha256.ts"
import { type Action, actions } from "../facts/action.ts"
import type { AttributeValue, Get, GuardPolicy, Mode } from "./condition.ts"
import { type AttributeName, namespace } from "./schema.ts"

/** What the policies say to one action of a call. */
type Answer = {
  readonly forbids: readonly string[]
  readonly permitted: boolean
  readonly errors: readonly string[]
}

type Request = {
  readonly agent: string
  readonly sessions: readonly string[]
  readonly tool: string
  readonly action: Action
  readonly get: (name: AttributeName) => AttributeValue
}

/** Policies that are asked together, and what they ask. */
type Group = { readonly id: string; readonly asks: ReadonlySet<AttributeName> }

export type Engine = {
  /** Ask every policy that may hold for the action; `first` tells whether the call was asked about for another action before. */
  readonly ask: (request: Request, first: boolean) => Answer
  /** Ask one policy alone: does it forbid? */
  readonly askOne: (request: Request, policy: GuardPolicy) => boolean
}

/** Asking one policy by itself costs as much as so many more in one go (measured: 0.1 ms a question, 5 µs a policy). */
const policiesPerQuestion = 20

/** Names of the policies in the engine's own memory, which has them as long as the process runs. */
const parsed = new Set<string>()

/** Parse policies into the engine's own memory; the same policies have the same name there, so that guards made anew cost nothing. */
function preparse(cedar: Cedar, policies: readonly GuardPolicy[]): Group {
  const texts = Object.fromEntries(policies.map(({ id, text }) => [id, text]))
  const id = hashData(texts)
  if (!parsed.has(id)) {
    const answer = cedar.preparsePolicySet(id, { staticPolicies: texts })
    assert(answer.type === "success", "policies that were checked do not parse")
    parsed.add(id)
  }
  return { id, asks: new Set(policies.flatMap(({ asks }) => [...asks])) }
}

/** Policies that hold for the same actions, at most so many, so that parsing them together is a short piece of work. */
const maxTogether = 64

type Chunk = {
  readonly policies: readonly GuardPolicy[]
  /** All of them together, parsed when they are first asked so: most calls leave one or two to ask. */
  readonly group: () => Group
  /** Undefined: any action. */
  readonly action: Action | undefined
  /** It is asked for every action of a call, although it holds for any. */
  readonly asksAction: boolean
}

/** The policies by what they hold for, some at a time. */
function chunksOf(cedar: Cedar, policies: readonly GuardPolicy[]): readonly Chunk[] {
  const named = actions.map((action) => ({
    action,
    asksAction: false,
    of: policies.filter((policy) => policy.actions?.has(action) === true),
  }))
  const any = [false, true].map((asksAction) => ({
    action: undefined,
    asksAction,
    of: policies.filter((policy) => policy.actions === undefined && policy.asksAction === asksAction),
  }))
  const chunks: Chunk[] = []
  for (const { action, asksAction, of } of [...any, ...named])
    for (let from = 0; from < of.length; from += maxTogether) {
      const some = of.slice(from, from + maxTogether)
      chunks.push({ policies: some, group: lazy(() => preparse(cedar, some)), action, asksAction })
    }
  return chunks
}

function authorize(cedar: Cedar, { agent, sessions, tool, action, get }: Request, { id, asks }: Group): Answer {
  const context: Record<string, string | number | boolean | string[]> = {}
  for (const name of asks) {
    const value = get(name)
    context[name] = typeof value === "object" ? [...value] : value
  }
  const principal = { type: `${namespace}::Agent`, id: agent }
  const parents = sessions.map((session) => ({ type: `${namespace}::Session`, id: session }))
  const answer = cedar.statefulIsAuthorized({
    principal,
    action: { type: `${namespace}::Action`, id: action },
    resource: { type: `${namespace}::Tool`, id: tool },
    context,
    preparsedPolicySetId: id,
    entities: parents.length === 0 ? [] : [{ uid: principal, attrs: {}, parents }],
  })
  if (answer.type === "failure")
    return { forbids: [], permitted: false, errors: answer.errors.map(({ message }) => message) }
  const { decision, diagnostics } = answer.response
  return {
    // Without a policy that permits, Cedar denies too, and then names no reason.
    forbids: decision === "deny" ? diagnostics.reason : [],
    permitted: decision === "allow",
    errors: diagnostics.errors.map(({ policyId, error }) => `${policyId}: ${error.message}`),
  }
}

/**
 * The policies, parsed once. Only those that may hold are put to Cedar, since each costs time whether it holds or not; and where all
 * that is not forbidden is allowed, those that hold for any action are asked once for a call of several.
 */
export function createEngine(cedar: Cedar, policies: readonly GuardPolicy[], mode: Mode): Engine {
  // Each policy by itself is parsed when it is first needed.
  const single = createPerObject((policy: GuardPolicy) => preparse(cedar, [policy]))
  const chunks = chunksOf(cedar, policies)
  return {
    // An error is told where the policy is asked about what is known.
    askOne: (request, policy) => authorize(cedar, request, single(policy)).forbids.length > 0,
    ask: (request, first) => {
      const { action, get } = request
      const isAsked = (chunk: Chunk): boolean =>
        chunk.action === undefined ? first || mode === "allow-list" || chunk.asksAction : chunk.action === action
      const groups = chunks.filter(isAsked).flatMap(({ policies: all, group }) => {
        const live = all.filter((policy) => isMeant(policy, request) && policy.holds(asKnown(get)) !== false)
        return live.length > 1 + all.length / policiesPerQuestion ? [group()] : live.map((policy) => single(policy))
      })
      const answers = groups.map((group) => authorize(cedar, request, group))
      return {
        forbids: answers.flatMap(({ forbids }) => forbids),
        permitted: mode === "forbid-only" || answers.some(({ permitted }) => permitted),
        errors: answers.flatMap(({ errors }) => errors),
      }
    },
  }
}

/** Does the head of a policy mean this tool, agent and session? */
export const isMeant = (
  { tool, agent, session }: GuardPolicy,
  request: Pick<Request, "tool" | "agent" | "sessions">,
): boolean =>
  (tool ?? request.tool) === request.tool &&
  (agent ?? request.agent) === request.agent &&
  (session === undefined || request.sessions.includes(session))

/** What is known of a call, and nothing else. */
const asKnown = (value: Request["get"]): Get => ({ value, isOpen: () => false })

/** The policy engine, as far as the guard uses it. */
export type Cedar = typeof import("@cedar-policy/cedar-wasm/nodejs")

const isCedar = (module: unknown): module is Cedar =>
  typeof module === "object" && module !== null && "statefulIsAuthorized" in module

/** Load the engine at first use, and at once: who has no policies need not have it, and who has them need not wait. */
export const loadCedar: () => Cedar = lazy(requireCedar)

function requireCedar(): Cedar {
  try {
    const module: unknown = createRequire(import.meta.url)("@cedar-policy/cedar-wasm/nodejs")
    if (isCedar(module)) return module
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")) throw error
    throw missing(error)
  }
  throw missing()
}

const missing = (cause?: Error): HoldfastError =>
  new HoldfastError(
    { code: "package-missing", package: "@cedar-policy/cedar-wasm", purpose: "the guard's policies" },
    cause === undefined ? {} : { cause },
  )
