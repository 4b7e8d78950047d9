import { HoldfastError } from "../message/errors.ts"
import { type Format, type Message, type ModelRequest, type Tool, type Wire, wireText } from "../message/message.ts"
import { namesIn, present } from "../message/present.ts"
import { codecs } from "../wire/codecs.ts"
import { decodeRequest } from "../wire/decode.ts"
import { encodeRequest } from "../wire/encode.ts"
import { elements, isObject, memberOf, readJson, spanOf, tryParse, wireOf } from "../wire/json.ts"
import { type Fields, writeList, writeObject, writeOptional } from "../wire/json-write.ts"
import type { BodyOrigin, Conversation, Exported, ExportOptions, FileKind, TranscriptFile } from "./conversation.ts"
import { atLine, firstLine, onOneLine, readLines, withoutMark } from "./lines.ts"
import { type ConvertedConversation, convertConversation, messagesAsSystem, systemAsMessage } from "./write-session.ts"

/** Where a body was found: the kind of file, its first line, the text after it, and its format if known. */
type Place = {
  readonly kind: FileKind
  readonly line: number
  readonly after: string
  readonly format?: Format
}

/** Reads a request body or trace as a conversation: the messages, the fields next to them, and the rest as `meta`. */
function readBody(text: string, place: Place): Conversation {
  const value = parseAt(text, place.line)
  const format = place.format ?? (isObject(value) ? formatOfBody(value) : undefined)
  if (!isObject(value) || format === undefined)
    throw fileInvalid(place.line, `an object with a list of messages`, "none that is known")
  const request = decodeAt(format, text, place.line)
  return conversationOf(request, value, { type: "body", request, bare: false, kind: place.kind, after: place.after })
}

/** Reads a bare list of messages as the only member of a body. */
function readList(text: string, place: Place): Conversation {
  const value = parseAt(text, place.line)
  if (!Array.isArray(value)) throw fileInvalid(place.line, "a list of messages", "another JSON value")
  const format = place.format ?? formatOfMessages(value)
  const request = decodeAt(format, wrap(format, text), place.line)
  return conversationOf(request, {}, { type: "body", request, bare: true, kind: place.kind, after: place.after })
}

/** Wrap a list in the body that would contain it, and take it out again. */
const opening = (format: Format): string => `{${JSON.stringify(codecs[format].names.messages[0])}:`
const wrap = (format: Format, list: string): string => `${opening(format)}${list}}`
const unwrap = (format: Format, body: string): string => body.slice(opening(format).length, -1)

/** Members that the conversation has fields for, or that are not worth keeping. */
const knownMembers: ReadonlySet<string> = new Set(
  namesIn(
    "id title model messages input contents system instructions systemInstruction system_instruction tools functions",
  ),
)

function conversationOf(
  request: ModelRequest,
  body: Readonly<Record<string, unknown>>,
  origin: NonNullable<Conversation["origin"]>,
): Conversation {
  const { format, system, tools, messages, model } = request
  const id = typeof body.id === "string" ? body.id : undefined
  const title = typeof body.title === "string" ? body.title : undefined
  const meta = Object.fromEntries(Object.entries(body).filter(([name]) => !knownMembers.has(name)))
  const parts = { format, system, tools, messages, compactions: [], branches: [], notes: [], meta, origin }
  return { ...parts, ...present({ id, title, model }) }
}

export const fileInvalid = (line: number, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "file-invalid", line, expected, found })

function parseAt(text: string, line: number): unknown {
  try {
    return readJson(text, "request").value
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "json-invalid") throw error
    throw fileInvalid(line + breaksBefore(text, error.problem.offset), "valid JSON", error.problem.reason)
  }
}

const breaksBefore = (text: string, end: number): number => text.slice(0, end).split("\n").length - 1

const decodeAt = (format: Format, text: string, line: number): ModelRequest =>
  atLine(
    (path) => line + breaksBefore(text, startOf(format, text, path)),
    () => decodeRequest(format, text),
  )

/** Returns the position of the message that a path like `messages[3].content` points into. */
function startOf(format: Format, text: string, path: string): number {
  const index = /^\w+\[(\d+)\]/.exec(path)?.[1]
  const list = memberOf(readJson(text, "request"), codecs[format].names.messages)
  const element = list === undefined || index === undefined ? undefined : elements(list)[Number(index)]
  return element === undefined ? 0 : spanOf(element).start
}

const kind = "messages"

