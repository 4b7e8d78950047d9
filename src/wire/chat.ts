import {
  callId,
  type Message,
  type ModelResponse,
  messageId,
  type Part,
  type Role,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
  tokens,
  type Usage,
  type Wire,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import {
  argumentsIn,
  breakpointOf,
  type Codec,
  customInputIn,
  markField,
  mediaOfFile,
  mediaOfInline,
  mediaOfUrl,
  type RequestSettings,
  readEnvelope,
  readTextOrList,
  stopReader,
  textAsRead,
  wireFields,
  writeArguments,
  writeCustomInput,
  writeTextOrList,
  writeTools,
} from "./codec.ts"
import {
  countIn,
  elements,
  isObject,
  isTrue,
  type Json,
  member,
  refuseJson,
  requireElements,
  requireObject,
  requireString,
  requireWire,
  stringIn,
  valueIn,
  wireOf,
} from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"

// Settings, system, tools

function readSettings(body: Json): RequestSettings {
  const maxOutputTokens = countIn(body, "max_completion_tokens") ?? countIn(body, "max_tokens")
  return { stream: isTrue(body, "stream"), ...present({ model: stringIn(body, "model"), maxOutputTokens }) }
}

/** In this format system instructions are messages. */
const readSystem = (): readonly Part[] => []

function readTools(tools: Json): readonly Tool[] {
  return elements(tools).map((tool) => {
    const inner = member(tool, "function") ?? member(tool, "custom") ?? tool
    const name = stringIn(inner, "name") ?? stringIn(tool, "type") ?? "unnamed"
    return { name, wire: wireOf(tool), ...present({ breakpoint: breakpointOf(tool.value) }) }
  })
}

// Messages

const roles: ReadonlyMap<string, Role> = new Map([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
  ["tool", "user"],
  ["function", "user"],
])

function readMessage(json: Json, earlier: readonly Message[]): Message {
  const wireRole = requireString(requireObject(json), "role")
  const role = roles.get(wireRole)
  if (role === undefined) return refuseJson(json, `"system", "developer", "user", "assistant" or "tool"`, "role")
  const parts = role === "assistant" ? readAssistant(json, earlier) : readOther(json, wireRole, earlier)
  return { id: messageId(`m${earlier.length}`), role, parts, wire: wireOf(json), format: "openai-chat" }
}

function readOther(json: Json, wireRole: string, earlier: readonly Message[]): readonly Part[] {
  const content = readContent(member(json, "content"))
  const more = { ...present({ tool: stringIn(json, "name") }), ...(isTrue(json, "is_error") ? { failed: true } : {}) }
  if (wireRole !== "tool" && wireRole !== "function") return content
  const id = wireRole === "tool" ? callId(requireString(json, "tool_call_id")) : latestFunctionCall(json, earlier)
  return [{ type: "tool-result", callId: id, kind: "function", content, ...more }]
}

/** The id of a `function_call`, which has none of its own: its position. */
const placeId = (earlier: readonly Message[]): string => `#function-${earlier.length}`

/** True if the id was derived from a position, so that the wire has none. */
const isPlaceId = (id: string): boolean => /^#function-\d+$/.test(id)

/** Returns the call of a result with the role `function`, which names no call: the newest call of that function. */
function latestFunctionCall(json: Json, earlier: readonly Message[]): ToolCallPart["callId"] {
  const name = requireString(json, "name")
  for (let index = earlier.length - 1; index >= 0; index--) {
    const call = earlier[index]?.parts.find(
      (part) => part.type === "tool-call" && part.tool === name && isPlaceId(part.callId),
    )
    if (call?.type === "tool-call") return call.callId
  }
  return callId(placeId(earlier))
}

function readAssistant(json: Json, earlier: readonly Message[]): readonly Part[] {
  const reasoning = stringIn(json, "reasoning_content") ?? stringIn(json, "reasoning")
  const legacy = member(json, "function_call")
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
    ...readContent(member(json, "content")),
    ...elements(member(json, "tool_calls")).map(readCall),
    ...(legacy === undefined || !isObject(legacy.value) ? [] : [readFunctionCall(legacy, placeId(earlier))]),
  ]
}

function readContent(content: Json | undefined): readonly Part[] {
  if (content === undefined || content.value === null) return []
  return readTextOrList(content, readPart, "a string, null or an array of parts")
}

// Parts

