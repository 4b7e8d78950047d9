import type { Part, ToolCallPart } from "./message.ts"

/** Returns a value as the JSON that is sent. A value that JSON cannot represent is never sent, so the name of its type is enough. */
function jsonText(value: unknown): string {
  if (typeof value === "string") return value
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return typeof value
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the `arguments` member of a call's or message's JSON, wherever the OpenAI formats have it. */
function givenArguments(wire: string): unknown {
  const call = parse(wire)
  const inner = memberOf(call, "function") ?? memberOf(call, "function_call")
  return memberOf(typeof inner === "object" ? (inner ?? call) : call, "arguments")
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/**
 * Returns a call's arguments as the model reads them. In OpenAI's formats they are JSON text inside JSON, and the model reads that text as
 * the client wrote it: a character written as `\uXXXX` is six characters for the model too. In other formats they are a JSON value, which
 * the provider serializes again. `wire` is the text that contains them, if not the call's own.
 */
export function argumentsText(call: Pick<Part, "wire"> & ToolCallPart, wire: string | undefined = call.wire): string {
  const { input } = call
  const written = jsonText(input)
  const given = wire === undefined ? undefined : givenArguments(wire)
  if (typeof given !== "string") return written === "" ? jsonText(given) : written
  // Arguments that were changed since are serialized as compact JSON; otherwise the client's text is kept.
  const isKept = given === written || jsonText(parse(given)) === jsonText(input ?? {})
  return isKept ? given : written
}
