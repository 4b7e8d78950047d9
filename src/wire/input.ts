import type { Wire } from "../message/ids.ts"
import { isObject, type Json, tryParse, valueIn } from "./json.ts"
import { write } from "./overlay.ts"

/** The input of a call whose arguments travel as JSON text: parsed where that gives an object or a list, otherwise the text. */
export function readArguments(text: string): unknown {
  const parsed = tryParse(text)
  return isObject(parsed) || Array.isArray(parsed) ? parsed : text
}

/**
 * The input of a call, from the member that holds its arguments as JSON text. Some servers send the JSON value itself, and some clients
 * act on it: then it is the input as it is. Absent and null are no arguments.
 */
export function argumentsIn(call: Json, name: string): unknown {
  const value = valueIn(call, name) ?? ""
  return typeof value === "string" ? readArguments(value) : value
}

/** The input of a custom tool, which is free text; a server that sends another value means that value. */
export const customInputIn = (call: Json): unknown => valueIn(call, "input") ?? ""

/** The text of a custom tool's input; a value that is no text stays the value that stands there. */
export const writeCustomInput = (input: unknown): Wire => write(typeof input === "string" ? input : (input ?? ""))

/** The arguments text of an input; the one that stands there is kept if it says the same. */
export function writeArguments(input: unknown, before: unknown): Wire {
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
  const isSameValue = before !== undefined && before !== null && JSON.stringify(before) === JSON.stringify(input)
  if (typeof before !== "string") return isSameValue ? write(before) : write(text)
  const same = before === text || JSON.stringify(tryParse(before)) === text
  return write(same ? before : text)
}
