import { isObject } from "../../wire/json.ts"
import { type TemplateUse, templateNames } from "../policy/templates.ts"

/** Lists and objects within one another; the parameters of a template have two. */
const maxDepth = 6

/**
 * A template that is known, with parameters that are not nested without end; whether they are right is for the guard to say. A `text`
 * would make it a policy in Cedar.
 */
export const isTemplateUse = (value: unknown): value is TemplateUse =>
  isObject(value) &&
  templateNames.some((name) => name === value.template) &&
  !Object.hasOwn(value, "text") &&
  isFlat(value, maxDepth)

function isFlat(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => isFlat(inner, depth - 1))
}
