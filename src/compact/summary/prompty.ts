import { present } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import {
  maxFrontmatterDepth,
  type Reference,
  readFlow,
  readTemplate,
  refuseLine,
  scalarOf,
  type TemplateNode,
  type Yaml,
} from "./prompty-template.ts"
import type { Summarize } from "./summary.ts"

/** A .prompty file, read. */
type Prompty = {
  readonly name?: string
  readonly description?: string
  /** The whole frontmatter. What it says of models, connections and tools is not acted on. */
  readonly settings: { readonly [name: string]: Yaml }
  readonly messages: readonly { readonly role: "system" | "user"; readonly nodes: readonly TemplateNode[] }[]
}

/** A larger file is refused; a prompt of this size would not fit beside a conversation. */
const maxLength = 200_000

/** A role's marker has a line to itself; a `#` before it and attributes behind it are allowed, as Prompty allows them. */
const marker = /^\s{0,20}#?\s{0,20}(system|user|assistant|developer|tool)(?:\[[^\]\n]{0,200}\])?\s{0,20}:\s*$/i

const engines: ReadonlySet<Yaml | undefined> = new Set([undefined, null, "jinja2", "mustache", "nunjucks"])

/** Read a .prompty file: YAML between two lines of three dashes, then a template in roles. What it uses and we do not offer is refused by line. */
export function parsePrompty(text: string): Prompty {
  if (text.length > maxLength) refuseLine(1, `a file of at most ${maxLength} characters`, `${text.length} characters`)
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/)
  const fenced = lines[0]?.trimEnd() === "---"
  const end = fenced ? lines.findIndex((line, n) => n > 0 && line.trimEnd() === "---") : -1
  if (fenced && end < 0) refuseLine(1, "a second line of --- below the frontmatter", "none")
  const settings = settingsOf(lines.slice(1, Math.max(1, end)))
  const messages = messagesOf(lines, end + 1, fixedInputs(settings))
  if (!messages.some(({ nodes }) => shows(nodes)))
    refuseLine(end + 2, "{{messages}} or {{transcript}}, so that there is something to summarize", "neither")
  const { name, description } = settings
  return {
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
    settings,
    messages,
  }
}

function settingsOf(lines: readonly string[]): { readonly [name: string]: Yaml } {
  const read = readYaml(lines.join("\n"), 2)
  if (!isMap(read)) return refuseLine(2, "names and values", "something else")
  const { template } = read
  const format = isMap(template) ? template.format : template
  const engine = isMap(format) ? (format.kind ?? format.type) : format
  if (!engines.has(engine)) refuseLine(2, "a template in jinja2 or mustache", "another template engine")
  return read
}

const isMap = (value: Yaml | undefined): value is { readonly [name: string]: Yaml } => isObject(value)

/** Inputs to which the file itself gives a value: `name: value`, or a `default`. A `sample` is for trying out and is not used. */
function fixedInputs({ inputs }: { readonly [name: string]: Yaml }): ReadonlyMap<string, string> {
  const named = Array.isArray(inputs)
    ? inputs.map((input: Yaml) => [isMap(input) ? input.name : undefined, input] as const)
    : Object.entries(isMap(inputs) ? inputs : {})
  const fixed = new Map<string, string>()
  for (const [name, input] of named) {
    const value = isMap(input) ? input.default : input
    if (typeof name !== "string" || value === undefined || value === null || typeof value === "object") continue
    fixed.set(name, String(value))
  }
  return fixed
}

/** Roles are told apart before a value is anywhere near, so no value can ever start one. */
function messagesOf(lines: readonly string[], from: number, fixed: ReadonlyMap<string, string>): Prompty["messages"] {
  const marked = lines.some((line, n) => n >= from && marker.test(line))
  const messages: { role: "system" | "user"; nodes: readonly TemplateNode[] }[] = []
  let role: "system" | "user" = marked ? "system" : "user"
  let start = from
  const finish = (end: number): void => {
    const body = lines.slice(start, end).join("\n")
    if (body.trim() !== "") messages.push({ role, nodes: readTemplate(body, start + 1, fixed) })
  }
  for (let at = from; at < lines.length; at++) {
    const named = marker.exec(lines[at] ?? "")?.[1]?.toLowerCase()
    if (named === undefined) continue
    finish(at)
    if (named !== "system" && named !== "user" && named !== "developer")
      refuseLine(at + 1, "system: or user:", `${named}:, which a summarizer has no use for`)
    role = named === "user" ? "user" : "system"
    start = at + 1
  }
  finish(lines.length)
  return messages
}

const shows = (nodes: readonly TemplateNode[]): boolean =>
  nodes.some((node) => {
    if (node.type === "each") return shows(node.body) || node.body.some(isText)
    if (node.type === "when") return shows(node.then) || shows(node.otherwise)
    return node.type === "value" && node.of.type === "offered" && ["messages", "transcript"].includes(node.of.name)
  })

