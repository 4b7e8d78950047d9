import { isObject } from "../../wire/json.ts"
import { refuse, type Yaml } from "./prompty-flow.ts"
import { type Node, readTemplate } from "./prompty-template.ts"
import { readYaml } from "./prompty-yaml.ts"

/** A .prompty file, read. */
export type Prompty = {
  readonly name?: string
  readonly description?: string
  /** The whole frontmatter. What it says of models, connections and tools is not acted on. */
  readonly settings: { readonly [name: string]: Yaml }
  readonly messages: readonly { readonly role: "system" | "user"; readonly nodes: readonly Node[] }[]
}

/** A larger file is refused; a prompt of this size would not fit beside a conversation. */
const maxLength = 200_000

/** A role's marker has a line to itself; a `#` before it and attributes behind it are allowed, as Prompty allows them. */
const marker = /^\s{0,20}#?\s{0,20}(system|user|assistant|developer|tool)(?:\[[^\]\n]{0,200}\])?\s{0,20}:\s*$/i

const engines: ReadonlySet<Yaml | undefined> = new Set([undefined, null, "jinja2", "mustache", "nunjucks"])

/** Read a .prompty file: YAML between two lines of three dashes, then a template in roles. What it uses and we do not offer is refused by line. */
export function parsePrompty(text: string): Prompty {
  if (text.length > maxLength) refuse(1, `a file of at most ${maxLength} characters`, `${text.length} characters`)
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/)
  const fenced = lines[0]?.trimEnd() === "---"
  const end = fenced ? lines.findIndex((line, n) => n > 0 && line.trimEnd() === "---") : -1
  if (fenced && end < 0) refuse(1, "a second line of --- below the frontmatter", "none")
  const settings = settingsOf(lines.slice(1, Math.max(1, end)))
  const messages = messagesOf(lines, end + 1, fixedInputs(settings))
  if (!messages.some(({ nodes }) => shows(nodes)))
    refuse(end + 2, "{{messages}} or {{transcript}}, so that there is something to summarize", "neither")
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
  if (!isMap(read)) return refuse(2, "names and values", "something else")
  const { template } = read
  const format = isMap(template) ? template.format : template
  const engine = isMap(format) ? (format.kind ?? format.type) : format
  if (!engines.has(engine)) refuse(2, "a template in jinja2 or mustache", "another template engine")
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
  const messages: { role: "system" | "user"; nodes: readonly Node[] }[] = []
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
      refuse(at + 1, "system: or user:", `${named}:, which a summarizer has no use for`)
    role = named === "user" ? "user" : "system"
    start = at + 1
  }
  finish(lines.length)
  return messages
}

const shows = (nodes: readonly Node[]): boolean =>
  nodes.some((node) => {
    if (node.type === "each") return shows(node.body) || node.body.some(isText)
    if (node.type === "when") return shows(node.then) || shows(node.otherwise)
    return node.type === "value" && node.of.type === "offered" && ["messages", "transcript"].includes(node.of.name)
  })

const isText = (node: Node): boolean =>
  node.type === "value"
    ? node.of.type === "field" && node.of.field === "text"
    : node.type === "when" && [...node.then, ...node.otherwise].some(isText)
