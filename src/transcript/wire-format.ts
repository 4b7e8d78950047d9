import type { Format } from "../message/message.ts"
import { isObject } from "../wire/json.ts"

const chatRoles: ReadonlySet<unknown> = new Set(["tool", "function", "developer"])
const chatParts: ReadonlySet<unknown> = new Set(["image_url", "input_audio", "file"])
const responsesParts: ReadonlySet<unknown> = new Set([
  "input_text",
  "output_text",
  "input_image",
  "input_file",
  "refusal",
  "summary_text",
])
const anthropicParts: ReadonlySet<unknown> = new Set([
  "thinking",
  "redacted_thinking",
  "image",
  "document",
  "search_result",
  "container_upload",
  "compaction",
])

/**
 * The wire format of a list of messages, by the first message that can be of one format only: `parts` is Gemini; an item type other
 * than "message", or content such as `input_text`, is Responses; a `tool` role, `tool_calls`, null content or `image_url` is chat;
 * blocks such as `tool_use` or `thinking` are Anthropic. Where every message could be of several, chat: most tools write that.
 */
export function formatOfMessages(messages: readonly unknown[]): Format {
  return tellingFormat(messages) ?? "openai-chat"
}

function tellingFormat(messages: readonly unknown[]): Format | undefined {
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

/** The wire format of a request body or trace: what its list is called, then the messages, then what stands beside them. */
export function formatOfBody(body: Readonly<Record<string, unknown>>): Format | undefined {
  if (Array.isArray(body.contents)) return "gemini"
  if (Array.isArray(body.input) || (typeof body.input === "string" && body.messages === undefined))
    return "openai-responses"
  if (!Array.isArray(body.messages)) return undefined
  const format = tellingFormat(body.messages)
  if (format === "anthropic-messages" || format === "openai-chat") return format
  const [tool] = Array.isArray(body.tools) ? body.tools : []
  const schema = isObject(tool) && tool.input_schema !== undefined
  return body.system !== undefined || body.anthropic_version !== undefined || schema
    ? "anthropic-messages"
    : "openai-chat"
}