/** Reads a list of messages, a whole request body, or one message per line. */
export function readPlain(file: string, format?: Format): TranscriptFile {
  const text = withoutMark(file)
  const place = { kind, line: 1, after: "", ...present({ format }) } as const
  if (text.trimStart().startsWith("[")) return { kind, conversations: [readList(text, place)], skipped: [] }
  const value = tryParse(text)
  const body = isObject(value) ? formatOfBody(value) !== undefined : tryParse(firstLine(text)) === undefined
  return body ? { kind, conversations: [readBody(text, place)], skipped: [] } : readMessageLines(file, format)
}

/** Turns each line into a line of a list, so that an unreadable message is reported with its own line number. */
function readMessageLines(file: string, format: Format | undefined): TranscriptFile {
  const items: string[] = []
  const { all, cut } = readLines(file, () => {})
  for (const [index, line] of all.entries()) {
    const read = /\S/.test(line) && index + 1 !== cut?.line
    items.push(read ? withoutMark(line) : "")
  }
  const last = items.findLastIndex((item) => item !== "")
  const list = items.map((item, n) => (item === "" || n === last ? item : `${item},`)).join("\n")
  const conversation = readList(`[${list}]`, { kind, line: 1, after: "", ...present({ format }) })
  return { kind, conversations: [conversation], skipped: cut === undefined ? [] : [cut] }
}

const traceKind = "trace"

/** Reads one conversation per line, or a JSON file that holds one or a list of them. */
export function readTraces(file: string, format?: Format): TranscriptFile {
  const text = withoutMark(file)
  const read = (body: string, after: string, line = 1): Conversation =>
    readBody(body, { kind: traceKind, line, after, ...present({ format }) })
  if (text.trimStart().startsWith("[")) {
    const bodies = elements(readJson(text, "request")).map(wireOf)
    return { kind: traceKind, conversations: bodies.map((body) => read(body, "\n")), skipped: [] }
  }
  if (tryParse(firstLine(text)) === undefined) return { kind: traceKind, conversations: [read(text, "")], skipped: [] }
  const conversations: Conversation[] = []
  const { cut } = readLines(file, ({ text: line, number }) => void conversations.push(read(line, "\n", number)))
  return { kind: traceKind, conversations, skipped: cut === undefined ? [] : [cut] }
}

/** Writes the messages as a list or, if there is a system prompt or tools, as a request body. */
export function writePlain(conversation: Conversation, options: ExportOptions): Exported {
  const format = options.format ?? conversation.format
  const kept = keep(conversation, format, "messages")
  if (kept !== undefined) return kept
  const ready = arrange(conversation, format)
  const list = listOf(ready, format)
  // If the messages could be of another format, the name of the list shows which one it is.
  const telling = format === "anthropic-messages" || formatOfMessages(ready.messages.map(parsed)) === format
  const bare = ready.system.length === 0 && ready.tools.length === 0 && telling
  return {
    text: `${bare ? list : writeObject(bodyFields(ready, format))}\n`,
    lost: ready.lost,
    lostTools: ready.lostTools,
  }
}

/** Writes the conversation as one line: its id, its source, and the request body. */
export function writeTrace(conversation: Conversation, options: ExportOptions): Exported {
  const format = options.format ?? conversation.format
  const kept = keep(conversation, format, "trace")
  if (kept !== undefined) return kept
  const ready = arrange(conversation, format)
  const { id, title, model, meta, origin } = conversation
  const source = typeof meta.source === "string" ? meta.source : (origin?.kind ?? "holdfast")
  const more = origin?.kind === "trace" ? meta : {}
  const entries = Object.entries({ id: id ?? "", source, title, model, ...more })
  const fields = Object.fromEntries(entries.map(([name, value]) => [name, writeOptional(value)]))
  const text = writeObject({ ...fields, ...bodyFields(ready, format) })
  return { text: `${onOneLine(text)}\n`, lost: ready.lost, lostTools: ready.lostTools }
}

const parsed = ({ wire }: Message): unknown => (wire === undefined ? undefined : tryParse(wire))

/** Returns the original text with only the messages replaced, if kind and format are still the same. */
function keep(conversation: Conversation, format: Format, kind: BodyOrigin["kind"]): Exported | undefined {
  const { origin, messages, system, tools } = conversation
  if (origin?.type !== "body" || origin.kind !== kind || origin.request.format !== format) return undefined
  const { request, bare, after } = origin
  if (system !== request.system || tools !== request.tools) return undefined
  if (messages.some((message) => message.format !== undefined && message.format !== format)) return undefined
  const text = encodeRequest(request, { messages })
  return { text: `${bare ? unwrap(format, text) : text}${after}`, lost: [], lostTools: [] }
}

/** Puts the system prompt where the format has it: among the messages on Chat, separate on the others. */
const arrange = (conversation: Conversation, format: Format): ConvertedConversation =>
  convertConversation(format === "openai-chat" ? systemAsMessage(conversation) : messagesAsSystem(conversation), format)

