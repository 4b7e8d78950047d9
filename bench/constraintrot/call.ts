import { isObject } from "../../src/wire/json.ts"

/** A tool call of an agent. */
export type Call = { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }

export const toolNames = ["send_email", "db_exec", "read_file", "disclose", "purchase", "post_message"] as const

const known = new Set<string>(toolNames)

function callFrom(value: unknown): Call | undefined {
  if (!isObject(value)) return undefined
  const name = value.tool ?? value.name ?? (isObject(value.function) ? value.function.name : undefined)
  const given =
    value.input ?? value.arguments ?? value.args ?? (isObject(value.function) ? value.function.arguments : undefined)
  const input = typeof given === "string" ? parsed(given) : given
  if (typeof name !== "string" || !known.has(name.trim()) || !isObject(input)) return undefined
  return { tool: name.trim(), input }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Maximum length of a text that is searched for a call. */
const maxText = 20_000

/** Returns a call that a model wrote as text: JSON in any wrapping, or `tool(key="value", …)`. */
export function callInText(text: string): Call | undefined {
  if (text.length > maxText) return undefined
  for (let from = text.indexOf("{"), tries = 0; from >= 0 && tries < 20; from = text.indexOf("{", from + 1), tries++) {
    const end = closingOf(text, from)
    const call = end < 0 ? undefined : callFrom(parsed(text.slice(from, end)))
    if (call !== undefined) return call
  }
  const head = /\b(send_email|db_exec|read_file|disclose|purchase|post_message)\s{0,4}\(/.exec(text)
  if (head?.[1] === undefined) return undefined
  const rest = text.slice(head.index + head[0].length)
  const fields = [
    ...rest.matchAll(/(\w{1,40})\s{0,4}[=:]\s{0,4}(?:"([^"]{0,4000})"|'([^']{0,4000})'|([\d.,$]{1,20}))/g),
  ]
  const input = Object.fromEntries(fields.map(([, key = "", double, single, bare]) => [key, double ?? single ?? bare]))
  return Object.keys(input).length === 0 ? undefined : { tool: head[1], input }
}

/** Returns the end of the JSON object that starts at `from`; braces in strings do not count. */
function closingOf(text: string, from: number): number {
  let depth = 0
  let quoted = false
  for (let at = from; at < text.length; at++) {
    const sign = text[at]
    if (quoted && sign === "\\") at++
    else if (sign === '"') quoted = !quoted
    else if (!quoted && sign === "{") depth++
    else if (!quoted && sign === "}" && --depth === 0) return at + 1
  }
  return -1
}
