/** A parsed JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Returns the value under a key; `null` if there is none, so that lookups never throw. */
export function field(value: Json, key: string): Json {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null
  return (value as { readonly [key: string]: Json })[key] ?? null
}

export const listAt = (value: Json, key: string): readonly Json[] => {
  const found = field(value, key)
  return Array.isArray(found) ? found : []
}

export const textAt = (value: Json, key: string): string | undefined => {
  const found = field(value, key)
  return typeof found === "string" ? found : undefined
}

export function parseJson(text: string): Json {
  return JSON.parse(text) as Json
}

/** Returns a number that JSON.stringify writes exactly as given: `1.0`, or an integer beyond a double. */
export function numberLiteral(literal: string): unknown {
  return (JSON as unknown as { readonly rawJSON: (text: string) => unknown }).rawJSON(literal)
}

/** Writes JSON the way a model does: on one line, with a space after each colon and comma. */
export function modelJson(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/([{[])\n */g, "$1")
    .replaceAll(/\n *([}\]])/g, "$1")
    .replaceAll(/,\n */g, ", ")
}
