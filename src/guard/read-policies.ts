import type { DetailedError, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs"
import { assert } from "../message/assert.ts"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { isObject } from "../wire/json.ts"
import { type Action, actions } from "./action.ts"
import type { Cedar } from "./cedar.ts"
import { compileCondition } from "./condition.ts"
import type { Policy } from "./policy.ts"
import { lineAt } from "./policy-text.ts"
import { type AttributeName, attributeNames, schemaText } from "./schema.ts"

/** Policies of one guard; rules are written by people. */
export const maxPolicies = 2_000
/** Characters of one policy text. */
const maxText = 1_000_000

/** What is wrong with a policy, by its name and line. */
export const invalid = (policy: string, line: number | undefined, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "policy-invalid", policy, expected, found: found.slice(0, 300), ...present({ line }) })

function refuse(name: string, text: string, { message, help, sourceLocations }: DetailedError, first = 1): never {
  const place = sourceLocations?.[0]
  const expected = place?.label?.slice(0, 200) ?? help ?? "a policy in Cedar that fits the schema"
  throw invalid(name, place === undefined ? undefined : first - 1 + lineAt(text, place.start), expected, message)
}

/** Parse the policies of one text; what is wrong is a Problem with the policy's name and line. */
export function readPolicies(cedar: Cedar, name: string, text: string): readonly Policy[] {
  if (typeof text !== "string" || text.length > maxText)
    throw invalid(name, undefined, "a text of at most a million characters", typeof text)
  const parsed = cedar.policySetTextToParts(text)
  if (parsed.type === "failure") {
    const [error] = parsed.errors
    if (error === undefined) throw invalid(name, undefined, "policies in Cedar", "a text that cannot be parsed")
    refuse(name, text, error)
  }
  if (parsed.policy_templates.length > 0)
    throw invalid(name, undefined, "policies without slots", "a Cedar template with ?principal or ?resource")
  const parts = [...parsed.policies].sort((one, other) => text.indexOf(one) - text.indexOf(other))
  if (parts.length === 0) throw invalid(name, undefined, "at least one policy", "a text without any")
  return parts.map((part, at) => ({
    ...readPolicy(cedar, name, part, parts.length === 1 ? name : `${name}.${at + 1}`),
    source: name,
    line: text.slice(0, Math.max(0, text.indexOf(part))).split("\n").length,
  }))
}

/** Check policies against the schema, all in one go: the schema takes longer to read than they do. */
export function checkPolicies(cedar: Cedar, policies: readonly Policy[]): void {
  const staticPolicies = Object.fromEntries(policies.map(({ id, text }) => [id, text]))
  const checked = cedar.validate({ schema: schemaText, policies: { staticPolicies } })
  assert(checked.type === "success", "policies that parse alone do not parse together")
  const [first] = checked.validationErrors
  if (first === undefined) return
  const { source, line, text } = policies.find(({ id }) => id === first.policyId) ?? {
    source: first.policyId,
    line: 1,
    text: "",
  }
  refuse(source, text, first.error, line)
}

function readPolicy(cedar: Cedar, name: string, text: string, fallback: string): Omit<Policy, "source" | "line"> {
  const answer = cedar.policyToJson(text)
  if (answer.type === "failure")
    throw invalid(name, undefined, "a policy in Cedar", answer.errors[0]?.message ?? "something else")
  const { effect, annotations = {}, action, resource, principal, conditions } = answer.json
  const decision = annotations.decision ?? "deny"
  if (decision !== "deny" && decision !== "ask")
    throw invalid(name, undefined, '@decision("deny") or @decision("ask")', `@decision(${JSON.stringify(decision)})`)
  const mentions = mentionsIn(conditions)
  const id = annotations.id ?? fallback
  return {
    id,
    text,
    effect,
    decision,
    rule: annotations.rule ?? `Policy ${id} forbids this call.`,
    ...present({ instead: annotations.instead, actions: actionsOf(action) }),
    ...present({ tool: entityOf(resource), agent: entityOf(principal) }),
    ...mentions,
    mayHold: compileCondition(conditions),
  }
}

const isAction = (id: string): id is Action => actions.some((action) => action === id)

function actionsOf(constraint: PolicyJson["action"]): ReadonlySet<Action> | undefined {
  if (constraint.op === "All" || "slot" in constraint) return undefined
  const entities = "entities" in constraint ? constraint.entities : [constraint.entity]
  return new Set(entities.map((entity) => ("__entity" in entity ? entity.__entity.id : entity.id)).filter(isAction))
}

/** The entity that a head wants exactly. Tools and agents stand in no hierarchy, so other ways to name one are left to the engine. */
function entityOf(constraint: PolicyJson["resource"] | PolicyJson["principal"]): string | undefined {
  if (constraint.op !== "==" || !("entity" in constraint)) return undefined
  const { entity } = constraint
  return "__entity" in entity ? entity.__entity.id : entity.id
}

/** Which attributes of the context a policy asks, and whether it asks for the action; one that takes the context whole asks all. */
function mentionsIn(conditions: unknown): Pick<Policy, "asks" | "asksAction"> {
  const asks = new Set<AttributeName>()
  let asksAction = false
  const waiting: unknown[] = [conditions]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (Array.isArray(node)) for (const one of node) waiting.push(one)
    if (!isObject(node)) continue
    if (node.Var === "action") asksAction = true
    if (node.Var === "context") for (const name of attributeNames) asks.add(name)
    const access = node["."] ?? node.has
    if (isObject(access) && isObject(access.left) && access.left.Var === "context") {
      const attribute = Array.isArray(access.attr) ? access.attr[0] : access.attr
      for (const name of attributeNames) if (name === attribute) asks.add(name)
    } else for (const one of Object.values(node)) waiting.push(one)
  }
  return { asks, asksAction }
}
