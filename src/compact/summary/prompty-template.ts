import { HoldfastError } from "../../message/errors.ts"

/** Values available in every template, declared as inputs or not. */
const builtIn = ["messages", "transcript", "focus", "language", "budget"] as const
type BuiltIn = (typeof builtIn)[number]

/** Fields of one message, in a loop over `messages`. */
const fields: Readonly<Record<string, Field>> = { id: "id", role: "role", content: "text", text: "text" }
type Field = "id" | "role" | "text"

/** Source of a text: a built-in value, a field of the loop's message, or the default of an input. */
export type Reference =
  | { readonly type: "built-in"; readonly name: BuiltIn }
  | { readonly type: "field"; readonly field: Field }
  | { readonly type: "fixed"; readonly text: string }

/** A parsed template. Values are inserted only at `value` nodes, so no value can become a tag. */
export type TemplateNode =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "value"; readonly of: Reference }
  | { readonly type: "each"; readonly body: readonly TemplateNode[] }
  | {
      readonly type: "when"
      readonly of: Reference
      readonly negated: boolean
      readonly then: readonly TemplateNode[]
      readonly otherwise: readonly TemplateNode[]
    }

/** Maximum nesting depth of blocks. */
const maxTemplateDepth = 20

const supported = `{{name}}, {{#name}}…{{/name}}, {{^name}}…{{/name}}, {% if name %}, {% elif name %}, {% else %}, {% endif %} or {% for item in messages %}…{% endfor %}, with the names ${builtIn.join(", ")}`

/** Tags are short and stand on one line; a comment may contain anything. */
const tag =
  /\{\{\{([^{}\n]{0,200})\}\}\}|\{\{(![^{}]{0,1000}|[^{}\n]{0,200})\}\}|\{%([^%{}\n]{0,200})%\}|\{#([^#]{0,5000})#\}/g

type Token = { readonly line: number } & (
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "value"; readonly name: string }
  | {
      readonly type: "open"
      readonly name: string
      readonly negated: boolean
      readonly style: "mustache" | "if" | "elif"
    }
  | { readonly type: "for"; readonly item: string; readonly list: string }
  | { readonly type: "else" }
  | { readonly type: "close"; readonly what: string }
)

/** Parses the text of one role. `fixed`: inputs that have a value in the file. */
export function readTemplate(
  text: string,
  firstLine: number,
  fixed: ReadonlyMap<string, string>,
): readonly TemplateNode[] {
  const reader = { tokens: tokensOf(text, firstLine), at: 0, fixed }
  const nodes = readNodes(reader, { item: undefined, depth: 0 })
  const rest = reader.tokens[reader.at]
  return rest === undefined ? nodes : refuseLine(rest.line, "an opening tag first", "a closing one")
}

