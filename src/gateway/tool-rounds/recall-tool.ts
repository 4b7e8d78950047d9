import { unlessProblem } from "../../message/errors.ts"
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
} from "../../wire/json.ts"
import { write } from "../../wire/json-write.ts"

/** The tool by which a model fetches text that was removed. The gateway offers it and answers its calls. */
export const recallName = "holdfast_recall"

/**
 * Does a body contain a recall handle? Only then is there something to fetch. By then the provider's prompt cache of the conversation is
 * invalid anyway, so the additional tool costs nothing.
 */
export const printsHandle = (body: string): boolean => /recall(?: |=\\?")hf-[1-9]\d{0,14}-[0-9a-f]{20}/.test(body)

const description =
  "Get back a text that was left out of this conversation to save room. Where something was left out, its place says " +
  '"recall" with a handle (hf-...); copy that handle whole. The handle of a <summary> brings back the messages that it ' +
  "stands for, all that was said, called and answered in them: use find to get the excerpts about what you need. A long " +
  "text comes in pages: each page ends with the arguments for the next one. If you know which lines you need, ask for " +
  "those. What you fetched stays in the conversation. Call it alone, without other tools beside it."

const properties = {
  handle: { type: "string", description: "The handle, as it was printed where the text was left out." },
  find: { type: "string", description: "Words: only the excerpts that have some of them, best ones first chosen." },
  fromLine: { type: "integer", description: "First line wanted, counted from 1." },
  toLine: { type: "integer", description: "Last line wanted, included." },
  skipCharacters: {
    type: "integer",
    description: "Characters of the first line to skip. Only for a page in the middle of a very long line.",
  },
}

const schema = { type: "object", properties, required: ["handle"], additionalProperties: false }

/** Gemini writes types in capitals and does not support `additionalProperties`. */
const geminiSchema = {
  type: "OBJECT",
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, { ...field, type: field.type.toUpperCase() }]),
  ),
  required: ["handle"],
}

/** The tool declaration in each format: always the same bytes, so that the provider's prompt cache still matches. */
export const recallDeclarations: Readonly<Record<Format, Wire>> = {
  "anthropic-messages": write({ name: recallName, description, input_schema: schema }),
  "openai-chat": write({ type: "function", function: { name: recallName, description, parameters: schema } }),
  // Strict is the default here, and would require every argument.
  "openai-responses": write({ type: "function", name: recallName, description, parameters: schema, strict: false }),
  gemini: write({ name: recallName, description, parameters: geminiSchema }),
}

/**
 * The body with the recall tool added as its last tool. Returns the same text if the tool is not offered: if the request has no client
 * tools (a side call stays unchanged), has a tool of that name, cannot be parsed, or asks for several or deferred responses.
 */
export function withRecallTool(sent: string | ModelRequest, format: Format): string {
  const text = typeof sent === "string" ? sent : sent.wire
  // Invalid JSON is left for the upstream to refuse.
  const body = unlessProblem(() => readJson(text, "request"))
  const list = body !== undefined && comesAlone(format, body) ? listFor(format, body) : undefined
  const last = list === undefined ? undefined : elements(list).at(-1)
  if (last === undefined) return text
  const { end } = spanOf(last)
  return wireText(`${text.slice(0, end)},${recallDeclarations[format]}${text.slice(end)}`)
}

/** Does the request ask for one immediate response, not for several candidates or a background one? */
function comesAlone(format: Format, body: Json): boolean {
  if (format === "openai-chat") return (countIn(body, "n") ?? 1) <= 1
  if (format === "openai-responses") return !isTrue(body, "background")
  if (format !== "gemini") return true
  const config = memberOf(body, ["generationConfig", "generation_config"])
  const count = config === undefined ? undefined : memberOf(config, ["candidateCount", "candidate_count"])
  return typeof count?.value !== "number" || count.value <= 1
}

/** The list to add the tool to, if it has client tools and none with the same name. */
function listFor(format: Format, body: Json): Json | undefined {
  const tools = member(body, "tools")
  if (tools === undefined) return undefined
  const lists = format === "gemini" ? elements(tools).flatMap(declarationsIn) : [tools]
  const known = lists.flatMap((list) => elements(list)).filter(({ value }) => isObject(value))
  const taken = known.some((tool) => nameOf(tool) === recallName)
  return !taken && known.some((tool) => isClientTool(format, tool)) ? lists.at(-1) : undefined
}

/** Add to an existing declaration list, because tools of several kinds side by side are often refused. */
const declarationsIn = (tool: Json): readonly Json[] => {
  const list = memberOf(tool, ["functionDeclarations", "function_declarations"])
  return list === undefined || elements(list).length === 0 ? [] : [list]
}

const nameOf = (tool: Json): string | undefined => stringIn(member(tool, "function") ?? tool, "name")

const clientTypes: ReadonlySet<string | undefined> = new Set([undefined, "function", "custom"])

/** Provider tools have a dated type in the Anthropic format; the client runs only these few. */
const isClientTool = (format: Format, tool: Json): boolean => {
  const type = stringIn(tool, "type")
  const named = format === "anthropic-messages" && /^(?:bash|text_editor|computer|memory)_\d/.test(type ?? "")
  return named || clientTypes.has(type)
}
