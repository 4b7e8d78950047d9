import { describe, problemOrThrow, unlessProblem } from "../../message/errors.ts"
import { type Format, type ModelRequest, type Wire, wireText } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { type RecallArguments, recallPage } from "../../session/recall.ts"
import type { Session } from "../../session/session.ts"
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

/** The name of the tool by which a model fetches text that was removed. The gateway offers it and answers its calls. */
export const recallName = "holdfast_recall"

/**
 * True if a body contains a recall handle: only then is there something to fetch. By then the provider's prompt cache of the conversation
 * is invalid anyway, so the additional tool costs nothing.
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

/** True if the request asks for one immediate response, not for several candidates or a background one. */
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
  const taken = known.some((tool) => stringIn(member(tool, "function") ?? tool, "name") === recallName)
  return !taken && known.some((tool) => isClientTool(format, tool)) ? lists.at(-1) : undefined
}

/** The existing declaration list of a tool: the recall tool is added there, because tools of several kinds are often refused together. */
const declarationsIn = (tool: Json): readonly Json[] => {
  const list = memberOf(tool, ["functionDeclarations", "function_declarations"])
  return list === undefined || elements(list).length === 0 ? [] : [list]
}

const clientTypes: ReadonlySet<string | undefined> = new Set([undefined, "function", "custom"])

/** True if the client runs the tool. Provider tools have a dated type in the Anthropic format; the client runs only these few. */
const isClientTool = (format: Format, tool: Json): boolean => {
  const type = stringIn(tool, "type")
  const named = format === "anthropic-messages" && /^(?:bash|text_editor|computer|memory)_\d/.test(type ?? "")
  return named || clientTypes.has(type)
}

/** The result of a recall: a page of text in a fence, or a sentence that states the error. */
type RecallAnswer = { readonly text: string; readonly failed: boolean }

/** Characters of stored text in one result: about 5,000 tokens, so that recalling a text does not fill the context again. */
const maxPage = 20_000
/** Limit on the handle argument; a valid handle has at most 40 characters. */
const maxHandle = 300
/** Limit on the words to find: a question, not a page. */
const maxFind = 1_000
/** Limit on numbers in arguments: more lines or characters than any stored text has. */
const maxCount = 1_000_000_000

/** Answers a call of the recall tool from its session. Any input gets a result. */
export async function answerRecall(session: Pick<Session, "recall">, input: unknown): Promise<RecallAnswer> {
  const args = readArguments(input)
  if (typeof args === "string") return { text: args, failed: true }
  try {
    const { recall } = session
    return { text: await recallPage(args, { recall, maxCharacters: maxPage, tool: recallName }), failed: false }
  } catch (error) {
    const { sentence, next } = describe(problemOrThrow(error))
    return { text: `${sentence} ${next}`.toWellFormed(), failed: true }
  }
}

/** The arguments, or an error message. */
function readArguments(input: unknown): RecallArguments | string {
  if (!isObject(input)) return `The arguments of ${recallName} must be an object with a handle. Nothing was fetched.`
  const { handle } = input
  if (typeof handle !== "string" || handle.trim() === "" || handle.length > maxHandle) {
    return "The handle is missing or invalid. Copy all of it from the place where the text was left out. Nothing was fetched."
  }
  const counts: Record<string, number | undefined> = {}
  for (const [name, least] of minCounts) {
    const count = countOf(input[name])
    if (count === "none" || (count !== undefined && count < least)) {
      return `${name} must be an integer of at least ${least}. Nothing was fetched.`
    }
    counts[name] = count
  }
  const { fromLine, toLine, skipCharacters } = counts
  const find = typeof input.find === "string" && input.find.trim() !== "" ? input.find.slice(0, maxFind) : undefined
  return { handle, ...present({ fromLine, toLine, skipCharacters, find }) }
}

const minCounts = Object.entries({ fromLine: 1, toLine: 1, skipCharacters: 0 })

/** Reads a number; models sometimes write it as a string, or null for an omitted argument. */
function countOf(value: unknown): number | undefined | "none" {
  if (value === undefined || value === null || value === "") return undefined
  const count = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof count === "number" && Number.isSafeInteger(count) && count <= maxCount ? count : "none"
}

export type Recall = (input: unknown) => Promise<RecallAnswer>

/** Limit on the characters that one exchange may recall: about 25,000 tokens, which is space that a compaction has just freed. */
const maxCharacters = 100_000
/** Limit on recalls in one exchange: five pages of text, and some that find nothing. */
const maxCalls = 20

/** Limits the recalls of one exchange: above the limit the model is told that no more can be fetched. */
export function boundRecall(recall: Recall): Recall {
  let calls = 0
  let characters = 0
  return async (input) => {
    if (++calls > maxCalls || characters >= maxCharacters) {
      return { text: "No more can be fetched in this turn. Go on with what you have.", failed: true }
    }
    const answer = await recall(input)
    characters += answer.text.length
    return answer
  }
}
