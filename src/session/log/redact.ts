import { tryParse } from "../../wire/json.ts"

/** What must never be written down, and what stands in its place. */
export type Redaction = { readonly pattern: RegExp; readonly by?: string }

const usualText = "[redacted]"

/** Whose words a member is among: our own entry's, a block's as a provider has it, or what someone gave to a tool or got from it. */
type Whose = "ours" | "wire" | "theirs"

/** Members that are ours and hold nothing that anyone said. */
const ours: ReadonlySet<string> = new Set(["type", "key", "secret", "hash", "role", "format", "remedy"])
/** Members that are JSON as text: a pattern has to see what it says, not how it is escaped. */
const nested: Readonly<Record<string, Whose>> = { wire: "wire", trace: "ours", summary: "ours" }
/** Members below which every name and every word is someone else's. */
const foreign: ReadonlySet<string> = new Set(["input", "arguments", "args", "response", "action"])
/** What a provider's block calls itself or its speaker. */
const kind = /^[a-z][a-z_]{0,40}$/

const isFixed = (name: string, text: string, whose: Whose): boolean => {
  if (whose === "ours") return ours.has(name)
  return whose === "wire" && (name === "type" || name === "role") && kind.test(text)
}

/** Deeper than any arguments nest: a text of brackets alone is not read as JSON. */
const maxDepth = 100

function isShallow(text: string): boolean {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length && depth <= maxDepth; at++) {
    const sign = text[at]
    if (isQuoted && sign === "\\") at++
    else if (sign === '"') isQuoted = !isQuoted
    else if (!isQuoted && (sign === "[" || sign === "{")) depth++
    else if (!isQuoted && (sign === "]" || sign === "}")) depth--
  }
  return depth <= maxDepth
}

/** A function that takes out of any data what matches; what has nothing to take out comes back as the same object. */
export function createRedactor(redactions: readonly Redaction[]): <Data>(data: Data) => Data {
  if (redactions.length === 0) return (data) => data
  const rules = redactions.map(({ pattern, by = usualText }) => ({
    by,
    pattern: new RegExp(pattern.source, pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`),
  }))
  const clean = (text: string): string => {
    let out = text
    for (const { pattern, by } of rules) out = out.replace(pattern, () => by)
    return out
  }
  const inJson = (text: string, whose: Whose): string => {
    const value = tryParse(text)
    if (typeof value !== "object" || value === null) return clean(text)
    const redacted = redact(value, "", whose)
    return redacted === value ? text : JSON.stringify(redacted)
  }
  const inText = (text: string, name: string, whose: Whose): string => {
    if (isFixed(name, text, whose)) return text
    const own = whose === "ours" ? nested[name] : undefined
    if (own !== undefined) return inJson(text, own)
    // Arguments and results are often JSON themselves.
    return clean(/^\s*[[{]/.test(text) && isShallow(text) ? inJson(text, "theirs") : text)
  }
  const redact = (value: unknown, name: string, above: Whose): unknown => {
    const whose = foreign.has(name) ? "theirs" : above
    if (typeof value === "string") return inText(value, name, whose)
    if (Array.isArray(value)) {
      const items = value.map((item) => redact(item, name, whose))
      return items.every((item, n) => item === value[n]) ? value : items
    }
    if (typeof value !== "object" || value === null) return value
    const members = Object.entries(value)
    const redacted = members.map(([key, inner]): [string, unknown] => [
      whose === "ours" ? key : clean(key),
      redact(inner, key, whose),
    ])
    const isSame = redacted.every(([key, inner], n) => key === members[n]?.[0] && inner === members[n]?.[1])
    return isSame ? value : Object.fromEntries(redacted)
  }
  // A data type keeps its shape: only texts change, and they stay texts.
  return <Data>(data: Data): Data => redact(data, "", "ours") as Data
}
