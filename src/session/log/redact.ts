import { tryParse } from "../../wire/json.ts"

/** A pattern of text that must never be stored, and its replacement. */
export type Redaction = { readonly pattern: RegExp; readonly by?: string }

const defaultText = "[redacted]"

/**
 * Patterns of well-known secrets: keys of model providers, code hosts, clouds, payment and mail services, signed tokens, private keys,
 * passwords in URLs. A password without a recognizable form is not matched.
 */
export const wellKnownSecrets: readonly Redaction[] = [
  /\b(?:sk|rk|pk)[-_](?:[a-z]{2,10}[-_]){0,3}[A-Za-z0-9_-]{20,300}/g,
  /\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{30,255}|gl(?:pat|ptt|dt|rt|cbt|soat)-[A-Za-z0-9_.-]{20,300})/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
  /(?<=aws_?secret_?access_?key["'\s:=]{1,6})[A-Za-z0-9/+]{40}/gi,
  /\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,1000}|\bGOCSPX-[A-Za-z0-9_-]{20,60}/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,300}|\bxapp-\d-[A-Za-z0-9-]{10,300}/g,
  /\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,300}|dckr_pat_[A-Za-z0-9_-]{20,100}|hf_[A-Za-z0-9]{30,100})/g,
  /\bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}|\bkey-[0-9a-f]{32}\b|\bwhsec_[A-Za-z0-9+/=]{20,100}/g,
  /\beyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{10,2000}/g,
  /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----[\s\S]{0,10000}?-----END (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----/g,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{0,100}:)[^\s@/]{3,200}(?=@)/gi,
  /(?<=\b(?:authorization|x-api-key|api-key)["']?\s{0,2}[:=]\s{0,2}["']?(?:(?:Bearer|Basic|token)\s{1,3})?)[A-Za-z0-9._~+/=-]{16,2000}/gi,
].map((pattern) => ({ pattern }))

/** The source of a member: our own entry, a provider's block, or input and output of tools. */
type TextSource = "ours" | "wire" | "theirs"

/** Members of our entries that contain no foreign text. */
const ours: ReadonlySet<string> = new Set(["type", "key", "secret", "hash", "role", "format", "remedy"])
/** Members that contain JSON as text: patterns must match the decoded text, not its escapes. */
const nested: Readonly<Record<string, TextSource>> = { wire: "wire", trace: "ours", summary: "ours" }
/** Members below which all names and values are foreign. */
const foreign: ReadonlySet<string> = new Set(["input", "arguments", "args", "response", "action"])
/** Matches types and roles in a provider's block. */
const kind = /^[a-z][a-z_]{0,40}$/

const isFixed = (name: string, text: string, source: TextSource): boolean => {
  if (source === "ours") return ours.has(name)
  return source === "wire" && (name === "type" || name === "role") && kind.test(text)
}

/** Nesting depth above which text is not parsed as JSON; arguments never nest as deep. */
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

/** Creates a function that redacts matching text in any data; data without a match is returned as the same object. */
export function createRedactor(redactions: readonly Redaction[]): <Data>(data: Data) => Data {
  if (redactions.length === 0) return (data) => data
  const rules = redactions.map(({ pattern, by = defaultText }) => ({
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
