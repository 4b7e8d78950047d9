import { openaiCallId, responsesId, seal } from "./ids.ts"
import { field, type Json, listAt, modelJson, textAt } from "./json.ts"
import type { Kind } from "./rounds.ts"
import type { Piece, Reply } from "./wire.ts"

type Stage = "in_progress" | "completed"

export type TextPart = {
  readonly type: "output_text"
  readonly annotations: readonly never[]
  readonly logprobs: readonly never[]
  readonly text: string
}

export const textPart = (text: string): TextPart => ({ type: "output_text", annotations: [], logprobs: [], text })

/** True if the client asks for encrypted reasoning. */
const wantsSealed = (body: Json): boolean => listAt(body, "include").includes("reasoning.encrypted_content")

const idPrefixes = { reasoning: "rs", text: "msg", call: "fc" } as const

export const itemId = (piece: Exclude<Piece, { readonly type: "block" }>, n: number, reply: Reply): string =>
  responsesId(idPrefixes[piece.type], reply.index, n)

/** Returns an output item; `in_progress` is its state when its stream begins. */
export function itemOf(piece: Piece, n: number, reply: Reply, status: Stage): object {
  if (piece.type === "block") return piece.block
  const done = status === "completed"
  const id = itemId(piece, n, reply)
  switch (piece.type) {
    case "reasoning": {
      const summary = done ? [{ type: "summary_text", text: piece.text }] : []
      const sealed = wantsSealed(reply.body) ? { encrypted_content: seal("reasoning", piece.text) } : {}
      return { id, type: "reasoning", summary, ...sealed }
    }
    case "text":
      return { id, type: "message", status, content: done ? [textPart(piece.text)] : [], role: "assistant" }
    case "call": {
      const call_id = openaiCallId(reply.index, n)
      const input = done ? modelJson(piece.input) : ""
      return { id, type: "function_call", status, arguments: input, call_id, name: piece.tool }
    }
  }
}

const usageOf = ({ usage }: Reply) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.inputTokens + usage.outputTokens,
})

export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed"

export const statusOf = (reply: Reply): ResponseStatus =>
  reply.stop === "length" || reply.stop === "context-window" || reply.stop === "refusal" ? "incomplete" : "completed"

/** Returns the response object, which echoes the request's settings. */
export function responseOf(reply: Reply, status: ResponseStatus, created: number, error: object | null = null): object {
  const echo = (key: string, otherwise: unknown) => field(reply.body, key) ?? otherwise
  const settled = status === "completed" || status === "incomplete"
  const reason = reply.stop === "refusal" ? "content_filter" : "max_output_tokens"
  return {
    id: responsesId("resp", reply.index),
    object: "response",
    created_at: created,
    status,
    background: false,
    completed_at: settled ? created : null,
    error,
    incomplete_details: status === "incomplete" ? { reason } : null,
    instructions: echo("instructions", null),
    max_output_tokens: echo("max_output_tokens", null),
    max_tool_calls: echo("max_tool_calls", null),
    model: reply.asked.model,
    output: settled ? reply.pieces.map((piece, n) => itemOf(piece, n, reply, "completed")) : [],
    parallel_tool_calls: echo("parallel_tool_calls", true),
    previous_response_id: echo("previous_response_id", null),
    prompt_cache_key: echo("prompt_cache_key", null),
    reasoning: echo("reasoning", { effort: null, summary: null }),
    safety_identifier: echo("safety_identifier", null),
    service_tier: settled ? "default" : "auto",
    store: echo("store", true),
    temperature: echo("temperature", 1),
    text: echo("text", { format: { type: "text" }, verbosity: "medium" }),
    tool_choice: echo("tool_choice", "auto"),
    tools: echo("tools", []),
    top_logprobs: echo("top_logprobs", 0),
    top_p: echo("top_p", 1),
    truncation: echo("truncation", "disabled"),
    usage: settled ? usageOf(reply) : null,
    user: echo("user", null),
    metadata: echo("metadata", {}),
  }
}

/** Returns the input as a list: a plain text is one user message. */
export function inputItems(body: Json): readonly Json[] {
  const text = textAt(body, "input")
  return text === undefined ? listAt(body, "input") : [{ type: "message", role: "user", content: text }]
}

/** Returns who an item is from: messages of other roles and outputs of calls are the client's, all else is the model's. */
export const itemKind = (item: Json): Kind => {
  const type = textAt(item, "type") ?? "message"
  if (type === "function_call" || type === "custom_tool_call") return "model-call"
  if (type.endsWith("_output")) return "other"
  return type === "message" && textAt(item, "role") !== "assistant" ? "other" : "model"
}
