import { createHash } from "node:crypto"
import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { maxRuleLength } from "./limits.ts"
import { isName } from "./read-command.ts"
import { rulesIn } from "./rules-in.ts"
import type { OperatorRule } from "./standing.ts"

type Scope = Pick<OperatorRule, "agent" | "session" | "expiresAtMs">

/** What is wrong with a file of the policy directory, and where. */
export const faultIn = (policy: string, line: number | undefined, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "policy-invalid", policy, expected, found: found.slice(0, 300), ...present({ line }) })

/**
 * The rules of a `.md` or `.txt` file. Their ids have the file's name, the place in it and the beginning of the text's hash: the same
 * text at the same place is the same rule.
 */
export function readRuleFile(name: string, text: string): readonly OperatorRule[] {
  const { scope, body, bodyLine } = readFrontMatter(name, text)
  const { rules, openComment } = rulesIn(body, bodyLine)
  if (openComment !== undefined) throw faultIn(name, openComment, "a comment that ends with -->", "one without an end")
  return rules.map(({ text: rule, line }, at) => {
    if (rule.length > maxRuleLength)
      throw faultIn(name, line, `a rule of at most ${maxRuleLength} characters`, `one of ${rule.length}`)
    if (/\0/.test(rule)) throw faultIn(name, line, "readable text", "a null character")
    return { id: `${name}#${at + 1}:${shortHash(rule)}`, text: rule, source: name, ...scope }
  })
}

const shortHash = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex").slice(0, 8)

type FrontMatter = { readonly scope: Scope; readonly body: string; readonly bodyLine: number }

/** For whom and until when a file holds, from the block between two lines `---` at its very beginning. */
function readFrontMatter(name: string, text: string): FrontMatter {
  if (!/^---[ \t]*\r?\n/.test(text)) return { scope: {}, body: text, bodyLine: 1 }
  const lines = text.split(/\r\n|\r|\n/)
  const end = lines.findIndex((line, at) => at > 0 && /^---\s*$/.test(line))
  if (end < 0) throw faultIn(name, 1, "a line --- that ends the block at the beginning", "none")
  const scope: { agent?: string; session?: string; expiresAtMs?: number } = {}
  for (const [at, line] of lines.slice(1, end).entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue
    readField(name, at + 2, line, scope)
  }
  return { scope, body: lines.slice(end + 1).join("\n"), bodyLine: end + 2 }
}

function readField(
  name: string,
  at: number,
  line: string,
  scope: { agent?: string; session?: string; expiresAtMs?: number },
): void {
  const colon = line.indexOf(":")
  const field = line.slice(0, Math.max(0, colon)).trim()
  const value = unquote(line.slice(colon + 1).trim())
  const known = "agent, session or expires"
  if (field !== "agent" && field !== "session" && field !== "expires")
    throw faultIn(name, at, known, JSON.stringify(line.trim().slice(0, 60)))
  const target = field === "expires" ? "expiresAtMs" : field
  if (scope[target] !== undefined) throw faultIn(name, at, `${field} once`, "it twice")
  if (field === "expires") {
    const expiresAtMs = readMoment(value)
    if (expiresAtMs === undefined)
      throw faultIn(name, at, "a date such as 2027-01-31 or 2027-01-31T12:00:00Z", JSON.stringify(value.slice(0, 60)))
    scope.expiresAtMs = expiresAtMs
    return
  }
  const shown = JSON.stringify(value.slice(0, 60))
  if (!isName(value)) throw faultIn(name, at, "a name", shown)
  scope[field] = value
}

const unquote = (value: string): string =>
  value.length > 1 && /^["']/.test(value) && value.endsWith(value[0] ?? "") ? value.slice(1, -1) : value

/** A date, from its first moment in UTC, or a moment with its zone. A day that no calendar has is none. */
export function readMoment(text: string): number | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined) return undefined
  const dayMs = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return undefined
  const ms = time === undefined ? dayMs : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
