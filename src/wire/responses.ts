import {
  callId,
  type HeldState,
  type Message,
  type ModelResponse,
  messageId,
  type Part,
  type ReasoningPart,
  type Role,
  type StopReason,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
  tokens,
  type Usage,
  type Wire,
} from "../message/message.ts"
import { cutIntoRuns, namesIn, present } from "../message/present.ts"
import {
  argumentsIn,
  type Codec,
  customInputIn,
  mediaOfFile,
  mediaOfInline,
  mediaOfUrl,
  type RequestSettings,
  readEnvelope,
  readTextOrList,
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
  tryParse,
  valueIn,
  wireOf,
} from "./json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "./json-write.ts"

// Settings, system, tools

function readSettings(body: Json): RequestSettings {
  const maxOutputTokens = countIn(body, "max_output_tokens")
  return {
    stream: isTrue(body, "stream"),
    ...present({ model: stringIn(body, "model"), maxOutputTokens, held: readHeld(body) }),
  }
}

function readHeld(body: Json): HeldState | undefined {
  const previous = stringIn(body, "previous_response_id")
  if (previous !== undefined) return { type: "previous-response", id: previous }
  const conversation = member(body, "conversation")
  if (conversation === undefined || conversation.value === null) return undefined
  const id = typeof conversation.value === "string" ? conversation.value : stringIn(conversation, "id")
  return { type: "conversation", ...present({ id }) }
}

/** `instructions`: a text, or a list of input items if the API returned a stored prompt. */
function readSystem(instructions: Json): readonly Part[] {
  if (instructions.value === null) return []
  return readTextOrList(instructions, (item) => ({ type: "unknown", wire: wireOf(item) }), "a string")
}

function readTools(tools: Json): readonly Tool[] {
  return elements(tools).map((tool) => {
    const name = stringIn(tool, "name") ?? stringIn(tool, "server_label") ?? stringIn(tool, "type") ?? "unnamed"
    return { name, wire: wireOf(tool) }
  })
}

// Messages

const roles: ReadonlyMap<unknown, Role> = new Map([
  ["system", "system"],
  ["developer", "system"],
  ["user", "user"],
  ["assistant", "assistant"],
])

/** Each input item becomes one message; turn groups join what belongs together later. */
export function readMessage(json: Json, earlier: readonly Message[]): Message {
  const base = { id: messageId(`m${earlier.length}`), wire: wireOf(json), format: "openai-responses" } as const
  if (typeof json.value === "string") return { ...base, role: "user", parts: [{ type: "text", text: json.value }] }
  const role = roles.get(valueIn(requireObject(json), "role"))
  const type = stringIn(json, "type") ?? (role === undefined ? refuseJson(json, "a string", "type") : "message")
  if (type !== "message") {
    const part = readItem(type, json, base.wire)
    const side = part.type === "tool-result" || type === "compaction_trigger" ? "user" : "assistant"
    return { ...base, role: role ?? side, parts: [part] }
  }
  if (role === undefined) return refuseJson(json, `"system", "developer", "user" or "assistant"`, "role")
  const content = member(json, "content") ?? refuseJson(json, "a string or an array of parts", "content")
  return { ...base, role, parts: readContent(content) }
}

const readContent = (content: Json): readonly Part[] =>
  readTextOrList(content, readPart, "a string or an array of parts")

// Parts

function readPart(json: Json): Part {
  const type = requireString(requireObject(json), "type")
  const wire = wireOf(json)
  switch (type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
    case "reasoning_text":
      return { type: "text", text: requireString(json, "text"), wire }
    case "refusal":
      return { type: "text", text: stringIn(json, "refusal") ?? "", wire }
    case "input_image": {
      const [url, detail] = [stringIn(json, "image_url"), stringIn(json, "detail")]
      const media = url === undefined ? mediaOfFile(undefined, detail) : mediaOfUrl(url, detail)
      return { type: "image", media, wire }
    }
    case "input_audio":
      return { type: "document", media: mediaOfInline(stringIn(member(json, "input_audio"), "data") ?? ""), wire }
    case "input_file": {
      const url = stringIn(json, "file_data") ?? stringIn(json, "file_url")
      const media = url === undefined ? mediaOfFile() : mediaOfUrl(url)
      return { type: "document", media, wire, ...present({ title: stringIn(json, "filename") }) }
    }
    default:
      return { type: "unknown", wire }
  }
}

