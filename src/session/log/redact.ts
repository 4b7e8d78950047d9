import { tryParse } from "../../wire/json.ts"

/** A pattern of text that must never be stored, and its replacement. */
export type Redaction = { readonly pattern: RegExp; readonly by?: string }

const usualText = "[redacted]"

/** The source of a member: our own entry, a provider's block, or input and output of tools. */
type TextSource = "ours" | "wire" | "theirs"

/** Members of our entries that contain no foreign text. */
const ours: ReadonlySet<string> = new Set(["type", "key", "secret", "hash", "role", "format", "remedy"])
/** Members that contain JSON as text: patterns must match the decoded text, not its escapes. */
const nested: Readonly<Record<string, TextSource>> = { wire: "wire", trace: "ours", summary: "ours" }
/** Members below which all names and values are foreign. */
const foreign: ReadonlySet<string> = new Set(["input", "arguments", "args", "response", "action"])
/** The form of types and roles in a provider's block. */
const kind = /^[a-z][a-z_]{0,40}$/

const isFixed = (name: string, text: string, source: TextSource): boolean => {
  if (source === "ours") return ours.has(name)
  return source === "wire" && (name === "type" || name === "role") && kind.test(text)
}

/** Deeper than arguments ever nest; deeper text is not parsed as JSON. */
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

/** A function that redacts matching text in any data; data without a match is returned as the same object. */
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
  const inJson = (text: string, source: TextSource): string => {
    const value = tryParse(text)
    if (typeof value !== "object" || value === null) return clean(text)
    const redacted = redact(value, "", source)
    return redacted === value ? text : JSON.stringify(redacted)
  }
  const inText = (text: string, name: string, source: TextSource): string => {
    if (isFixed(name, text, source)) return text
    const own = source === "ours" ? nested[name] : undefined
    if (own !== undefined) return inJson(text, own)
    // Tool arguments and results are often JSON themselves.
    return clean(/^\s*[[{]/.test(text) && isShallow(text) ? inJson(text, "theirs") : text)
  }
  const redact = (value: unknown, name: string, above: TextSource): unknown => {
    const source = foreign.has(name) ? "theirs" : above
    if (typeof value === "string") return inText(value, name, source)
    if (Array.isArray(value)) {
      const items = value.map((item) => redact(item, name, source))
      return items.every((item, n) => item === value[n]) ? value : items
    }
    if (typeof value !== "object" || value === null) return value
    const members = Object.entries(value)
    const redacted = members.map(([key, inner]): [string, unknown] => [
      source === "ours" ? key : clean(key),
      redact(inner, key, source),
    ])
    const isSame = redacted.every(([key, inner], n) => key === members[n]?.[0] && inner === members[n]?.[1])
    return isSame ? value : Object.fromEntries(redacted)
  }
  // Redaction keeps the type: only strings change, and they stay strings.
  return <Data>(data: Data): Data => redact(data, "", "ours") as Data
}
