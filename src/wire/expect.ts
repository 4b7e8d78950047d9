import { HoldfastError } from "../message/errors.ts"
import type { Wire } from "../message/ids.ts"
import type { Format } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import { elements, isObject, type Json, member, pathOf, valueIn } from "./json.ts"

/** What stands there, in a word or two that never quote the content. */
function nameOf(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** Refuse with the path, what was expected and what is there. */
export function refuse(json: Json, expected: string, name?: string): never {
  const found = nameOf(name === undefined ? json.value : valueIn(json, name))
  const at = pathOf(json)
  const path = [at, name].filter((step) => step !== undefined && step !== "").join(".") || "the body"
  throw new HoldfastError({ code: `${json.source.origin}-invalid`, path, expected, found })
}

export function requireObject(json: Json): Json {
  return isObject(json.value) ? json : refuse(json, "an object")
}

export function requireString(json: Json, name: string): string {
  const value = valueIn(json, name)
  return typeof value === "string" ? value : refuse(json, "a string", name)
}

export function requireElements(json: Json, name: string): readonly Json[] {
  const list = member(json, name)
  return list !== undefined && Array.isArray(list.value) ? elements(list) : refuse(json, "an array", name)
}

/** A string where there is one; anything else reads as absent. For what we only look at and never rewrite. */
export function stringIn(json: Json | undefined, name: string): string | undefined {
  const value = json === undefined ? undefined : valueIn(json, name)
  return typeof value === "string" ? value : undefined
}

export function numberIn(json: Json | undefined, name: string): number | undefined {
  const value = json === undefined ? undefined : valueIn(json, name)
  return typeof value === "number" ? value : undefined
}

/** A count where there is a whole number of zero or more; anything else reads as absent. */
export function countIn(json: Json | undefined, name: string): number | undefined {
  const value = numberIn(json, name)
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function isTrue(json: Json, name: string): boolean {
  return valueIn(json, name) === true
}

/** The text that a part came in, for parts that we relay and could not write from what we know of them. */
export function requireWire({ wire, type }: Part, format: Format): Wire {
  if (wire === undefined) throw new HoldfastError({ code: "part-unwritable", part: type, format })
  return wire
}
