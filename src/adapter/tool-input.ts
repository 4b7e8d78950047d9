import { isObject } from "../wire/json.ts"

export type ToolInput =
  | { readonly ok: true; readonly input: Readonly<Record<string, unknown>> }
  /** In words for the model, so that it can mend its call. */
  | { readonly ok: false; readonly reason: string }

/** So many faults are told at once: enough to mend a call, too few to fill a page. */
const maxFaults = 8
/** A member's name in a message may be of the model's making. */
const longestName = 80

/** The input of a call, if it is an object with the members that its schema asks for, each of the type that it names. */
export function readToolInput(input: unknown, schema: Readonly<Record<string, unknown>>): ToolInput {
  const given = input === undefined || input === null || input === "" ? {} : input
  if (typeof given === "string") return { ok: false, reason: "The input is not valid JSON." }
  if (!isObject(given)) return { ok: false, reason: "The input is not a JSON object." }
  const faults = [...missing(given, schema.required), ...mistyped(given, schema.properties)]
  if (faults.length === 0) return { ok: true, input: given }
  return { ok: false, reason: `The input does not fit the tool's schema: ${faults.slice(0, maxFaults).join("; ")}.` }
}

const nameIn = (name: string): string => JSON.stringify(name.slice(0, longestName))

function missing(given: Readonly<Record<string, unknown>>, required: unknown): readonly string[] {
  if (!Array.isArray(required)) return []
  return required.flatMap((name: unknown) =>
    typeof name !== "string" || Object.hasOwn(given, name) ? [] : `${nameIn(name)} is missing`,
  )
}

const tests: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["string", (value: unknown) => typeof value === "string"],
  ["number", (value: unknown) => typeof value === "number"],
  ["integer", (value: unknown) => typeof value === "number" && Number.isInteger(value)],
  ["boolean", (value: unknown) => typeof value === "boolean"],
  ["array", (value: unknown) => Array.isArray(value)],
  ["object", isObject],
  ["null", (value: unknown) => value === null],
])

function mistyped(given: Readonly<Record<string, unknown>>, properties: unknown): readonly string[] {
  if (!isObject(properties)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    const types = isObject(property) ? namesOf(property.type) : []
    const fits = types.length === 0 || types.some((type) => tests.get(type)?.(value) !== false)
    return fits ? [] : `${nameIn(name)} is not of type ${types.join(" or ")}`
  })
}

const namesOf = (type: unknown): readonly string[] =>
  (Array.isArray(type) ? type : [type]).filter((name: unknown) => typeof name === "string")