const isText = (node: TemplateNode): boolean =>
  node.type === "value"
    ? node.of.type === "field" && node.of.field === "text"
    : node.type === "when" && [...node.then, ...node.otherwise].some(isText)

type Line = { readonly indent: number; readonly text: string; readonly number: number }

/** Lines with a place in them. What stands behind a dash is read as a line of its own, so the list is ours to change. */
type Reader = { readonly lines: Line[]; at: number }

/**
 * Read the part of YAML that .prompty files are written in: nested maps and lists by indentation, plain, quoted and block scalars, and maps
 * and lists in brackets on one line. Anchors, aliases, tags and several documents are refused by line.
 */
export function readYaml(text: string, firstLine: number): Yaml {
  const lines = text.split("\n").map((raw, n): Line => {
    const whole = raw.replace(/\r$/, "")
    const indent = whole.length - whole.trimStart().length
    const tab = whole.slice(0, indent).includes("\t") && whole.trim() !== ""
    if (tab) refuseLine(firstLine + n, "spaces before the first word", "a tab")
    return { indent, text: whole.trim(), number: firstLine + n }
  })
  const reader: Reader = { lines, at: 0 }
  const first = peek(reader)
  if (first === undefined) return {}
  const value = readBlock(reader, first.indent, 0)
  const rest = peek(reader)
  return rest === undefined
    ? value
    : refuseLine(rest.number, "a line that is indented like those before it", "another indentation")
}

/** The next line that says something. */
function peek(reader: Reader): Line | undefined {
  for (; reader.at < reader.lines.length; reader.at++) {
    const line = reader.lines[reader.at]
    if (line !== undefined && line.text !== "" && !line.text.startsWith("#")) return line
  }
  return undefined
}

const isItem = ({ text }: Line): boolean => text === "-" || text.startsWith("- ")

function readBlock(reader: Reader, indent: number, depth: number): Yaml {
  const line = peek(reader)
  if (line === undefined) return null
  if (depth > maxFrontmatterDepth)
    return refuseLine(line.number, `at most ${maxFrontmatterDepth} levels`, "a deeper one")
  if (isItem(line)) return readList(reader, indent, depth)
  if (splitKey(line) !== undefined) return readMap(reader, indent, depth)
  reader.at++
  return readValue(reader, line, line.text, indent - 1)
}

function readList(reader: Reader, indent: number, depth: number): Yaml {
  const items: Yaml[] = []
  for (let line = peek(reader); line !== undefined && line.indent === indent && isItem(line); line = peek(reader)) {
    const rest = line.text.slice(1).trimStart()
    const inner: Line = { ...line, indent: indent + line.text.length - rest.length, text: rest }
    if (rest === "" || rest.startsWith("#")) {
      reader.at++
      items.push(readNested(reader, indent, depth))
    } else if (isItem(inner) || splitKey(inner) !== undefined) {
      reader.lines[reader.at] = inner
      items.push(readBlock(reader, inner.indent, depth + 1))
    } else {
      reader.at++
      items.push(readValue(reader, line, rest, indent))
    }
  }
  return items
}

function readMap(reader: Reader, indent: number, depth: number): Yaml {
  const entries = new Map<string, Yaml>()
  for (let line = peek(reader); line !== undefined && line.indent === indent && !isItem(line); line = peek(reader)) {
    const pair = splitKey(line)
    if (pair === undefined) return refuseLine(line.number, "a name and a colon", "something else")
    if (entries.has(pair.key)) return refuseLine(line.number, "each name once", "a name for the second time")
    reader.at++
    const empty = pair.rest === "" || pair.rest.startsWith("#")
    entries.set(pair.key, empty ? readNested(reader, indent, depth, true) : readValue(reader, line, pair.rest, indent))
  }
  return Object.fromEntries(entries)
}

/** What stands below a name or dash: something indented further; below a name also a list that is not. */
function readNested(reader: Reader, indent: number, depth: number, ofMap = false): Yaml {
  const next = peek(reader)
  if (next === undefined) return null
  if (next.indent > indent) return readBlock(reader, next.indent, depth + 1)
  return ofMap && next.indent === indent && isItem(next) ? readList(reader, indent, depth + 1) : null
}

function splitKey({ text }: Line): { readonly key: string; readonly rest: string } | undefined {
  const found =
    /^(?:"([^"\\]{0,200})"|'([^']{0,200})'|([^\s"'[\]{},&*!|>%@`#][^:]{0,200}?))\s{0,20}:(?:\s+(.*))?$/.exec(text)
  if (found === null) return undefined
  return { key: found[1] ?? found[2] ?? found[3] ?? "", rest: found[4] ?? "" }
}

