import type { Wire } from "../message/ids.ts"
import { isObject, tryParse } from "./json.ts"
import { write } from "./overlay.ts"

/** The input of a call whose arguments travel as JSON text: parsed where that gives an object or a list, otherwise the text. */
export function readArguments(text: string): unknown {
  const parsed = tryParse(text)
  return isObject(parsed) || Array.isArray(parsed) ? parsed : text
}

/** The arguments text of an input; the one that stands there is kept if it says the same. */
export function writeArguments(input: unknown, before: unknown): Wire {
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
  if (typeof before !== "string") return write(text)
  const same = before === text || JSON.stringify(tryParse(before)) === text
  return write(same ? before : text)
}