function tokensOf(text: string, firstLine: number): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  let line = firstLine
  const pass = (end: number): void => {
    const piece = text.slice(at, end)
    const broken = /\{\{|\{%/.exec(piece)
    const lineOf = (length: number): number => line + piece.slice(0, length).split("\n").length - 1
    if (broken !== null) refuseLine(lineOf(broken.index), supported, "a tag that does not close on its line")
    if (piece !== "") tokens.push({ type: "text", text: piece, line })
    line = lineOf(piece.length)
    at = end
  }
  for (const match of text.matchAll(tag)) {
    pass(match.index)
    const [whole, triple, double, block] = match
    if (triple !== undefined) tokens.push({ type: "value", name: triple.trim(), line })
    else if (double !== undefined) tokens.push(...mustache(double.trim(), line))
    else if (block !== undefined) tokens.push(jinja(block.replace(/^-|-$/g, "").trim(), line))
    line += whole.split("\n").length - 1
    at = match.index + whole.length
  }
  pass(text.length)
  return tokens
}

function mustache(inner: string, line: number): readonly Token[] {
  const name = inner.slice(1).trim()
  if (inner.startsWith("!")) return []
  if (inner.startsWith("#")) return [{ type: "open", name, negated: false, style: "mustache", line }]
  if (inner.startsWith("^")) return [{ type: "open", name, negated: true, style: "mustache", line }]
  if (inner.startsWith("/")) return [{ type: "close", what: name, line }]
  return [{ type: "value", name: inner.startsWith("&") ? name : inner.replace(/^-|-$/g, "").trim(), line }]
}

function jinja(inner: string, line: number): Token {
  const loop = /^for\s+(\w{1,60})\s+in\s+(\w{1,60})$/.exec(inner)
  if (loop !== null) return { type: "for", item: loop[1] ?? "", list: loop[2] ?? "", line }
  const test = /^(if|elif)\s+(not\s+)?([\w.]{1,120})$/.exec(inner)
  if (test !== null) {
    const style = test[1] === "if" ? "if" : "elif"
    return { type: "open", name: test[3] ?? "", negated: test[2] !== undefined, style, line }
  }
  if (inner === "else") return { type: "else", line }
  if (inner === "endif" || inner === "endfor") return { type: "close", what: inner, line }
  return refuseLine(line, supported, "another tag")
}

/** The tokens with the current position. */
type Reader = { readonly tokens: readonly Token[]; at: number; readonly fixed: ReadonlyMap<string, string> }

/** The loop variable, if inside a loop, and the nesting depth. */
type BlockContext = { readonly item: string | undefined; readonly depth: number }

const deeper = ({ item, depth }: BlockContext): BlockContext => ({ item, depth: depth + 1 })

/** Reads nodes up to an `else`, `elif` or closing tag, which the caller reads. */
function readNodes(reader: Reader, within: BlockContext): readonly TemplateNode[] {
  const nodes: TemplateNode[] = []
  for (let token = reader.tokens[reader.at]; token !== undefined; token = reader.tokens[reader.at]) {
    if (token.type === "close" || token.type === "else" || (token.type === "open" && token.style === "elif")) break
    if (within.depth > maxTemplateDepth)
      return refuseLine(token.line, `at most ${maxTemplateDepth} blocks in one another`, "a deeper one")
    reader.at++
    if (token.type === "text") nodes.push({ type: "text", text: token.text })
    else if (token.type === "value") nodes.push({ type: "value", of: referenceTo(token, within.item, reader.fixed) })
    else if (token.type === "for") nodes.push(readLoop(reader, token, within))
    else nodes.push(readSection(reader, token, within))
  }
  return nodes
}

function readLoop(reader: Reader, token: Extract<Token, { type: "for" }>, within: BlockContext): TemplateNode {
  const { item, list, line } = token
  if (within.item !== undefined) return refuseLine(line, "a loop that is in no other", "a loop in a loop")
  if (list !== "messages") return refuseLine(line, "a loop over messages", `a loop over ${list}`)
  const body = readNodes(reader, { ...deeper(within), item })
  close(reader, "endfor", line)
  return { type: "each", body }
}

function readSection(reader: Reader, token: Extract<Token, { type: "open" }>, within: BlockContext): TemplateNode {
  const { name, negated, style, line } = token
  if (style === "mustache" && name === "messages" && !negated && within.item === undefined) {
    const body = readNodes(reader, { ...deeper(within), item: "" })
    close(reader, name, line)
    return { type: "each", body }
  }
  const of = referenceTo(token, within.item, reader.fixed)
  const then = readNodes(reader, deeper(within))
  const next = reader.tokens[reader.at]
  if (style !== "mustache" && next?.type === "open" && next.style === "elif") {
    reader.at++
    return { type: "when", of, negated, then, otherwise: [readSection(reader, next, deeper(within))] }
  }
  let otherwise: readonly TemplateNode[] = []
  if (style !== "mustache" && next?.type === "else") {
    reader.at++
    otherwise = readNodes(reader, deeper(within))
  }
  close(reader, style === "mustache" ? name : "endif", line)
  return { type: "when", of, negated, then, otherwise }
}

function close(reader: Reader, what: string, line: number): void {
  const token = reader.tokens[reader.at]
  if (token?.type !== "close" || token.what !== what)
    refuseLine(token?.line ?? line, `${what} to close the block of line ${line} before the role ends`, "something else")
  reader.at++
}

type NameToken = { readonly name: string; readonly line: number }

const isBuiltIn = (name: string): name is BuiltIn => builtIn.some((known) => known === name)

/** In a mustache loop the fields of the message have no prefix; in a Jinja loop they have the loop variable as prefix. */
function referenceTo(
  { name, line }: NameToken,
  item: string | undefined,
  fixed: ReadonlyMap<string, string>,
): Reference {
  const inner = item === undefined ? undefined : item === "" ? name : after(name, `${item}.`)
  const field = inner === undefined || !Object.hasOwn(fields, inner) ? undefined : fields[inner]
  if (field !== undefined) return { type: "field", field }
  if (isBuiltIn(name)) return { type: "built-in", name }
  const text = fixed.get(name)
  if (text !== undefined) return { type: "fixed", text }
  return refuseLine(line, supported, `"${name.slice(0, 60)}"`)
}

const after = (name: string, prefix: string): string | undefined =>
  name.startsWith(prefix) ? name.slice(prefix.length) : undefined

/** Throws: a line of the file is invalid; the error says what was expected there. */
export function refuseLine(line: number, expected: string, found: string): never {
  throw new HoldfastError({ code: "prompty-invalid", line, expected, found })
}
