import { HoldfastError } from "../message/errors.ts"
import type { Cedar } from "./cedar.ts"
import type { Matcher } from "./matcher.ts"
import type { Policy } from "./policy.ts"
import type { PolicyInput } from "./policy-input.ts"
import { cedarString } from "./policy-text.ts"
import { checkPolicies, invalid, maxPolicies, readPolicies } from "./read-policies.ts"
import { type Draft, shown } from "./template.ts"
import { draftOf, type TemplateUse } from "./templates/templates.ts"

export type PolicySet = { readonly policies: readonly Policy[]; readonly matchers: Readonly<Record<string, Matcher>> }

/** A template's conditions as policies, each with the rule in words. */
function written(
  use: TemplateUse,
  name: string,
): { readonly text: string; readonly matchers: Readonly<Record<string, Matcher>> } {
  const { rule, instead, when, matchers = {} } = checkedDraft(use, name)
  const head = [
    `@rule(${cedarString(use.rule ?? rule)})`,
    `@instead(${cedarString(instead)})`,
    ...(use.decision === "ask" ? ['@decision("ask")'] : []),
  ].join("\n")
  return {
    text: when.map((condition) => `${head}\nforbid(principal, action, resource) when { ${condition} };`).join("\n"),
    matchers,
  }
}

/** A parameter that is none is the fault of the policy that gives it. */
function checkedDraft(use: TemplateUse, name: string): Draft {
  try {
    return draftOf(use, name)
  } catch (error) {
    if (!(error instanceof HoldfastError && error.problem.code === "option-invalid")) throw error
    const { option, expected, found } = error.problem
    throw invalid(name, undefined, `${expected} for ${option}`, found)
  }
}

/** Read all policies of a guard. Names are made unique by their number; ids that policies give themselves must be. */
export function readPolicySet(
  cedar: Cedar,
  inputs: readonly PolicyInput[],
  given: Readonly<Record<string, Matcher>>,
): PolicySet {
  if (!Array.isArray(inputs))
    throw new HoldfastError({ code: "option-invalid", option: "policies", expected: "a list", found: shown(inputs) })
  const taken = new Set<string>(Object.keys(given))
  const nameFor = (wanted: string): string => {
    let name = wanted
    for (let count = 2; taken.has(name); count++) name = `${wanted}-${count}`
    taken.add(name)
    return name
  }
  const policies: Policy[] = []
  const matchers: Record<string, Matcher> = { ...given }
  for (const input of inputs) {
    if (typeof input === "string") policies.push(...readPolicies(cedar, nameFor("policy"), input))
    else if (typeof input !== "object" || input === null)
      throw new HoldfastError({
        code: "option-invalid",
        option: "policies",
        expected: "texts and templates",
        found: shown(input),
      })
    else if ("text" in input) policies.push(...readPolicies(cedar, nameFor(checkedName(input.name)), input.text))
    else {
      const name = nameFor(checkedName(input.name ?? input.template))
      const made = written(input, name)
      Object.assign(matchers, made.matchers)
      policies.push(...readPolicies(cedar, name, made.text))
    }
  }
  check(policies)
  checkPolicies(cedar, policies)
  return { policies, matchers }
}

function checkedName(name: unknown): string {
  if (typeof name === "string" && /^[\w .:-]{1,100}$/.test(name)) return name
  throw invalid(shown(name), undefined, "a name of up to a hundred letters, digits, blanks or _.:-", shown(name))
}

function check(policies: readonly Policy[]): void {
  const ids = new Set<string>()
  for (const { id, line } of policies) {
    if (ids.has(id)) throw invalid(id, line, "an id that no other policy has", `${JSON.stringify(id)} twice`)
    ids.add(id)
  }
  if (policies.length > maxPolicies)
    throw new HoldfastError({
      code: "option-invalid",
      option: "policies",
      expected: `at most ${maxPolicies} policies`,
      found: String(policies.length),
    })
}