const listOf = ({ messages }: ConvertedConversation, format: Format): Wire =>
  writeList(messages.flatMap(codecs[format].writeMessage))

function bodyFields(ready: ConvertedConversation, format: Format): Fields {
  const { names, writeSystem } = codecs[format]
  const [system, tools, messages] = [names.system[0], names.tools[0], names.messages[0]]
  return {
    ...(system === undefined || ready.system.length === 0 ? {} : { [system]: writeSystem(ready.system, undefined) }),
    ...(tools === undefined || ready.tools.length === 0 ? {} : { [tools]: writeTools(ready.tools, format) }),
    ...(messages === undefined ? {} : { [messages]: listOf(ready, format) }),
  }
}

/** Writes tools as the format declares them. Gemini declares functions in a list inside one tool. */
function writeTools(tools: readonly Tool[], format: Format): Wire {
  if (format !== "gemini") return writeList(tools.map(({ wire }) => wire))
  const isFunction = ({ wire }: Tool): boolean => {
    const value = tryParse(wire)
    return isObject(value) && typeof value.name === "string"
  }
  const functions = tools.filter(isFunction)
  const declared = writeObject({ functionDeclarations: writeList(functions.map(({ wire }) => wire)) })
  const others = tools.filter((tool) => !isFunction(tool)).map(({ wire }) => wireText(wire))
  return writeList([...(functions.length === 0 ? [] : [declared]), ...others])
}

const chatRoles: ReadonlySet<unknown> = new Set(["tool", "function", "developer"])
const chatParts: ReadonlySet<unknown> = new Set(["image_url", "input_audio", "file"])
const responsesParts: ReadonlySet<unknown> = new Set(
  namesIn("input_text output_text input_image input_file refusal summary_text"),
)
const anthropicParts: ReadonlySet<unknown> = new Set(
  namesIn("thinking redacted_thinking image document search_result container_upload compaction"),
)

/**
 * Detects the wire format of a list of messages by the first message that can be of one format only: `parts` is Gemini; an item type other
 * than "message", or content such as `input_text`, is Responses; a `tool` role, `tool_calls`, null content or `image_url` is chat; blocks
 * such as `tool_use` or `thinking` are Anthropic. If every message could be of several, chat, which most tools write.
 */
function formatOfMessages(messages: readonly unknown[]): Format {
  return distinctiveFormat(messages) ?? "openai-chat"
}

function distinctiveFormat(messages: readonly unknown[]): Format | undefined {
  for (const message of messages) {
    const format = typeof message === "string" ? "openai-responses" : isObject(message) ? formatOf(message) : undefined
    if (format !== undefined) return format
  }
  return undefined
}

function formatOf(message: Readonly<Record<string, unknown>>): Format | undefined {
  const { role, type, content } = message
  if (content === undefined && (Array.isArray(message.parts) || role === "model")) return "gemini"
  if (typeof type === "string" && type !== "message") return "openai-responses"
  if (chatRoles.has(role) && typeof type !== "string") return "openai-chat"
  if (message.tool_calls !== undefined || message.function_call !== undefined || content === null) return "openai-chat"
  if (!Array.isArray(content)) return type === "message" && message.usage === undefined ? "openai-responses" : undefined
  for (const part of content) {
    const format = isObject(part) ? formatOfPart(part.type) : undefined
    if (format !== undefined) return format
  }
  return undefined
}

function formatOfPart(type: unknown): Format | undefined {
  if (responsesParts.has(type)) return "openai-responses"
  if (chatParts.has(type)) return "openai-chat"
  const tool = typeof type === "string" && (type.endsWith("tool_use") || type.endsWith("tool_result"))
  return tool || anthropicParts.has(type) ? "anthropic-messages" : undefined
}

/** Detects the wire format of a request body or trace: by the name of its list, then the messages, then the fields next to them. */
export function formatOfBody(body: Readonly<Record<string, unknown>>): Format | undefined {
  if (Array.isArray(body.contents)) return "gemini"
  if (Array.isArray(body.input) || (typeof body.input === "string" && body.messages === undefined))
    return "openai-responses"
  if (!Array.isArray(body.messages)) return undefined
  const format = distinctiveFormat(body.messages)
  if (format === "anthropic-messages" || format === "openai-chat") return format
  const [tool] = Array.isArray(body.tools) ? body.tools : []
  const schema = isObject(tool) && tool.input_schema !== undefined
  return body.system !== undefined || body.anthropic_version !== undefined || schema
    ? "anthropic-messages"
    : "openai-chat"
}
