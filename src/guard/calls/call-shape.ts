import { isObject, tryParse } from "../../wire/json.ts"

/** Names under which one wire or another says what a tool is to do, in small letters and without separators. */
const callNames: ReadonlySet<string> = new Set([
  "name",
  "arguments",
  "args",
  "input",
  "action",
  "operation",
  "partialjson",
  "partialargs",
  "functioncall",
  "functioncalls",
  "function",
  "toolcall",
  "toolcalls",
  "tooluse",
  "executablecode",
  "command",
  "commands",
  "parameters",
])

const callType = /(?:^|_)(?:call|use|request|tooluse|toolcall|functioncall)$/i

const plainName = (name: string): string => name.replace(/[_-]/g, "").toLowerCase()

/** Does a block of a type that nobody knows look like a call: something to be done, with what to do it with? */
export function looksLikeCall(value: unknown): boolean {
  if (!isObject(value)) return false
  if (typeof value.type === "string" && callType.test(value.type)) return true
  return Object.keys(value).some((name) => callNames.has(plainName(name)))
}

/** Names that stand around a call in a text that is no JSON, and escapes behind which one could stand. */
const callWords = /tool_?(?:calls?|use)|function_?calls?|executable_?code|arguments|"(?:name|args|input)"|_call\b|\\u/i

/** Could anyone find a call in a text, whether or not it is JSON? */
export function textCouldHoldCall(text: string): boolean {
  const json = tryParse(text)
  return json === undefined ? callWords.test(text) : couldHoldCall(json)
}

/** Levels that are looked through for a call; no event of any wire nests its calls deeper. */
const maxLevels = 12

/** Could anyone find a call anywhere in it? Names and types count, and not what texts say. What nests too deep counts as one. */
export function couldHoldCall(value: unknown): boolean {
  const waiting: (readonly [value: unknown, level: number])[] = [[value, 0]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [inner, level] = next
    if (typeof inner !== "object" || inner === null) continue
    if (level > maxLevels || looksLikeCall(inner)) return true
    for (const one of Object.values(inner)) waiting.push([one, level + 1])
  }
  return false
}
