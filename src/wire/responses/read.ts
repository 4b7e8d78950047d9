import { callId, messageId, type Wire } from "../../message/ids.ts"
import type { Message, Role } from "../../message/message.ts"
import type { Part, ReasoningPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { HeldState, Tool } from "../../message/request.ts"
import type { Settings } from "../codec.ts"
import { countIn, isTrue, refuse, requireObject, requireString, stringIn } from "../expect.ts"
import { argumentsIn, customInputIn } from "../input.ts"
import { elements, type Json, member, valueIn, wireOf } from "../json.ts"
import { mediaOfFile, mediaOfInline, mediaOfUrl } from "../media.ts"

// Settings, system, tools

export function readSettings(body: Json): Settings {
  const fields = {
    model: stringIn(body, "model"),
    maxOutputTokens: countIn(body, "max_output_tokens"),
    held: readHeld(body),
  }
  return { stream: isTrue(body, "stream"), ...present(fields) }
}

function readHeld(body: Json): HeldState | undefined {
  const previous = stringIn(body, "previous_response_id")
  if (previous !== undefined) return { type: "previous-response", id: previous }
  const conversation = member(body, "conversation")
  if (conversation === undefined || conversation.value === null) return undefined
  const id = typeof conversation.value === "string" ? conversation.value : stringIn(conversation, "id")
  return { type: "conversation", ...present({ id }) }
}

/** `instructions`: a text, or a list of input items when a stored prompt is answered back. */
export function readSystem(instructions: Json): readonly Part[] {
  if (instructions.value === null) return []
  if (typeof instructions.value === "string") return [{ type: "text", text: instructions.value }]
  if (!Array.isArray(instructions.value)) return refuse(instructions, "a string")
  return elements(instructions).map((item) => ({ type: "unknown", wire: wireOf(item) }))
}

export function readTools(tools: Json): readonly Tool[] {
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

/** Each input item is a message of ours; turn groups put together again what belongs together. */
export function readMessage(json: Json, earlier: readonly Message[]): Message {
  const base = { id: messageId(`m${earlier.length}`), wire: wireOf(json), format: "openai-responses" } as const
  if (typeof json.value === "string") return { ...base, role: "user", parts: [{ type: "text", text: json.value }] }
  const role = roles.get(valueIn(requireObject(json), "role"))
  const type = stringIn(json, "type") ?? (role === undefined ? refuse(json, "a string", "type") : "message")
  if (type !== "message") {
    const part = readItem(type, json, base.wire)
    return {
      ...base,
      role: role ?? (part.type === "tool-result" || type === "compaction_trigger" ? "user" : "assistant"),
      parts: [part],
    }
  }
  if (role === undefined) return refuse(json, `"system", "developer", "user" or "assistant"`, "role")
  return {
    ...base,
    role,
    parts: readContent(member(json, "content") ?? refuse(json, "a string or an array of parts", "content")),
  }
}

function readContent(content: Json): readonly Part[] {
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  if (!Array.isArray(content.value)) return refuse(content, "a string or an array of parts")
  return elements(content).map(readPart)
}

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
      const url = stringIn(json, "image_url")
      const detail = stringIn(json, "detail")
      return {
        type: "image",
        media: url === undefined ? mediaOfFile(undefined, detail) : mediaOfUrl(url, detail),
        wire,
      }
    }
    case "input_audio":
      return { type: "document", media: mediaOfInline(stringIn(member(json, "input_audio"), "data") ?? ""), wire }
    case "input_file": {
      const url = stringIn(json, "file_data") ?? stringIn(json, "file_url")
      return {
        type: "document",
        media: url === undefined ? mediaOfFile() : mediaOfUrl(url),
        wire,
        ...present({ title: stringIn(json, "filename") }),
      }
    }
    default:
      return { type: "unknown", wire }
  }
}

const opaqueTypes: ReadonlySet<string> = new Set([
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "item_reference",
  "additional_tools",
  "mcp_list_tools",
])

function readItem(type: string, json: Json, wire: Wire): Part {
  const id = stringIn(json, "call_id")
  if (type === "function_call") {
    const input = argumentsIn(json, "arguments")
    return {
      type: "tool-call",
      callId: callId(requireString(json, "call_id")),
      tool: requireString(json, "name"),
      kind: "function",
      input,
      wire,
    }
  }
  if (type === "custom_tool_call") {
    const input = customInputIn(json)
    return {
      type: "tool-call",
      callId: callId(requireString(json, "call_id")),
      tool: requireString(json, "name"),
      kind: "custom",
      input,
      wire,
    }
  }
  if (type === "reasoning") return { ...readReasoning(json), wire }
  if (type === "mcp_approval_request" || type === "mcp_approval_response") return readApproval(type, json, wire)
  if (type.endsWith("_output")) return readOutput(type, json, wire)
  if (type.endsWith("_call") && id !== undefined) {
    const input = valueIn(json, "action") ?? valueIn(json, "operation") ?? valueIn(json, "arguments")
    return {
      type: "tool-call",
      callId: callId(id),
      tool: stringIn(json, "name") ?? type.slice(0, -"_call".length),
      kind: "other",
      input,
      wire,
    }
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
  if (required && output !== undefined && !readable) return refuse(output, "a string or an array of parts")
  const content = output === undefined ? [] : readable && required ? readContent(output) : readOtherOutput(output)
  return { type: "tool-result", callId: callId(id), kind, content, wire }
}

/** The output of a call that we only relay: a text if it is one, otherwise whatever it is, whole. */
function readOtherOutput(output: Json): readonly Part[] {
  return [
    typeof output.value === "string" ? { type: "text", text: output.value } : { type: "unknown", wire: wireOf(output) },
  ]
}

function readApproval(type: string, json: Json, wire: Wire): Part {
  if (type === "mcp_approval_response") {
    const approved = valueIn(json, "approve") === true
    const content: readonly Part[] = [{ type: "text", text: approved ? "approved" : "not approved" }]
    return {
      type: "tool-result",
      callId: callId(requireString(json, "approval_request_id")),
      kind: "approval",
      content,
      wire,
    }
  }
  const input = argumentsIn(json, "arguments")
  return {
    type: "tool-call",
    callId: callId(requireString(json, "id")),
    tool: stringIn(json, "name") ?? "unnamed",
    kind: "approval",
    input,
    wire,
  }
}

function readReasoning(json: Json): ReasoningPart {
  const texts = [member(json, "summary"), member(json, "content")]
    .flatMap((list) => (list === undefined ? [] : elements(list)))
    .flatMap((item) => stringIn(item, "text") ?? [])
  const sealed = typeof valueIn(json, "encrypted_content") === "string"
  return { type: "reasoning", text: texts.join("\n"), ...(sealed ? { sealed } : {}) }
}
