import { HoldfastError } from "../../message/errors.ts"
import { type Format, type ModelRequest, type Wire, wireText } from "../../message/message.ts"
import {
  countIn,
  elements,
  isObject,
  isTrue,
  type Json,
  member,
  memberOf,
  readJson,
  spanOf,
  stringIn,
  write,
} from "../../wire/json.ts"

/** The tool by which a model gets back what was cut. It is offered, and its calls are answered, by the gateway. */
export const recallName = "holdfast_recall"

/**
 * Does a body print a handle that could be called back? Only then is there something to fetch: and by then what the provider had cached
 * of the conversation is void anyway, so that one more tool costs nothing.
 */
export const printsHandle = (body: string): boolean => /recall hf-[1-9]\d{0,14}-[0-9a-f]{20}/.test(body)

const description =
  "Get back a text that was left out of this conversation to save room. Where something was left out, its place says " +
  '"recall" with a handle (hf-...); copy that handle whole. A long text comes in pages: each page ends with the arguments ' +
  "for the next one. If you know which lines you need, ask for those. Call it alone, without other tools beside it."

const properties = {
  handle: { type: "string", description: "The handle, as it was printed where the text was left out." },
  fromLine: { type: "integer", description: "First line wanted, counted from 1." },
  toLine: { type: "integer", description: "Last line wanted, included." },
  skipCharacters: {
    type: "integer",
    description: "Characters of the first line to skip. Only for a page in the middle of a very long line.",
  },
}

const schema = { type: "object", properties, required: ["handle"], additionalProperties: false }

/** Gemini names types in capitals and knows no closed objects. */
const geminiSchema = {
  type: "OBJECT",
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, { ...field, type: field.type.toUpperCase() }]),
  ),
  required: ["handle"],
}

/** The tool as each wire declares it: always the same bytes, so that what a provider has cached of a request still fits. */
export const recallDeclarations: Readonly<Record<Format, Wire>> = {
  "anthropic-messages": write({ name: recallName, description, input_schema: schema }),
  "openai-chat": write({ type: "function", function: { name: recallName, description, parameters: schema } }),
  // Strict is the usual here, and would ask for every argument.
  "openai-responses": write({ type: "function", name: recallName, description, parameters: schema, strict: false }),
  gemini: write({ name: recallName, description, parameters: geminiSchema }),
}

/**
 * The body with the tool as the last of its tools, or the very text that came where it is not offered: in a request that gives the
 * model no tool to run (a side call stays what it is), that has one of that name, that cannot be
 * read, or whose answer would not come here alone.
 */
export function withRecallTool(sent: string | ModelRequest, format: Format): string {
  const text = typeof sent === "string" ? sent : sent.wire
  const body = readable(text)
  const list = body !== undefined && comesAlone(format, body) ? listFor(format, body) : undefined
  const last = list === undefined ? undefined : elements(list).at(-1)
  if (last === undefined) return text
  const { end } = spanOf(last)
  return wireText(`${text.slice(0, end)},${recallDeclarations[format]}${text.slice(end)}`)
}

/** What is no JSON is for the upstream to refuse. */
function readable(text: string): Json | undefined {
  try {
    return readJson(text, "request")
  } catch (error) {
    if (error instanceof HoldfastError) return undefined
    throw error
  }
}

/** One answer, and given in this exchange: neither several to choose from nor one that is fetched later. */
function comesAlone(format: Format, body: Json): boolean {
  if (format === "openai-chat") return (countIn(body, "n") ?? 1) <= 1
  if (format === "openai-responses") return !isTrue(body, "background")
  if (format !== "gemini") return true
  const config = memberOf(body, ["generationConfig", "generation_config"])
  const count = config === undefined ? undefined : memberOf(config, ["candidateCount", "candidate_count"])
  return typeof count?.value !== "number" || count.value <= 1
}

/** The list that the tool goes into, if the tools in it are of the kind that a client runs and none has its name. */
function listFor(format: Format, body: Json): Json | undefined {
  const tools = member(body, "tools")
  if (tools === undefined) return undefined
  const lists = format === "gemini" ? elements(tools).flatMap(declarationsIn) : [tools]
  const known = lists.flatMap((list) => elements(list)).filter(({ value }) => isObject(value))
  const taken = known.some((tool) => nameOf(tool) === recallName)
  return !taken && known.some((tool) => isClientTool(format, tool)) ? lists.at(-1) : undefined
}

/** Declarations stand together here: tools of several kinds side by side are often refused. */
const declarationsIn = (tool: Json): readonly Json[] => {
  const list = memberOf(tool, ["functionDeclarations", "function_declarations"])
  return list === undefined || elements(list).length === 0 ? [] : [list]
}

const nameOf = (tool: Json): string | undefined => stringIn(member(tool, "function") ?? tool, "name")

const clientTypes: ReadonlySet<string | undefined> = new Set([undefined, "function", "custom"])

/** Tools of a provider have a dated type on Anthropic's wire; of those only these few are run by the client. */
const isClientTool = (format: Format, tool: Json): boolean => {
  const type = stringIn(tool, "type")
  const named = format === "anthropic-messages" && /^(?:bash|text_editor|computer|memory)_\d/.test(type ?? "")
  return named || clientTypes.has(type)
}