const opaqueTypes: ReadonlySet<string> = new Set(
  namesIn("compaction compaction_summary compaction_trigger item_reference additional_tools mcp_list_tools"),
)

function readItem(type: string, json: Json, wire: Wire): Part {
  const call = (id: string, tool: string, kind: ToolCallPart["kind"], input: unknown): Part => {
    return { type: "tool-call", callId: callId(id), tool, kind, input, wire }
  }
  if (type === "function_call")
    return call(requireString(json, "call_id"), requireString(json, "name"), "function", argumentsIn(json, "arguments"))
  if (type === "custom_tool_call")
    return call(requireString(json, "call_id"), requireString(json, "name"), "custom", customInputIn(json))
  if (type === "reasoning") return { ...readReasoning(json), wire }
  const name = stringIn(json, "name")
  if (type === "mcp_approval_request")
    return call(requireString(json, "id"), name ?? "unnamed", "approval", argumentsIn(json, "arguments"))
  if (type === "mcp_approval_response") return readApproval(json, wire)
  if (type.endsWith("_output")) return readOutput(type, json, wire)
  const id = stringIn(json, "call_id")
  if (type.endsWith("_call") && id !== undefined) {
    const input = valueIn(json, "action") ?? valueIn(json, "operation") ?? valueIn(json, "arguments")
    return call(id, name ?? type.slice(0, -"_call".length), "other", input)
  }
  if (type.endsWith("_call") || opaqueTypes.has(type)) return { type: "opaque", kind: type, wire }
  return { type: "unknown", wire }
}

function readOutput(type: string, json: Json, wire: Wire): Part {
  const required = type === "function_call_output" || type === "custom_tool_call_output"
  const id = required ? requireString(json, "call_id") : (stringIn(json, "call_id") ?? stringIn(json, "id"))
  if (id === undefined) return { type: "unknown", wire }
  const output = member(json, "output")
  const readable = typeof output?.value === "string" || Array.isArray(output?.value)
  const kind = type === "function_call_output" ? "function" : type === "custom_tool_call_output" ? "custom" : "other"
  if (required && output !== undefined && !readable) return refuseJson(output, "a string or an array of parts")
  const content = output === undefined ? [] : readable && required ? readContent(output) : readOtherOutput(output)
  return { type: "tool-result", callId: callId(id), kind, content, wire }
}

/** The output of a call that we only relay: a text part, or the whole value unread. */
function readOtherOutput(output: Json): readonly Part[] {
  return [
    typeof output.value === "string" ? { type: "text", text: output.value } : { type: "unknown", wire: wireOf(output) },
  ]
}

function readApproval(json: Json, wire: Wire): Part {
  const text = valueIn(json, "approve") === true ? "approved" : "not approved"
  const id = callId(requireString(json, "approval_request_id"))
  return { type: "tool-result", callId: id, kind: "approval", content: [{ type: "text", text }], wire }
}

function readReasoning(json: Json): ReasoningPart {
  const texts = [member(json, "summary"), member(json, "content")]
    .flatMap(elements)
    .flatMap((item) => stringIn(item, "text") ?? [])
  const sealed = typeof valueIn(json, "encrypted_content") === "string"
  return { type: "reasoning", text: texts.join("\n"), ...(sealed ? { sealed } : {}) }
}

// System

