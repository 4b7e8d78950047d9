import { present } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import { type Reference, readTemplate, refuseLine, type TemplateNode } from "./prompty-template.ts"
import type { Summarize } from "./summary.ts"

/** What frontmatter can say. */
type Yaml = null | boolean | number | string | readonly Yaml[] | { readonly [name: string]: Yaml }

/** A .prompty file, read. */
type Prompty = {
  readonly messages: readonly { readonly role: "system" | "user"; readonly nodes: readonly TemplateNode[] }[]
}

/** A larger file is refused; a prompt of this size would not fit beside a conversation. */
const maxLength = 200_000

/** A role's marker has a line to itself; a `#` before it and attributes behind it are allowed, as Prompty allows them. */
const marker = /^\s{0,20}#?\s{0,20}(system|user|assistant|developer|tool)(?:\[[^\]\n]{0,200}\])?\s{0,20}:\s*$/i

const engines: ReadonlySet<Yaml | undefined> = new Set([undefined, null, "jinja2", "mustache", "nunjucks"])

/** Read a .prompty file: YAML between two lines of three dashes, then a template in roles. What it uses and we do not offer is refused by line; what the frontmatter says of models, connections and tools is not acted on. */
export async function parsePrompty(text: string): Promise<Prompty> {
  if (text.length > maxLength) refuseLine(1, `a file of at most ${maxLength} characters`, `${text.length} characters`)
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/)
  const fenced = lines[0]?.trimEnd() === "---"
  const end = fenced ? lines.findIndex((line, n) => n > 0 && line.trimEnd() === "---") : -1
  if (fenced && end < 0) refuseLine(1, "a second line of --- below the frontmatter", "none")
  const settings = await settingsOf(lines.slice(1, Math.max(1, end)))
  const messages = messagesOf(lines, end + 1, fixedInputs(settings))
  if (!messages.some(({ nodes }) => shows(nodes)))
    refuseLine(end + 2, "{{messages}} or {{transcript}}, so that there is something to summarize", "neither")
  return { messages }
}

async function settingsOf(lines: readonly string[]): Promise<{ readonly [name: string]: Yaml }> {
  const read = await readYaml(lines.join("\n"), 2)
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
    return node.type === "value" && node.of.type === "built-in" && ["messages", "transcript"].includes(node.of.name)
  })

const isText = (node: TemplateNode): boolean =>
  node.type === "value"
    ? node.of.type === "field" && node.of.field === "text"
    : node.type === "when" && [...node.then, ...node.otherwise].some(isText)

/** Longer or deeper frontmatter is refused; Prompty's own goes five deep. */
const maxFrontmatter = 20_000
const maxDepth = 20

/** Read frontmatter as YAML, by a library that is loaded with the first such file. What could stand for something else is refused by line. */
export async function readYaml(text: string, firstLine: number): Promise<Yaml> {
  if (text.length > maxFrontmatter) refuseLine(firstLine, `at most ${maxFrontmatter} characters`, `${text.length}`)
  const { LineCounter, parseAllDocuments, visit } = await import("yaml")
  const lines = new LineCounter()
  const refuseAt = (offset: number, expected: string, found: string): never =>
    refuseLine(firstLine + Math.max(0, lines.linePos(offset).line - 1), expected, found)
  try {
    const [document, second] = [...parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })]
    if (document === undefined) return {}
    const fault = document.errors[0] ?? document.warnings[0]
    if (fault !== undefined) refuseAt(fault.pos[0], "YAML that can be read", fault.message)
    if (second !== undefined) refuseAt(second.range[0], "one document", "a second one")
    visit(document, {
      Node: (_key, node, path) => {
        const at = node.range?.[0] ?? 0
        if (path.length > 2 * maxDepth) refuseAt(at, `at most ${maxDepth} levels`, "a deeper one")
        if (
          ("anchor" in node && node.anchor !== undefined) ||
          node.tag !== undefined ||
          ("source" in node && !("value" in node))
        )
          refuseAt(at, "a plain value", "an anchor, alias or tag")
      },
    })
    return document.toJS() ?? {}
  } catch (error) {
    if (error instanceof RangeError) refuseLine(firstLine, `at most ${maxDepth} levels`, "a deeper one")
    throw error
  }
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
  const { transcript, focus = "", language = "", budgetTokens } = values
  return { messages: transcript, transcript, focus, language, budget: String(budgetTokens) }[of.name]
}
