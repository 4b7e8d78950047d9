import { present } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import { type Reference, readTemplate, refuseLine, type TemplateNode } from "./prompty-template.ts"
import type { Summarize } from "./summary.ts"

/** A value in frontmatter. */
type Yaml = null | boolean | number | string | readonly Yaml[] | { readonly [name: string]: Yaml }

/** A parsed .prompty file. */
type Prompty = {
  readonly messages: readonly { readonly role: "system" | "user"; readonly nodes: readonly TemplateNode[] }[]
}

/** Maximum length of a file in characters: a larger prompt would not fit beside a conversation. */
const maxLength = 200_000

/** The marker of a role, on a line of its own; as in Prompty, a `#` may precede it and attributes may follow. */
const marker = /^\s{0,20}#?\s{0,20}(system|user|assistant|developer|tool)(?:\[[^\]\n]{0,200}\])?\s{0,20}:\s*$/i

const engines: ReadonlySet<Yaml | undefined> = new Set([undefined, null, "jinja2", "mustache", "nunjucks"])

/**
 * Parses a .prompty file: YAML between two lines of three dashes, then a template with roles. Unsupported features are rejected with their
 * line; what the frontmatter says about models, connections and tools is ignored.
 */
export async function parsePrompty(text: string): Promise<Prompty> {
  if (text.length > maxLength) refuseLine(1, `a file of at most ${maxLength} characters`, `${text.length} characters`)
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/)
  const fenced = lines[0]?.trimEnd() === "---"
  const end = fenced ? lines.findIndex((line, n) => n > 0 && line.trimEnd() === "---") : -1
  if (fenced && end < 0) refuseLine(1, "a second line of --- below the frontmatter", "none")
  const settings = await settingsOf(lines.slice(1, Math.max(1, end)))
  const messages = messagesOf(lines, end + 1, fixedInputs(settings))
  if (!messages.some(({ nodes }) => showsMessages(nodes)))
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

/** Inputs that have a value in the file: `name: value`, or a `default`. A `sample` is only for trying out a file and is ignored. */
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

/** Splits the template by roles before values are inserted, so that no value can start a role. */
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

const showsMessages = (nodes: readonly TemplateNode[]): boolean =>
  nodes.some((node) => {
    if (node.type === "each") return showsMessages(node.body) || node.body.some(isText)
    if (node.type === "when") return showsMessages(node.then) || showsMessages(node.otherwise)
    return node.type === "value" && node.of.type === "built-in" && ["messages", "transcript"].includes(node.of.name)
  })

const isText = (node: TemplateNode): boolean =>
  node.type === "value"
    ? node.of.type === "field" && node.of.field === "text"
    : node.type === "when" && [...node.then, ...node.otherwise].some(isText)

/** Limits on the length and depth of frontmatter; Prompty's own goes five deep. */
const maxFrontmatter = 20_000
const maxDepth = 20

/** Parses frontmatter as YAML, with a library that is loaded on first use. Anchors, aliases and tags are rejected with their line. */
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

/** Asks a model one question, with a signal to abort. */
type AskWithSignal = (question: {
  readonly system: string
  readonly user: string
  readonly signal: AbortSignal
}) => Promise<{ readonly text: string }>

/** Turns a .prompty file and a model into a custom summarizer. */
export function summarizeWithPrompty(prompty: Prompty, ask: AskWithSignal): Summarize {
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

/** The values inserted into a template. */
export type PromptyValues = {
  readonly messages: readonly { readonly id: string; readonly role: string; readonly text: string }[]
  /** The messages as one text, printed by `{{messages}}` and `{{transcript}}`. */
  readonly transcript: string
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
}

type Item = PromptyValues["messages"][number]

/** The user prompt if a file has only a system role. */
const bareRequest = "Write the summary now."

/** Fills a template. Values are inserted verbatim: nothing in them is parsed as a role or a tag. */
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
