import { callId, messageId } from "../../message/ids.ts"
import type { Message, Role } from "../../message/message.ts"
import type { Part, ToolCallPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { Tool } from "../../message/request.ts"
import { breakpointOf } from "../breakpoint.ts"
import type { Settings } from "../codec.ts"
import { countIn, isTrue, refuse, requireObject, requireString, stringIn } from "../expect.ts"
import { argumentsIn, customInputIn } from "../input.ts"
import { elements, isObject, type Json, member, wireOf } from "../json.ts"
import { mediaOfFile, mediaOfInline, mediaOfUrl } from "../media.ts"

// Settings, system, tools

export function readSettings(body: Json): Settings {
  const maxOutputTokens = countIn(body, "max_completion_tokens") ?? countIn(body, "max_tokens")
  return { stream: isTrue(body, "stream"), ...present({ model: stringIn(body, "model"), maxOutputTokens }) }
}

/** On this wire the system part stands among the messages. */
export const readSystem = (): readonly Part[] => []

export function readTools(tools: Json): readonly Tool[] {
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

export function readMessage(json: Json, earlier: readonly Message[]): Message {
  const wireRole = requireString(requireObject(json), "role")
  const role = roles.get(wireRole)
  if (role === undefined) return refuse(json, `"system", "developer", "user", "assistant" or "tool"`, "role")
  const parts = role === "assistant" ? readAssistant(json, earlier) : readOther(json, wireRole, earlier)
  return { id: messageId(`m${earlier.length}`), role, parts, wire: wireOf(json), format: "openai-chat" }
}

function readOther(json: Json, wireRole: string, earlier: readonly Message[]): readonly Part[] {
  const content = readContent(member(json, "content"))
  const more = { ...present({ tool: stringIn(json, "name") }), ...(isTrue(json, "is_error") ? { failed: true } : {}) }
  if (wireRole === "tool") {
    return [
      {
        type: "tool-result",
        callId: callId(requireString(json, "tool_call_id")),
        kind: "function",
        content,
        ...more,
      },
    ]
  }
  if (wireRole === "function") {
    return [{ type: "tool-result", callId: latestFunctionCall(json, earlier), kind: "function", content, ...more }]
  }
  return content
}

/** Calls of the `function_call` member have no id: theirs is their place. */
const placeId = (earlier: readonly Message[]): string => `#function-${earlier.length}`

/** Was this id given by place, so that the wire has no word for it? */
export const isPlaceId = (id: string): boolean => /^#function-\d+$/.test(id)

/** Results of the `function` role name no call: each belongs to the newest call of that function. */
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
  const calls = member(json, "tool_calls")
  const legacy = member(json, "function_call")
  return [
    ...(reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning } as const]),
    ...readContent(member(json, "content")),
    ...(calls === undefined ? [] : elements(calls).map(readCall)),
    ...(legacy === undefined || !isObject(legacy.value) ? [] : [readFunctionCall(legacy, placeId(earlier))]),
  ]
}

function readContent(content: Json | undefined): readonly Part[] {
  if (content === undefined || content.value === null) return []
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  if (!Array.isArray(content.value)) return refuse(content, "a string, null or an array of parts")
  return elements(content).map(readPart)
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
      const title = stringIn(file, "filename")
      return {
        ...common,
        type: "document",
        media: data === undefined ? mediaOfFile() : mediaOfUrl(data),
        ...present({ title }),
      }
    }
    default:
      return { ...common, type: "unknown" }
  }
}

function readCall(json: Json): Part {
  const id = callId(requireString(requireObject(json), "id"))
  const { name, inner } = callMember(json)
  if (name === "function") return { ...readFunctionCall(inner, id), wire: wireOf(json) }
  return {
    type: "tool-call",
    callId: id,
    tool: requireString(inner, "name"),
    kind: "custom",
    input: customInputIn(inner),
    wire: wireOf(json),
  }
}

/** What a call says, under the name of its kind. One that says both could be checked as one call and run as the other. */
function callMember(json: Json): { readonly name: "function" | "custom"; readonly inner: Json } {
  const call = member(json, "function")
  const custom = member(json, "custom")
  const isFunction = call !== undefined && call.value !== null
  const isCustom = custom !== undefined && custom.value !== null
  if (isFunction && isCustom) return refuse(json, "either function or custom, not both")
  if (isCustom) return { name: "custom", inner: requireObject(custom) }
  if (call === undefined || !isObject(call.value)) return refuse(json, "an object", "function")
  return { name: "function", inner: call }
}

function readFunctionCall(call: Json, id: string): ToolCallPart {
  const input = argumentsIn(call, "arguments")
  return { type: "tool-call", callId: callId(id), tool: requireString(call, "name"), kind: "function", input }
}
