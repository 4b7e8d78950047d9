import type { Format } from "../message/message.ts"

/**
 * The types of request bodies written by Holdfast when the caller gives none, in the words of each API, as far as clients' types need
 * them. A message that came with more fields keeps them. Not `readonly`, because the clients' types are not: a body belongs to the caller.
 */

type CacheControl = { type: "ephemeral"; ttl?: "5m" | "1h" }
type AnthropicText = { type: "text"; text: string; cache_control?: CacheControl }
type AnthropicImage = {
  type: "image"
  source:
    | { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
    | { type: "url"; url: string }
  cache_control?: CacheControl
}
type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | { type: "tool_use"; id: string; name: string; input: unknown; cache_control?: CacheControl }
  | {
      type: "tool_result"
      tool_use_id: string
      content?: string | (AnthropicText | AnthropicImage)[]
      is_error?: boolean
      cache_control?: CacheControl
    }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }

type AnthropicBody = {
  model: string
  max_tokens: number
  system?: string | AnthropicText[]
  messages: { role: "user" | "assistant"; content: string | AnthropicBlock[] }[]
}

type ChatText = { type: "text"; text: string }
type ChatMessage =
  | { role: "system" | "developer"; content: string | ChatText[] }
  | { role: "user"; content: string | (ChatText | { type: "image_url"; image_url: { url: string } })[] }
  | {
      role: "assistant"
      content?: string | ChatText[] | null
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[]
    }
  | { role: "tool"; tool_call_id: string; content: string | ChatText[] }

type ResponsesPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url?: string; detail: "low" | "high" | "auto" }
type ResponsesItem =
  | { type?: "message"; role: "user" | "system" | "developer" | "assistant"; content: string | ResponsesPart[] }
  | { type: "function_call"; call_id: string; name: string; arguments: string; id?: string }
  | { type: "function_call_output"; call_id: string; output: string }
  | { type: "reasoning"; id: string; summary: { type: "summary_text"; text: string }[]; encrypted_content?: string }

type ResponsesBody = { model: string; input: ResponsesItem[]; instructions?: string; max_output_tokens?: number }

type GeminiPart = {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  inlineData?: { mimeType?: string; data?: string }
  functionCall?: { id?: string; name?: string; args?: Record<string, unknown> }
  functionResponse?: { id?: string; name?: string; response?: Record<string, unknown> }
}
type GeminiContent = { role?: string; parts?: GeminiPart[] }
type GeminiBody = {
  contents: GeminiContent[]
  systemInstruction?: GeminiContent
  generationConfig?: { maxOutputTokens?: number }
}

type Bodies = {
  readonly "anthropic-messages": AnthropicBody
  readonly "openai-chat": { model: string; messages: ChatMessage[]; max_completion_tokens?: number }
  readonly "openai-responses": ResponsesBody
  readonly gemini: GeminiBody
}

/** A body of this format with its tools as given. In Gemini the URL path, not the body, says whether it is streamed. */
export type RequestBody<
  Of extends Format = Format,
  GivenTool = unknown,
  Streamed extends boolean = false,
> = Bodies[Of] & {
  tools?: GivenTool[]
} & (Of extends "gemini" ? unknown : Streamed extends true ? { stream: true } : unknown)

/** The type of a given body once it has messages: its own, or those of the session. */
export type FilledBody<Body extends object, Of extends Format> = Body extends
  | { readonly messages: unknown }
  | { readonly input: unknown }
  | { readonly contents: unknown }
  ? Body
  : Body & Omit<Bodies[Of], keyof Body>
