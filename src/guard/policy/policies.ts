import type { DetailedError, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs"
import { assert } from "../../message/assert.ts"
import { HoldfastError, refuseOption } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { createRecent } from "../../message/recall.ts"
import type { Steps } from "../../message/steps.ts"
import { isObject } from "../../wire/json.ts"
import { type Action, actions } from "../facts/action.ts"
import { compileCondition, type GuardPolicy } from "./condition.ts"
import { type Cedar, loadCedar } from "./engine.ts"
import type { Matcher } from "./matcher.ts"
import { type AttributeName, attributeNames, schemaText } from "./schema.ts"
import {
  cedarString,
  isSpeaker,
  lineAt,
  type PolicyDraft,
  refuseGiven,
  requireTexts,
  saysOneOf,
  shown,
} from "./template.ts"
import { draftOfUse, isDeclarations, type PolicyInput, type TemplateUse } from "./templates.ts"

/** Builds the Cedar texts of a template's conditions, each with the rule in words. */
function policiesOfUse(
  use: TemplateUse,
  name: string,
): { readonly texts: readonly string[]; readonly matchers: Readonly<Record<string, Matcher>> } {
  const { rule, instead, when, matchers = {}, assume = [], decision } = checkedDraft(use, name)
  const head = [
    `@rule(${cedarString(use.rule ?? rule)})`,
    `@instead(${cedarString(instead)})`,
    ...((use.decision ?? decision) === "ask" ? ['@decision("ask")'] : []),
    ...(use.unresolved === "deny" ? ['@unresolved("deny")'] : []),
    ...(use.mode === "observe" ? ['@mode("observe")'] : []),
    ...(assume.length > 0 ? [`@assume("${assume.join(" ")}")`] : []),
  ].join("\n")
  return {
    texts: when.map((condition) => `${head}\nforbid(principal, action, resource) when { ${condition} };`),
    matchers,
  }
}

/** Adds the condition on the text's subject; `channel-routing` has it among its own parameters. */
function onlyAbout(draft: PolicyDraft, { template, about }: TemplateUse): PolicyDraft {
  if (about === undefined || template === "channel-routing") return draft
  const said = saysOneOf(requireTexts("about", about))
  return { ...draft, when: draft.when.map((condition) => `(${condition}) && (${said})`) }
}

const usageChoices: Readonly<Record<string, readonly unknown[]>> = {
  decision: [undefined, "deny", "ask"],
  unresolved: [undefined, "deny", "ask"],
  mode: [undefined, "enforce", "observe"],
}

/** Builds the draft; a wrong parameter is reported as an error of its policy. */
function checkedDraft(use: TemplateUse, name: string): PolicyDraft {
  for (const [option, known] of Object.entries(usageChoices)) {
    const found = Object.entries(use).find(([key]) => key === option)?.[1]
    if (!known.includes(found))
      throw invalid(name, undefined, `${known.slice(1).join(" or ")} for ${option}`, shown(found))
  }
  if (use.speaker !== undefined && !isSpeaker(use.speaker))
    throw invalid(name, undefined, "a channel, such as user, for speaker", shown(use.speaker))
  try {
    return onlyAbout(draftOfUse(use, name), use)
  } catch (error) {
    if (!(error instanceof HoldfastError && error.problem.code === "option-invalid")) throw error
    const { option, expected, found } = error.problem
    throw invalid(name, undefined, `${expected} for ${option}`, found)
  }
}

/** Reads all policies of a guard in steps. Names are made unique by a number; ids stated in a policy must be unique. */
export function* readPolicySet(
  cedar: Cedar,
  inputs: readonly PolicyInput[],
  given: Readonly<Record<string, Matcher>>,
): Steps<{ readonly policies: readonly GuardPolicy[]; readonly matchers: Readonly<Record<string, Matcher>> }> {
  if (!Array.isArray(inputs)) refuseGiven("policies", "a list", inputs)
  const taken = new Set<string>(Object.keys(given))
  const nameFor = (wanted: string): string => {
    let name = wanted
    for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`
    taken.add(name)
    return name
  }
  const policies: GuardPolicy[] = []
  /** Policies written by people; those made from templates always fit the schema. */
  const unchecked: GuardPolicy[] = []
  const matchers: Record<string, Matcher> = { ...given }
  for (const input of inputs) {
    if (isDeclarations(input)) continue
    const written = unchecked.length
    if (typeof input === "string") unchecked.push(...readPolicies(cedar, nameFor("policy"), input))
    else if (typeof input !== "object" || input === null) refuseGiven("policies", "texts and templates", input)
    else if ("text" in input) unchecked.push(...readPolicies(cedar, nameFor(checkedName(input.name)), input.text))
    else {
      const name = nameFor(checkedName(input.name ?? input.template))
      const made = policiesOfUse(input, name)
      Object.assign(matchers, made.matchers)
      const { speaker } = input
      policies.push(
        ...readParts(name, made.texts.join("\n"), made.texts).map((policy) => ({ ...policy, ...present({ speaker }) })),
      )
    }
    policies.push(...unchecked.slice(written))
    yield
  }
  checkIds(policies)
  yield* checkPolicies(cedar, unchecked)
  return { policies, matchers }
}

function checkedName(name: unknown): string {
  if (typeof name === "string" && /^[\w .:-]{1,100}$/.test(name)) return name
  throw invalid(shown(name), undefined, "a name of up to a hundred letters, digits, blanks or _.:-", shown(name))
}

function checkIds(policies: readonly GuardPolicy[]): void {
  const ids = new Set<string>()
  for (const { id, line } of policies) {
    if (ids.has(id)) throw invalid(id, line, "an id that no other policy has", `${JSON.stringify(id)} twice`)
    ids.add(id)
  }
  if (policies.length > maxPolicies)
    refuseOption("policies", `at most ${maxPolicies} policies`, String(policies.length))
}

/** Maximum number of policies in a guard; rules are written by people. */
const maxPolicies = 2_000
/** Maximum length of one policy text in characters. */
const maxText = 1_000_000

/** The error for an invalid policy, with its name and line. */
const invalid = (policy: string, line: number | undefined, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "policy-invalid", policy, expected, found: found.slice(0, 300), ...present({ line }) })

function refuse(name: string, text: string, { message, help, sourceLocations }: DetailedError, first = 1): never {
  const place = sourceLocations?.[0]
  const expected = place?.label?.slice(0, 200) ?? help ?? "a policy in Cedar that fits the schema"
  throw invalid(name, place === undefined ? undefined : first - 1 + lineAt(text, place.start), expected, message)
}

/** Parses the policies of one text; throws a Problem with the policy's name and line. */
function readPolicies(cedar: Cedar, name: string, text: string): readonly GuardPolicy[] {
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
  return readParts(name, text, parts)
}

const readParts = (name: string, text: string, parts: readonly string[]): readonly GuardPolicy[] =>
  parts.map((part, at) => ({
    ...readPolicy(name, part, parts.length === 1 ? name : `${name}.${at + 1}`),
    source: name,
    line: text.slice(0, Math.max(0, text.indexOf(part))).split("\n").length,
  }))

/** Texts that were checked against the schema. The result for a policy does not depend on other policies. */
const checkedTexts = new Set<string>()
const maxCheckedTexts = 10_000
/** Policies checked in one step: reading the schema takes as long as checking some dozens of them. */
const checkedAtOnce = 100

/** Checks policies against the schema in steps, each text once per process. */
function* checkPolicies(cedar: Cedar, policies: readonly GuardPolicy[]): Steps<void> {
  const unchecked = policies.filter(({ text }) => !checkedTexts.has(text))
  for (let from = 0; from < unchecked.length; from += checkedAtOnce) {
    const some = unchecked.slice(from, from + checkedAtOnce)
    checkTogether(cedar, some)
    if (checkedTexts.size > maxCheckedTexts) checkedTexts.clear()
    for (const { text } of some) checkedTexts.add(text)
    yield
  }
}

function checkTogether(cedar: Cedar, policies: readonly GuardPolicy[]): void {
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

/** Cache of parsed policies: a guard is created anew whenever a rule is added. */
const readings = createRecent((text) => {
  const answer = loadCedar().policyToJson(text)
  if (answer.type === "failure") return answer
  const { conditions } = answer.json
  return { ...answer, mentions: mentionsIn(conditions), holds: compileCondition(conditions) }
}, 4000)

function readPolicy(name: string, text: string, fallback: string): Omit<GuardPolicy, "source" | "line"> {
  const answer = readings(text)
  if (answer.type === "failure")
    throw invalid(name, undefined, "a policy in Cedar", answer.errors[0]?.message ?? "something else")
  const { effect, annotations = {}, action, resource, principal } = answer.json
  const decision = choiceIn(name, annotations, "decision", ["deny", "ask"])
  const unresolved = choiceIn(name, annotations, "unresolved", ["deny", "ask"], "ask")
  const mode = choiceIn(name, annotations, "mode", ["enforce", "observe"])
  const id = annotations.id ?? fallback
  return {
    id,
    text,
    effect,
    decision,
    unresolved: decision === "ask" ? "ask" : unresolved,
    assumed: new Set((annotations.assume ?? "").split(/[\s,]+/).filter((one) => one !== "")),
    mode,
    rule: annotations.rule ?? `Policy ${id} ${effect === "permit" ? "permits some calls" : "forbids this call"}.`,
    ...present({ instead: annotations.instead, actions: actionsOf(action) }),
    ...present({ tool: entityOf(resource), agent: entityOf(principal), session: sessionOf(principal) }),
    ...answer.mentions,
    holds: answer.holds,
  }
}

/** Returns an annotation's value if it is one of its choices, or the default; throws otherwise. */
function choiceIn<Choice extends string>(
  policy: string,
  annotations: Readonly<Record<string, string | null>>,
  name: string,
  choices: readonly [Choice, Choice],
  usual = choices[0],
): Choice {
  const found = annotations[name] ?? usual
  const choice = choices.find((one) => one === found)
  if (choice !== undefined) return choice
  const expected = choices.map((one) => `@${name}("${one}")`).join(" or ")
  throw invalid(policy, undefined, expected, `@${name}(${JSON.stringify(found)})`)
}

const isAction = (id: string): id is Action => actions.some((action) => action === id)

function actionsOf(constraint: PolicyJson["action"]): ReadonlySet<Action> | undefined {
  if (constraint.op === "All" || "slot" in constraint) return undefined
  const entities = "entities" in constraint ? constraint.entities : [constraint.entity]
  return new Set(entities.map((entity) => ("__entity" in entity ? entity.__entity.id : entity.id)).filter(isAction))
}

/** The entity that a head names exactly. Tools and agents have no hierarchy, so other forms are left to the engine. */
function entityOf(constraint: PolicyJson["resource"] | PolicyJson["principal"]): string | undefined {
  if (constraint.op !== "==" || !("entity" in constraint)) return undefined
  const { entity } = constraint
  return "__entity" in entity ? entity.__entity.id : entity.id
}

/** The session that a head names: `principal in Session::"…"`, or `principal is Agent in Session::"…"`. */
function sessionOf(constraint: PolicyJson["principal"]): string | undefined {
  const within = constraint.op === "is" ? constraint.in : constraint.op === "in" ? constraint : undefined
  if (within === undefined || !("entity" in within)) return undefined
  const { entity } = within
  return "__entity" in entity ? entity.__entity.id : entity.id
}

/** The attributes that a policy reads, and whether it reads the action. A policy that uses the whole context reads all. */
function mentionsIn(conditions: unknown): Pick<GuardPolicy, "asks" | "asksAction"> {
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