function readPart(json: Json): Part {
  const type = requireString(requireObject(json), "type")
  const common = { wire: wireOf(json), ...present({ breakpoint: breakpointOf(json.value) }) }
  switch (type) {
    case "text":
      return { ...common, type: "text", text: requireString(json, "text") }
    case "image_url": {
      const image = member(json, "image_url")
      const url = typeof image?.value === "string" ? image.value : (stringIn(image, "url") ?? "")
      return { ...common, type: "image", media: mediaOfUrl(url, stringIn(image, "detail")) }
    }
    case "input_audio": {
      const audio = member(json, "input_audio")
      const kind = stringIn(audio, "format")
      const mediaType = kind === undefined ? undefined : `audio/${kind}`
      return { ...common, type: "document", media: mediaOfInline(stringIn(audio, "data") ?? "", mediaType) }
    }
    case "file": {
      const file = member(json, "file")
      const data = stringIn(file, "file_data")
      const media = data === undefined ? mediaOfFile() : mediaOfUrl(data)
      return { ...common, type: "document", media, ...present({ title: stringIn(file, "filename") }) }
    }
    default:
      return { ...common, type: "unknown" }
  }
}

function readCall(json: Json): Part {
  const id = callId(requireString(requireObject(json), "id"))
  const { name, inner } = callMember(json)
  if (name === "function") return { ...readFunctionCall(inner, id), wire: wireOf(json) }
  const [tool, input] = [requireString(inner, "name"), customInputIn(inner)]
  return { type: "tool-call", callId: id, tool, kind: "custom", input, wire: wireOf(json) }
}

/** Returns the member for the call's kind. A call with both members is refused: it could be checked as one and run as the other. */
function callMember(json: Json): { readonly name: "function" | "custom"; readonly inner: Json } {
  const call = member(json, "function")
  const custom = member(json, "custom")
  const isFunction = call !== undefined && call.value !== null
  const isCustom = custom !== undefined && custom.value !== null
  if (isFunction && isCustom) return refuseJson(json, "either function or custom, not both")
  if (isCustom) return { name: "custom", inner: requireObject(custom) }
  if (call === undefined || !isObject(call.value)) return refuseJson(json, "an object", "function")
  return { name: "function", inner: call }
}

function readFunctionCall(call: Json, id: string): ToolCallPart {
  const input = argumentsIn(call, "arguments")
  return { type: "tool-call", callId: callId(id), tool: requireString(call, "name"), kind: "function", input }
}

export const chatStop = stopReader("openai-chat", { function_call: "tool-calls" })

/** The first choice counts; clients usually ask for one. */
export function readChatResponse(body: Json): ModelResponse {
  const [choice] = requireElements(requireObject(body), "choices")
  const message = member(choice, "message")
  if (choice === undefined || message === undefined)
    return refuseJson(body, "at least one choice with a message", "choices")
  return {
    format: "openai-chat",
    ...readEnvelope(body, readChatUsage),
    messages: [{ ...readMessage(message, []), id: messageId("r0") }],
    stop: chatStop(valueIn(choice, "finish_reason")),
  }
}

export function readChatUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const details = member(usage, "prompt_tokens_details")
  return {
    inputTokens: tokens(countIn(usage, "prompt_tokens") ?? 0),
    outputTokens: tokens(countIn(usage, "completion_tokens") ?? 0),
    cacheReadTokens: tokens(countIn(details, "cached_tokens") ?? countIn(usage, "prompt_cache_hit_tokens") ?? 0),
    cacheWriteTokens: tokens(countIn(details, "cache_write_tokens") ?? 0),
  }
}

// System

// Messages

function writeMessage(message: Message): readonly Wire[] {
  return message.role === "assistant" ? [writeAssistant(message)] : writeOther(message)
}

/** Tool results are separate messages in this format; the other parts of the message follow them. */
function writeOther({ role, parts, wire }: Message): readonly Wire[] {
  const results = parts.filter((part) => part.type === "tool-result")
  const rest = parts.filter((part) => part.type !== "tool-result")
  if (results.length === 0) {
    // A tool message without its result is no longer written as a tool message.
    const was = wireFields(wire)
    const base = was.tool_call_id === undefined && was.role !== "function" ? wire : undefined
    return [overlay(base, { ...roleField(base, role), ...contentField(rest, base, was) })]
  }
  const [first, ...more] = results.map((result, n) => writeResult(result, n === 0 ? wire : undefined))
  const after = rest.length === 0 ? [] : [writeObject({ role: write(role), content: writeContent(rest) })]
  return [...(first === undefined ? [] : [first]), ...more, ...after]
}