function readValue(reader: Reader, line: Line, text: string, indent: number): Yaml {
  if (/^[|>]/.test(text)) return readScalarBlock(reader, line, text, indent)
  if (/^[&*!]/.test(text)) return refuseLine(line.number, "a plain value", "an anchor, alias or tag")
  if (/^["'[{]/.test(text)) return readFlow(text, line.number)
  const pieces = [text.replace(/\s#.*$/, "").trimEnd()]
  for (let next = peek(reader); next !== undefined && next.indent > indent; next = peek(reader)) {
    if (splitKey(next) !== undefined)
      return refuseLine(next.number, "the rest of the text above it", "a name and a colon")
    pieces.push(next.text.replace(/\s#.*$/, "").trimEnd())
    reader.at++
  }
  return pieces.length > 1 ? pieces.join(" ") : scalarOf(pieces[0] ?? "")
}

/** `|` keeps the breaks, `>` makes blanks of them; `-` drops the break at the end, `+` keeps all of them. */
function readScalarBlock(reader: Reader, line: Line, text: string, indent: number): Yaml {
  const head = /^([|>])(\d?)([+-]?)(\d?)\s*(?:#.*)?$/.exec(text)
  if (head === null) return refuseLine(line.number, "nothing behind | or >", "more text")
  const rows: Line[] = []
  for (let next = reader.lines[reader.at]; next !== undefined; next = reader.lines[reader.at]) {
    if (next.text !== "" && next.indent <= indent) break
    rows.push(next)
    reader.at++
  }
  const given = Number(head[2] || head[4] || 0)
  const least = rows.reduce((least, row) => (row.text === "" ? least : Math.min(least, row.indent)), Infinity)
  const margin = given > 0 ? Math.max(0, indent) + given : least
  const written = rows.map((row) => (row.text === "" ? "" : " ".repeat(Math.max(0, row.indent - margin)) + row.text))
  const body = written.join("\n").replace(/\n+$/, "")
  const folded = head[1] === "|" ? body : body.replace(/(?<!\n)\n(?![\n ])/g, " ").replace(/\n\n/g, "\n")
  if (head[3] === "-" || folded === "") return folded
  return head[3] === "+" ? `${folded}${"\n".repeat(written.length - body.split("\n").length + 1)}` : `${folded}\n`
}

/** Asks a model one question, until the signal says stop. */
type AskUntil = (question: {
  readonly system: string
  readonly user: string
  readonly signal: AbortSignal
}) => Promise<{ readonly text: string }>

/** A .prompty file and a model as a summarizer of the user's own. */
export function summarizeWithPrompty(prompty: Prompty, ask: AskUntil): Summarize {
  return async ({ text, pieces, focus, language, budgetTokens, signal }) => {
    const messages = pieces.map(({ id, from, text: piece }) => ({ id, role: from, text: piece }))
    const question = renderPrompty(prompty, {
      messages,
      transcript: text,
      budgetTokens,
      ...present({ focus, language }),
    })
    return (await ask({ ...question, signal })).text
  }
}

/** What a template is filled with. */
export type PromptyValues = {
  readonly messages: readonly { readonly id: string; readonly role: string; readonly text: string }[]
  /** The same as one text: what `{{messages}}` and `{{transcript}}` print. */
  readonly transcript: string
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
}

type Item = PromptyValues["messages"][number]

/** What is asked of a model when a file only says what its role is. */
const bareRequest = "Write the summary now."

/** Fill a template. Values are put in as they are: nothing in them is read as a role or a tag. */
export function renderPrompty(
  prompty: Prompty,
  values: PromptyValues,
): { readonly system: string; readonly user: string } {
  const said = (role: "system" | "user"): string =>
    prompty.messages
      .filter((message) => message.role === role)
      .map(({ nodes }) => render(nodes, values, undefined).trim())
      .filter((text) => text !== "")
      .join("\n\n")
  return { system: said("system"), user: said("user") || bareRequest }
}

const render = (nodes: readonly TemplateNode[], values: PromptyValues, item: Item | undefined): string =>
  nodes.map((node) => renderNode(node, values, item)).join("")

function renderNode(node: TemplateNode, values: PromptyValues, item: Item | undefined): string {
  switch (node.type) {
    case "text":
      return node.text
    case "value":
      return textFor(node.of, values, item)
    case "each":
      return values.messages.map((message) => render(node.body, values, message)).join("")
    case "when": {
      const holds = textFor(node.of, values, item) !== ""
      return render(holds === node.negated ? node.otherwise : node.then, values, item)
    }
  }
}

function textFor(of: Reference, values: PromptyValues, item: Item | undefined): string {
  if (of.type === "fixed") return of.text
  if (of.type === "field") return item?.[of.field] ?? ""
  switch (of.name) {
    case "messages":
    case "transcript":
      return values.transcript
    case "focus":
      return values.focus ?? ""
    case "language":
      return values.language ?? ""
    case "budget":
      return String(values.budgetTokens)
  }
}
