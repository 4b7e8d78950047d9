import {
  type CallKind,
  callId,
  type HeldState,
  type Media,
  type Message,
  type ModelResponse,
  messageId,
  type Part,
  type Role,
  type Tool,
  type ToolResultPart,
  tokens,
  type Usage,
  type Wire,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import {
  breakpointOf,
  type Codec,
  markField,
  mediaOfFile,
  mediaOfInline,
  type RequestSettings,
  readEnvelope,
  readTextOrList,
  stopReader,
  textAsRead,
  wireFields,
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
  const fields = { model: stringIn(body, "model"), maxOutputTokens: countIn(body, "max_tokens"), held: readHeld(body) }
  return { stream: isTrue(body, "stream"), ...present(fields) }
}

function readHeld(body: Json): HeldState | undefined {
  const thread = member(body, "thread")
  if (stringIn(thread, "type") !== "continue") return undefined
  return { type: "thread", ...present({ id: stringIn(thread, "previous_message_id") }) }
}

function readTools(tools: Json): readonly Tool[] {
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

function readMessage(json: Json, earlier: readonly Message[]): Message {
  const role = roles.get(requireString(requireObject(json), "role"))
  if (role === undefined) return refuseJson(json, `"user", "assistant" or "system"`, "role")
  const content = member(json, "content")
  if (content === undefined) return refuseJson(json, "a string or an array of blocks", "content")
  const wire = wireOf(json)
  return { id: messageId(`m${earlier.length}`), role, parts: readContent(content), wire, format: "anthropic-messages" }
}

const readContent = (content: Json): readonly Part[] =>
  readTextOrList(content, readBlock, "a string or an array of blocks")

// Parts

export function readBlock(block: Json): Part {
  const type = requireString(requireObject(block), "type")
  const common = { wire: wireOf(block), ...present({ breakpoint: breakpointOf(block.value) }) }
  switch (type) {
    case "text":
      return { ...common, type: "text", text: requireString(block, "text") }
    case "thinking": {
      const signature = present({ signature: stringIn(block, "signature") })
      return { ...common, type: "reasoning", text: requireString(block, "thinking"), ...signature }
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

export const callKinds: ReadonlyMap<string, CallKind> = new Map([
  ["tool_use", "function"],
  ["server_tool_use", "provider"],
  ["mcp_tool_use", "provider"],
])

function readToolBlock(type: string, block: Json): Part {
  const kind = callKinds.get(type)
  if (kind !== undefined) {
    const [id, tool] = [callId(requireString(block, "id")), requireString(block, "name")]
    return { type: "tool-call", callId: id, tool, kind, input: valueIn(block, "input") }
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

/** Reads the text of a document: its own plain text, or the texts of a search result. */
function readDocumentText(block: Json): { readonly title?: string; readonly text?: string } {
  const source = member(block, "source")
  const carried = stringIn(source, "type") === "text" ? stringIn(source, "data") : undefined
  const texts = [member(block, "content"), member(source, "content")]
    .flatMap(elements)
    .flatMap((item) => stringIn(item, "text") ?? [])
  return present({
    title: stringIn(block, "title"),
    text: carried ?? (texts.length === 0 ? undefined : texts.join("\n")),
  })
}

export const anthropicStop = stopReader("anthropic-messages", { stop_sequence: "end" })

/** The message has the form in which a client sends it back: role and content, without the rest of the response. */
export function readAnthropicResponse(body: Json): ModelResponse {
  const content = member(requireObject(body), "content")
  if (content === undefined || !Array.isArray(content.value)) return refuseJson(body, "an array of blocks", "content")
  const wire = writeObject({ role: write("assistant"), content: wireOf(content) })
  return {
    format: "anthropic-messages",
    ...readEnvelope(body, readAnthropicUsage),
    messages: [
      { id: messageId("r0"), role: "assistant", parts: readContent(content), wire, format: "anthropic-messages" },
    ],
    stop: anthropicStop(valueIn(body, "stop_reason")),
  }
}

/** Anthropic counts cached input separately; our input tokens include it. */
export function readAnthropicUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const cacheReadTokens = tokens(countIn(usage, "cache_read_input_tokens") ?? 0)
  const cacheWriteTokens = tokens(countIn(usage, "cache_creation_input_tokens") ?? 0)
  const inputTokens = tokens((countIn(usage, "input_tokens") ?? 0) + cacheReadTokens + cacheWriteTokens)
  return { inputTokens, outputTokens: tokens(countIn(usage, "output_tokens") ?? 0), cacheReadTokens, cacheWriteTokens }
}

/** Anthropic Messages: `POST /v1/messages` and endpoints with the same body. */
export const anthropic: Codec = {
  format: "anthropic-messages",
  names: { messages: ["messages"], system: ["system"], tools: ["tools"] },
  readSettings,
  readSystem: readContent,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse: readAnthropicResponse,
}

// System

function writeSystem(parts: readonly Part[], before: Wire | undefined): Wire {
  const [only] = parts
  const wasText = before === undefined || before.startsWith('"')
  if (wasText && parts.length === 1 && only?.type === "text" && only.breakpoint === undefined) return write(only.text)
  return writeList(parts.map(writePart))
}

// Messages

function writeMessage(message: Message): readonly Wire[] {
  return [overlay(message.wire, { role: write(message.role), content: writeContent(message.parts) })]
}

/** A cache marker needs a block, so a marked text is not written as a string. */
const writeContent = (parts: readonly Part[]): Wire =>
  parts[0]?.breakpoint === undefined ? writeTextOrList(parts, writePart) : writeList(parts.map(writePart))

// Parts

function writePart(part: Part): Wire {
  const asRead = textAsRead(part)
  if (asRead !== undefined) return asRead
  switch (part.type) {
    case "text":
      return overlay(part.wire, { type: write("text"), text: write(part.text), ...markField(part) })
    case "reasoning":
      return part.wire === undefined
        ? writeObject({ type: write("thinking"), thinking: write(part.text), signature: write(part.signature ?? "") })
        : overlay(part.wire, markField(part))
    case "tool-call":
      return overlay(part.wire, {
        ...(part.kind === "provider" ? {} : { type: write("tool_use") }),
        id: write(part.callId),
        name: write(part.tool),
        ...(part.input === undefined ? {} : { input: write(part.input) }),
        ...markField(part),
      })
    case "tool-result":
      return writeToolResult(part)
    default:
      return overlay(requireWire(part, "anthropic-messages"), markField(part))
  }
}

function writeToolResult(part: ToolResultPart & Pick<Part, "wire" | "breakpoint">): Wire {
  const was = wireFields(part.wire)
  return overlay(part.wire, {
    ...(part.kind === "provider" ? {} : { type: write("tool_result") }),
    tool_use_id: write(part.callId),
    ...contentField(part, was.content),
    ...((was.is_error === true) === (part.failed === true)
      ? {}
      : { is_error: part.failed === true ? write(true) : undefined }),
    ...markField(part),
  })
}

/** An empty result may be absent, null or an empty list: its original form is kept. */
function contentField({ content, kind }: ToolResultPart, was: unknown): Fields {
  const [only] = content
  if (content.length === 0) return was === undefined || was === null || Array.isArray(was) ? {} : { content: write([]) }
  if (kind === "provider" && content.length === 1 && only?.type === "unknown" && isObject(was))
    return { content: only.wire }
  return { content: writeContent(content) }
}