function writeSystem(parts: readonly Part[], before: Wire | undefined): Wire {
  if (before?.startsWith("[")) return writeList(parts.map((part) => part.wire ?? write(part)))
  return write(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n\n"))
}

// Messages

/** One message may need several items: consecutive content parts share one, each call and each result has its own. */
function writeMessage({ role, parts, wire }: Message): readonly Wire[] {
  const base = wire?.startsWith("{") === true && isMessageItem(wire) ? wire : undefined
  const runs = cutIntoRuns(parts, (before, part) => isContent(before) && isContent(part))
  if (runs.length === 0 && base !== undefined) return [overlay(base, { content: write([]) })]
  const first = runs.findIndex(([part]) => isContent(part))
  return runs.map((run, n) =>
    isContent(run[0]) ? writeContentItem(role, run, n === first ? base : undefined) : writeItem(run[0]),
  )
}

function isMessageItem(wire: Wire): boolean {
  const item = tryParse(wire)
  return isObject(item) && (item.type === "message" || item.type === undefined)
}

const standalone: ReadonlySet<Part["type"]> = new Set(["reasoning", "tool-call", "tool-result", "opaque"])

/** Unknown parts count as content; one that was an item of its own is written as one below. */
const isContent = (part: Part): boolean => !standalone.has(part.type)

function writeContentItem(role: Role, parts: readonly Part[], base: Wire | undefined): Wire {
  const [only] = parts
  if (base === undefined && parts.length === 1 && only?.type === "unknown") return only.wire
  const content = writeTextOrList(parts, (part) => writePart(role, part))
  return base === undefined
    ? writeObject({ role: write(role === "system" ? "developer" : role), content })
    : overlay(base, { content })
}

// Parts

function writePart(role: Role, part: Part): Wire {
  if (part.type !== "text") {
    return requireWire(part, "openai-responses")
  }
  if (part.wire === undefined)
    return writeObject({ type: write(role === "assistant" ? "output_text" : "input_text"), text: write(part.text) })
  const name = wireFields(part.wire).type === "refusal" ? "refusal" : "text"
  return overlay(part.wire, { [name]: write(part.text) })
}

function writeItem(part: Part): Wire {
  if (part.type === "tool-call") return writeCall(part)
  if (part.type === "tool-result") return writeOutput(part)
  if (part.wire !== undefined || part.type !== "reasoning") return requireWire(part, "openai-responses")
  return writeObject({ type: write("reasoning"), summary: write([{ type: "summary_text", text: part.text }]) })
}

function writeCall(part: ToolCallPart & Pick<Part, "wire">): Wire {
  const { wire, kind } = part
  if (kind !== "function" && kind !== "custom" && wire !== undefined) return wire
  const type = write(kind === "custom" ? "custom_tool_call" : "function_call")
  const input: Fields =
    kind === "custom"
      ? { input: writeCustomInput(part.input) }
      : { arguments: writeArguments(part.input, wireFields(wire).arguments) }
  return overlay(wire, { type, call_id: write(part.callId), name: write(part.tool), ...input })
}

function writeOutput(part: ToolResultPart & Pick<Part, "wire">): Wire {
  const { wire, kind, content } = part
  const [only] = content
  if (kind === "approval")
    return wire ?? write({ type: "mcp_approval_response", approval_request_id: part.callId, approve: false })
  if (kind === "other" && wire !== undefined) {
    if (only === undefined || content.length > 1) return wire
    return overlay(wire, { output: only.type === "text" ? write(only.text) : (only.wire ?? write("")) })
  }
  const isEmpty = content.length === 0 && wire === undefined
  const output = isEmpty ? write("") : writeTextOrList(content, (item) => writePart("user", item))
  const type = kind === "custom" ? "custom_tool_call_output" : "function_call_output"
  return overlay(wire, { type: write(type), call_id: write(part.callId), output })
}

/** OpenAI Responses: `POST /v1/responses` and endpoints with the same body. */
export const responses: Codec = {
  format: "openai-responses",
  names: { messages: ["input"], system: ["instructions"], tools: ["tools"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse: readResponsesResponse,
}

/** The stop reason, from the status of a response and its output. */
export function responsesStop(response: Json, messages: readonly Message[]): StopReason {
  const status = stringIn(response, "status")
  const parts = messages.flatMap((message) => message.parts)
  if (status === "incomplete") {
    return stringIn(member(response, "incomplete_details"), "reason") === "max_output_tokens" ? "length" : "refusal"
  }
  if (status !== undefined && status !== "completed") return "other"
  if (parts.some((part) => part.type === "tool-call")) return "tool-calls"
  return parts.length === 1 && parts[0]?.type === "opaque" && parts[0].kind === "compaction" ? "compaction" : "end"
}

export function readResponsesResponse(body: Json): ModelResponse {
  const messages = requireElements(requireObject(body), "output").map((item, n): Message => {
    return { ...readMessage(item, []), id: messageId(`r${n}`) }
  })
  return {
    format: "openai-responses",
    ...readEnvelope(body, readResponsesUsage),
    messages,
    stop: responsesStop(body, messages),
  }
}

export function readResponsesUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const details = member(usage, "input_tokens_details")
  return {
    inputTokens: tokens(countIn(usage, "input_tokens") ?? 0),
    outputTokens: tokens(countIn(usage, "output_tokens") ?? 0),
    cacheReadTokens: tokens(countIn(details, "cached_tokens") ?? 0),
    cacheWriteTokens: tokens(countIn(details, "cache_write_tokens") ?? 0),
  }
}
