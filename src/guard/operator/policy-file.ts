import { HoldfastError } from "../../message/errors.ts"
import { isObject } from "../../wire/json.ts"
import { createGuard } from "../guard.ts"
import type { PolicyInput } from "../policy/policy-input.ts"
import { templateNames } from "../policy/templates.ts"
import { isTemplateUse } from "./is-template-use.ts"
import { faultIn } from "./rule-file.ts"

/** The policies of a `.cedar` file, or the uses of templates in a `.json` file; each is tried by itself, so that a fault has its file. */
export function readPolicyFile(name: string, text: string): readonly PolicyInput[] {
  const policies = name.endsWith(".cedar") ? [{ name, text }] : readUses(name, text)
  tryPolicies(name, policies)
  return policies
}

function readUses(name: string, text: string): readonly PolicyInput[] {
  const value = parse(name, text)
  return [value].flat().map((use, at) => {
    if (isTemplateUse(use)) return { ...use, name: use.name ?? `${name}:${at + 1}` }
    const known = `a use of a template (${templateNames.join(", ")})`
    const found = isObject(use) && typeof use.template === "string" ? JSON.stringify(use.template) : typeof use
    throw faultIn(name, undefined, known, `${found} as number ${at + 1}`)
  })
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : "something else"
    const position = /position (\d+)/.exec(message)?.[1]
    const line = position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length
    throw faultIn(name, line, "JSON", message)
  }
}

/** Make a guard of policies, or say what is wrong with them under the name that they came by. */
export function tryPolicies(
  name: string,
  policies: readonly PolicyInput[],
): ReturnType<typeof createGuard> | undefined {
  if (policies.length === 0) return undefined
  try {
    return createGuard(policies)
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    if (problem?.code === "policy-invalid") throw faultIn(name, problem.line, problem.expected, problem.found)
    if (problem?.code === "option-invalid")
      throw faultIn(name, undefined, `${problem.option}: ${problem.expected}`, problem.found)
    // Parameters of a type that nobody could mean: a number where a text belongs.
    if (error instanceof TypeError) throw faultIn(name, undefined, "parameters as the template has them", error.message)
    throw error
  }
}
