import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { sha256Hex } from "../../message/sha256.ts"
import { isObject } from "../../wire/json.ts"
import { createGuard, type Guard } from "../guard.ts"
import { isDeclarations, type PolicyInput, templateNames } from "../policy/templates.ts"
import { isName, isTemplateUse, maxRuleLength } from "./command.ts"

type Scope = Pick<OperatorRule, "agent" | "session" | "expiresAtMs">

/** The error for a fault in a file of the policy directory. */
export const faultIn = (policy: string, expected: string | undefined, found: string, line?: number): HoldfastError =>
  new HoldfastError({ code: "policy-invalid", policy, found: found.slice(0, 300), ...present({ line, expected }) })

/** The rules of a `.md` or `.txt` file. An id has the file's name, the position and the start of the text's hash. */
export function readRuleFile(name: string, text: string): readonly OperatorRule[] {
  const { scope, body, bodyLine } = readFrontMatter(name, text)
  const { rules, openComment } = rulesInFile(body, bodyLine)
  if (openComment !== undefined) throw faultIn(name, "a comment that ends with -->", "one without an end", openComment)
  return rules.map(({ text: rule, line }, at) => {
    if (rule.length > maxRuleLength)
      throw faultIn(name, `a rule of at most ${maxRuleLength} characters`, `one of ${rule.length}`, line)
    if (/\0/.test(rule)) throw faultIn(name, "readable text", "a null character", line)
    return { id: `${name}#${at + 1}:${sha256Hex(rule).slice(0, 8)}`, text: rule, source: name, ...scope }
  })
}

type FrontMatter = { readonly scope: Scope; readonly body: string; readonly bodyLine: number }

/** The scope and expiry of a file, from the front matter between two `---` lines at its beginning. */
function readFrontMatter(name: string, text: string): FrontMatter {
  if (!/^---[ \t]*\r?\n/.test(text)) return { scope: {}, body: text, bodyLine: 1 }
  const lines = text.split(/\r\n|\r|\n/)
  const end = lines.findIndex((line, at) => at > 0 && /^---\s*$/.test(line))
  if (end < 0) throw faultIn(name, "a line --- that ends the block at the beginning", "none", 1)
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
    throw faultIn(name, known, JSON.stringify(line.trim().slice(0, 60)), at)
  const target = field === "expires" ? "expiresAtMs" : field
  if (scope[target] !== undefined) throw faultIn(name, `${field} once`, "it twice", at)
  if (field === "expires") {
    const expiresAtMs = readMoment(value)
    if (expiresAtMs === undefined)
      throw faultIn(name, "a date such as 2027-01-31 or 2027-01-31T12:00:00Z", JSON.stringify(value.slice(0, 60)), at)
    scope.expiresAtMs = expiresAtMs
    return
  }
  const shown = JSON.stringify(value.slice(0, 60))
  if (!isName(value)) throw faultIn(name, "a name", shown, at)
  scope[field] = value
}

const unquote = (value: string): string =>
  value.length > 1 && /^["']/.test(value) && value.endsWith(value[0] ?? "") ? value.slice(1, -1) : value

/** Parses a date (its start in UTC), or a time with its zone. Invalid calendar days are refused. */
export function readMoment(text: string): number | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined) return undefined
  const dayMs = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return undefined
  const ms = time === undefined ? dayMs : Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** A rule in a file: its exact text, and its first line. */
type FoundRule = { readonly text: string; readonly line: number }

/** The rules of a text; `openComment` is the line of an unclosed comment, which would hide everything after it. */
type FoundRules = { readonly rules: readonly FoundRule[]; readonly openComment?: number }

type Block = {
  readonly type: "paragraph" | "item" | "break"
  readonly line: number
  readonly lines: string[]
  /** The marker before an item's text. */
  readonly marker: string
  /** The indentation of lines that belong to it. */
  readonly indent: number
}

const heading = /^ {0,3}#{1,6}(?:\s|$)/
const underline = /^ {0,3}=+\s*$/
const item = /^( {0,3})(?:[-*+•]|\d{1,9}[.)])\s+(?=\S)/
const fence = /^\s*(```+|~~~+)/
const leadIn = /[:：]\s*$/u

/**
 * The rules in a text: every list item and every paragraph is one. Headings, rulers and comments are not. Indented text below an item
 * belongs to it; text after a paragraph that ends with a colon (a whole list) belongs to that paragraph, because alone it would mean
 * something else.
 */
export function rulesInFile(text: string, firstLine = 1): FoundRules {
  const reading: Reading = { blocks: [], open: undefined, blank: false, fence: "", comment: 0 }
  for (const [at, line] of text.split(/\r\n|\r|\n/).entries()) readLine(reading, line, firstLine + at)
  const rules = joinLeadIns(reading.blocks).flatMap(({ lines, line }) => {
    const written = lines.join("\n").trim()
    return written === "" ? [] : [{ text: written, line }]
  })
  return reading.comment === 0 ? { rules } : { rules, openComment: reading.comment }
}

/** A ruler: three or more of one mark, and nothing else. */
const isRuler = (line: string): boolean =>
  /^(?:[-\s]+|[*\s]+|[_\s]+)$/.test(line) && /^\S{3}/.test(line.replaceAll(/\s/g, ""))

/** The indentation of a line; a tab counts as four. */
function indentOf(line: string): number {
  let indent = 0
  for (const character of line) {
    if (character !== " " && character !== "\t") break
    indent += character === "\t" ? 4 : 1
  }
  return indent
}

/** Removes up to `indent` leading spaces or tabs. */
function dedent(line: string, indent: number): string {
  let at = 0
  while (at < indent && (line[at] === " " || line[at] === "\t")) at += 1
  return line.slice(at)
}

type Reading = {
  readonly blocks: Block[]
  open: Block | undefined
  blank: boolean
  fence: string
  /** The line of an unclosed comment; 0 if there is none. */
  comment: number
}

function readLine(reading: Reading, line: string, number: number): void {
  const { open } = reading
  if (reading.fence !== "") {
    const closing = line.trim()
    open?.lines.push(dedent(line, open.indent))
    if (closing.startsWith(reading.fence) && /^[`~]+$/.test(closing)) reading.fence = ""
    return
  }
  if (reading.comment > 0 || /^\s*<!--/.test(line)) {
    readComment(reading, line, number)
    return
  }
  if (line.trim() === "") {
    reading.blank = true
    return
  }
  const isTitle = underline.test(line) && open?.type === "paragraph" && !reading.blank && open.lines.length === 1
  if (isTitle) reading.blocks.pop()
  if (isTitle || heading.test(line) || isRuler(line)) {
    reading.open = undefined
    reading.blocks.push({ type: "break", line: number, lines: [], marker: "", indent: 0 })
    return
  }
  addLine(reading, line, number)
  reading.fence = fence.exec(line)?.[1] ?? ""
  reading.blank = false
}

