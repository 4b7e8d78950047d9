import { tryParse } from "../wire/json.ts"

/** What must never be written down, and what stands in its place. */
export type Redaction = { readonly pattern: RegExp; readonly by?: string }

const usualText = "[redacted]"

/** Members that are ours and hold nothing that anyone said. */
const ours: ReadonlySet<string> = new Set(["type", "key", "secret", "hash", "role", "format", "remedy"])
/** Members that are JSON as text: a pattern has to see what it says, not how it is escaped. */
const nested: ReadonlySet<string> = new Set(["wire", "trace", "summary"])

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
  const inJson = (text: string): string => {
    const value = tryParse(text)
    if (value === undefined) return clean(text)
    const redacted = redact(value, "")
    return redacted === value ? text : JSON.stringify(redacted)
  }
  const redact = (value: unknown, name: string): unknown => {
    if (typeof value === "string") return nested.has(name) ? inJson(value) : ours.has(name) ? value : clean(value)
    if (Array.isArray(value)) {
      const items = value.map((item) => redact(item, name))
      return items.every((item, n) => item === value[n]) ? value : items
    }
    if (typeof value !== "object" || value === null) return value
    const members = Object.entries(value)
    const redacted = members.map(([key, inner]): [string, unknown] => [key, redact(inner, key)])
    return redacted.every(([, inner], n) => inner === members[n]?.[1]) ? value : Object.fromEntries(redacted)
  }
  // A data type keeps its shape: only texts change, and they stay texts.
  return <Data>(data: Data): Data => redact(data, "") as Data
}
