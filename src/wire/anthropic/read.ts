import { callId, messageId } from "../../message/ids.ts"
import type { Message, Role } from "../../message/message.ts"
import type { CallKind, Media, Part } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import type { HeldState, Tool } from "../../message/request.ts"
import { breakpointOf } from "../breakpoint.ts"
import type { Settings } from "../codec.ts"
import { countIn, isTrue, refuse, requireObject, requireString, stringIn } from "../expect.ts"
import { elements, isObject, type Json, member, valueIn, wireOf } from "../json.ts"
import { mediaOfFile, mediaOfInline } from "../media.ts"

// Settings, system, tools

export function readSettings(body: Json): Settings {
  const fields = { model: stringIn(body, "model"), maxOutputTokens: countIn(body, "max_tokens"), held: readHeld(body) }
  return { stream: isTrue(body, "stream"), ...present(fields) }
}

function readHeld(body: Json): HeldState | undefined {
  const thread = member(body, "thread")
  if (stringIn(thread, "type") !== "continue") return undefined
  return { type: "thread", ...present({ id: stringIn(thread, "previous_message_id") }) }
}

export function readSystem(system: Json): readonly Part[] {
  return readContent(system)
}

export function readTools(tools: Json): readonly Tool[] {
  return elements(tools).map((tool) => {
    const name = stringIn(tool, "name") ?? stringIn(tool, "mcp_server_name") ?? stringIn(tool, "type") ?? "unnamed"
    return { name, wire: wireOf(tool), ...present({ breakpoint: breakpointOf(tool.value) }) }
  })
}

// Messages

const roles: ReadonlyMap<string, Role> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["system", "system"],
])

export function readMessage(json: Json, earlier: readonly Message[]): Message {
  const role = roles.get(requireString(requireObject(json), "role"))
  if (role === undefined) return refuse(json, `"user", "assistant" or "system"`, "role")
  const content = member(json, "content")
  if (content === undefined) return refuse(json, "a string or an array of blocks", "content")
  return {
    id: messageId(`m${earlier.length}`),
    role,
    parts: readContent(content),
    wire: wireOf(json),
    format: "anthropic-messages",
  }
}

export function readContent(content: Json): readonly Part[] {
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  if (!Array.isArray(content.value)) return refuse(content, "a string or an array of blocks")
  return elements(content).map(readBlock)
}

// Parts

export function readBlock(block: Json): Part {
  const type = requireString(requireObject(block), "type")
  const common = { wire: wireOf(block), ...present({ breakpoint: breakpointOf(block.value) }) }
  switch (type) {
    case "text":
      return { ...common, type: "text", text: requireString(block, "text") }
    case "thinking":
      return {
        ...common,
        type: "reasoning",
        text: requireString(block, "thinking"),
        ...present({ signature: stringIn(block, "signature") }),
      }
    case "redacted_thinking":
      return { ...common, type: "reasoning", text: "", sealed: true }
    case "image":
      return { ...common, type: "image", media: readMedia(block) }
    case "document":
    case "container_upload":
    case "search_result":
      return { ...common, type: "document", media: readMedia(block), ...readDocumentText(block) }
    case "compaction":
      return { ...common, type: "opaque", kind: "compaction" }
    default:
      return { ...common, ...readToolBlock(type, block) }
  }
}

const callKinds: ReadonlyMap<string, CallKind> = new Map([
  ["tool_use", "function"],
  ["server_tool_use", "provider"],
  ["mcp_tool_use", "provider"],
])

function readToolBlock(type: string, block: Json): Part {
  const kind = callKinds.get(type)
  if (kind !== undefined) {
    const id = callId(requireString(block, "id"))
    return {
      type: "tool-call",
      callId: id,
      tool: requireString(block, "name"),
      kind,
      input: valueIn(block, "input"),
    }
  }
  if (type !== "tool_result" && !type.endsWith("_tool_result")) return { type: "unknown", wire: wireOf(block) }
  return {
    type: "tool-result",
    callId: callId(requireString(block, "tool_use_id")),
    kind: type === "tool_result" ? "function" : "provider",
    content: readResultContent(member(block, "content")),
    ...(isTrue(block, "is_error") ? { failed: true } : {}),
  }
}

function readResultContent(content: Json | undefined): readonly Part[] {
  if (content === undefined || content.value === null) return []
  if (isObject(content.value)) return [{ type: "unknown", wire: wireOf(content) }]
  return readContent(content)
}

function readMedia(block: Json): Media {
  const source = member(block, "source")
  const mediaType = stringIn(source, "media_type")
  const data = stringIn(source, "data")
  if (data !== undefined) return mediaOfInline(data, mediaType)
  return stringIn(source, "url") === undefined ? mediaOfFile(mediaType) : { held: "url" }
}

/** The readable part of a document: plain text that it carries itself, or the texts of a search result. */
function readDocumentText(block: Json): { readonly title?: string; readonly text?: string } {
  const source = member(block, "source")
  const carried = stringIn(source, "type") === "text" ? stringIn(source, "data") : undefined
  const texts = [member(block, "content"), source === undefined ? undefined : member(source, "content")]
    .flatMap((list) => (list === undefined ? [] : elements(list)))
    .flatMap((item) => stringIn(item, "text") ?? [])
  return present({
    title: stringIn(block, "title"),
    text: carried ?? (texts.length === 0 ? undefined : texts.join("\n")),
  })
}