/** Text after a comment in its last line is not part of the comment. */
function readComment(reading: Reading, line: string, number: number): void {
  const end = line.indexOf("-->")
  reading.blank = true
  if (end < 0) {
    if (reading.comment === 0) reading.comment = number
    return
  }
  reading.comment = 0
  const rest = line.slice(end + 3)
  if (rest.trim() !== "") readLine(reading, rest.trimStart(), number)
}

function addLine(reading: Reading, line: string, number: number): void {
  const { open, blank, blocks } = reading
  const belongs = open?.type === "item" && indentOf(line) >= open.indent
  const [marker, leading = ""] = item.exec(line) ?? []
  if (open !== undefined && (belongs || (marker === undefined && !blank))) {
    if (blank) open.lines.push("")
    open.lines.push(dedent(line, open.indent))
    return
  }
  const block: Block =
    marker === undefined
      ? { type: "paragraph", line: number, lines: [line], marker: "", indent: 0 }
      : { type: "item", line: number, lines: [line.slice(marker.length)], marker, indent: leading.length + 2 }
  blocks.push(block)
  reading.open = block
}

/** A paragraph that ends with a colon, and the next paragraph or all items of a list after it, are one rule. */
function joinLeadIns(blocks: readonly Block[]): readonly Block[] {
  const joined: Block[] = []
  let lead: Block | undefined
  let announced: Block["type"] | undefined
  for (const block of blocks) {
    if (lead !== undefined && (announced ?? block.type) === block.type && block.type !== "break") {
      const [first = "", ...rest] = block.lines
      lead.lines.push(`${block.marker.trimStart()}${first}`, ...rest)
      announced = "item"
      if (block.type === "item" || isLeadIn(block)) continue
      lead = undefined
      continue
    }
    lead = isLeadIn(block) ? block : undefined
    announced = undefined
    joined.push(block)
  }
  return joined
}

const isLeadIn = ({ type, lines }: Block): boolean => type === "paragraph" && leadIn.test(lines.at(-1) ?? "")

/** The policies of a `.cedar` file, or the template uses of a `.json` file; each is checked separately, so that an error names its file. */
export function readPolicyFile(name: string, text: string): readonly PolicyInput[] {
  const policies = name.endsWith(".cedar") ? [{ name, text }] : readUses(name, text)
  tryPolicies(name, policies)
  return policies
}

function readUses(name: string, text: string): readonly PolicyInput[] {
  const value = parse(name, text)
  return [value].flat().map((use, at): PolicyInput => {
    if (isDeclarations(use)) return { ...use, name: use.name ?? name }
    if (isTemplateUse(use)) return { ...use, name: use.name ?? `${name}:${at + 1}` }
    const known = `a use of a template (${templateNames.join(", ")})`
    const found = isObject(use) && typeof use.template === "string" ? JSON.stringify(use.template) : typeof use
    throw faultIn(name, known, `${found} as number ${at + 1}`)
  })
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : "something else"
    const position = /position (\d+)/.exec(message)?.[1]
    const line = position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length
    throw faultIn(name, "JSON", message, line)
  }
}

/** Creates a guard from policies; an error names the file they came from. */
export function tryPolicies(
  name: string,
  policies: readonly PolicyInput[],
): ReturnType<typeof createGuard> | undefined {
  if (policies.length === 0) return undefined
  try {
    return createGuard(policies)
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    if (problem?.code === "policy-invalid") throw faultIn(name, problem.expected, problem.found, problem.line)
    if (problem?.code === "option-invalid") throw faultIn(name, `${problem.option}: ${problem.expected}`, problem.found)
    // Parameters of a wrong type, such as a number in place of a text.
    if (error instanceof TypeError) throw faultIn(name, "parameters as the template has them", error.message)
    throw error
  }
}

/** A rule that only the operator can add and withdraw. */
export type OperatorRule = {
  /** The same after every restart: `rules.md#3:ab12cd34` of a file, `c12` of the command in line 12 of the audit log. */
  readonly id: string
  readonly text: string
  /** The file, or the fingerprint of the key that signed it. */
  readonly source: string
  /** Only for this agent or session; for all if neither is set. */
  readonly agent?: string
  readonly session?: string
  readonly expiresAtMs?: number
}

/** The operator's rules and policies at one time. */
export type Standing = {
  /** Changes whenever anything below changes. */
  readonly version: string
  readonly rules: readonly OperatorRule[]
  readonly policies: readonly PolicyInput[]
  /** Made of `policies`; absent where there are none. */
  readonly guard?: Guard
}