function writeResult(result: ToolResultPart, wire: Wire | undefined): Wire {
  const was = wireFields(wire)
  const content = contentField(result.content, wire, was)
  if (was.role === "function") return overlay(wire, content)
  if (wire === undefined && isPlaceId(result.callId)) {
    return writeObject({ role: write("function"), name: write(result.tool ?? "unknown"), ...content })
  }
  const failed =
    (was.is_error === true) === (result.failed === true) || wire === undefined
      ? {}
      : { is_error: write(result.failed === true) }
  return overlay(wire, { role: write("tool"), tool_call_id: write(result.callId), ...content, ...failed })
}

function writeAssistant({ parts, wire }: Message): Wire {
  const was = wireFields(wire)
  const calls = parts.filter((part) => part.type === "tool-call")
  const content = parts.filter((part) => part.type !== "tool-call" && part.type !== "reasoning")
  const reasoning = parts.find((part) => part.type === "reasoning")?.text
  return overlay(wire, {
    ...roleField(wire, "assistant"),
    ...(content.length === 0 && wire === undefined ? { content: write(null) } : contentField(content, wire, was)),
    ...reasoningFields(was, reasoning),
    ...callFields(was, calls),
  })
}

function reasoningFields(was: Readonly<Record<string, unknown>>, reasoning: string | undefined): Fields {
  const name =
    typeof was.reasoning_content !== "string" && typeof was.reasoning === "string" ? "reasoning" : "reasoning_content"
  if (reasoning !== undefined) return { [name]: write(reasoning) }
  return typeof was[name] === "string"
    ? { reasoning_content: undefined, reasoning: undefined, reasoning_details: undefined }
    : {}
}

function callFields(
  was: Readonly<Record<string, unknown>>,
  calls: readonly (ToolCallPart & Pick<Part, "wire">)[],
): Fields {
  const [only] = calls
  if (isObject(was.function_call) && was.tool_calls === undefined) {
    if (only === undefined) return { function_call: undefined }
    const { arguments: before } = was.function_call
    const call = { name: write(only.tool), arguments: writeArguments(only.input, before) }
    return { function_call: overlay(write(was.function_call), call) }
  }
  if (calls.length > 0) return { tool_calls: writeList(calls.map(writeCall)) }
  return Array.isArray(was.tool_calls) && was.tool_calls.length > 0 ? { tool_calls: undefined } : {}
}

/** Empty content may be absent, null or an empty list: its original form is kept. */
function contentField(
  parts: readonly Part[],
  wire: Wire | undefined,
  { content: was }: Readonly<Record<string, unknown>>,
): Fields {
  const stays = wire !== undefined && (was === undefined || was === null || (Array.isArray(was) && was.length === 0))
  return parts.length === 0 && stays ? {} : { content: writeContent(parts) }
}

/** A cache marker needs a part, so a marked text is not written as a string. */
function writeContent(parts: readonly Part[]): Wire {
  if (parts.length === 0) return write("")
  return parts[0]?.breakpoint === undefined ? writeTextOrList(parts, writePart) : writeList(parts.map(writePart))
}

const roleField = (wire: Wire | undefined, role: string): Fields => (wire === undefined ? { role: write(role) } : {})

// Parts

function writePart(part: Part): Wire {
  if (part.type === "text")
    return overlay(part.wire, { type: write("text"), text: write(part.text), ...markField(part) })
  return overlay(requireWire(part, "openai-chat"), markField(part))
}

function writeCall(part: ToolCallPart & Pick<Part, "wire">): Wire {
  const asRead = textAsRead(part)
  if (asRead !== undefined) return asRead
  const name = part.kind === "custom" ? "custom" : "function"
  const before = wireFields(part.wire)[name]
  const inner = isObject(before) ? before : undefined
  const input: Fields =
    name === "custom"
      ? { input: writeCustomInput(part.input) }
      : { arguments: writeArguments(part.input, inner?.arguments) }
  const call = overlay(inner === undefined ? undefined : write(inner), { name: write(part.tool), ...input })
  return overlay(part.wire, { id: write(part.callId), type: write(name), [name]: call })
}

/** OpenAI Chat Completions: `POST /v1/chat/completions`, and the many compatible servers. */
export const chat: Codec = {
  format: "openai-chat",
  names: { messages: ["messages"], system: [], tools: ["tools", "functions"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem: writeContent,
  writeTools,
  writeMessage,
  readResponse: readChatResponse,
}
