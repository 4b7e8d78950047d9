import type { StopReason } from "../../src/message/message.ts"
import { anthropicObjection } from "./anthropic-objection.ts"
import { anthropicId, seal } from "./ids.ts"
import { field, type Json, listAt, modelJson, textAt } from "./json.ts"
import { countRounds, type Kind } from "./rounds.ts"
import { deltas, type FailureKind, type Piece, type Reply, type Wire, type WireEvent } from "./wire.ts"

const stopReasons: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
  compaction: "compaction",
  "context-window": "model_context_window_exceeded",
  other: "stop_sequence",
}

const usageOf = ({ usage }: Reply, outputTokens: number) => ({
  input_tokens: usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens,
  cache_creation_input_tokens: usage.cacheWriteTokens,
  cache_read_input_tokens: usage.cacheReadTokens,
  cache_creation: { ephemeral_5m_input_tokens: usage.cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: "standard",
  inference_geo: "not_available",
  speed: null,
})

const envelope = (reply: Reply) => ({
  model: reply.asked.model,
  id: anthropicId("msg", reply.index),
  type: "message",
  role: "assistant",
  container: null,
  diagnostics: null,
})

/** Returns a content block, complete or as it is at `content_block_start`. */
function block(piece: Piece, index: number, n: number, filled: boolean): object {
  switch (piece.type) {
    case "reasoning": {
      const signature = filled ? seal("signature", piece.text) : ""
      return { type: "thinking", thinking: filled ? piece.text : "", signature }
    }
    case "text":
      return { type: "text", text: filled ? piece.text : "", citations: null }
    case "block":
      return piece.block
    case "call": {
      const id = anthropicId("toolu", index, n)
      return { type: "tool_use", id, name: piece.tool, input: filled ? piece.input : {}, caller: { type: "direct" } }
    }
  }
}

const whole = (reply: Reply) => ({
  ...envelope(reply),
  content: reply.pieces.map((piece, n) => block(piece, reply.index, n, true)),
  stop_reason: stopReasons[reply.stop],
  stop_sequence: null,
  stop_details: null,
  usage: usageOf(reply, reply.usage.outputTokens),
})

const event = (data: { readonly type: string }, holds?: "arguments" | "text"): WireEvent => ({
  name: data.type,
  data: JSON.stringify(data),
  ...(holds === undefined ? {} : { holds }),
})

const deltaEvent = (index: number, delta: object, holds?: "arguments" | "text"): WireEvent =>
  event({ type: "content_block_delta", ...{ index, delta } }, holds)

function contentDeltas(piece: Piece, n: number): readonly WireEvent[] {
  switch (piece.type) {
    case "reasoning":
      return [
        ...deltas(piece.text).map((thinking) => deltaEvent(n, { type: "thinking_delta", thinking }, "text")),
        deltaEvent(n, { type: "signature_delta", signature: seal("signature", piece.text) }),
      ]
    case "text":
      return deltas(piece.text).map((text) => deltaEvent(n, { type: "text_delta", text }, "text"))
    case "block":
      return []
    case "call":
      return [
        deltaEvent(n, { type: "input_json_delta", partial_json: "" }),
        ...deltas(modelJson(piece.input)).map((partial_json) =>
          deltaEvent(n, { type: "input_json_delta", partial_json }, "arguments"),
        ),
      ]
  }
}

/** As the API does it, one `ping` follows the first block's start. */
function blockEvents(piece: Piece, index: number, n: number): readonly WireEvent[] {
  return [
    event({ type: "content_block_start", ...{ index: n, content_block: block(piece, index, n, false) } }),
    ...(n === 0 ? [event({ type: "ping" })] : []),
    ...contentDeltas(piece, n),
    event({ type: "content_block_stop", ...{ index: n } }),
  ]
}

function events(reply: Reply): readonly WireEvent[] {
  const message = {
    ...envelope(reply),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: usageOf(reply, 1),
  }
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usageOf(
    reply,
    reply.usage.outputTokens,
  )
  return [
    event({ type: "message_start", ...{ message } }),
    ...reply.pieces.flatMap((piece, n) => blockEvents(piece, reply.index, n)),
    event({
      type: "message_delta",
      ...{
        delta: { stop_reason: stopReasons[reply.stop], stop_sequence: null, stop_details: null, container: null },
        usage: { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens },
      },
    }),
    event({ type: "message_stop" }),
  ]
}

function errorOf(kind: FailureKind): { readonly status: number; readonly type: string; readonly message: string } {
  switch (kind.type) {
    case "rate-limited":
      return {
        status: 429,
        type: "rate_limit_error",
        message: "This request would exceed your organization's rate limit of 50 requests per minute.",
      }
    case "server-error":
      return { status: 500, type: "api_error", message: "Internal server error" }
    case "overloaded":
      return { status: 529, type: "overloaded_error", message: "Overloaded" }
    case "context-length":
      return {
        status: 400,
        type: "invalid_request_error",
        message: `prompt is too long: ${kind.tokens} tokens > ${kind.limit} maximum`,
      }
  }
}

const errorBody = (type: string, message: string, index: number, details?: object) => ({
  type: "error",
  error: { type, message, ...(details === undefined ? {} : { details }) },
  request_id: anthropicId("req", index),
})

const kindOf = (message: Json): Kind => {
  if (textAt(message, "role") !== "assistant") return "other"
  return listAt(message, "content").some((part) => textAt(part, "type") === "tool_use") ? "model-call" : "model"
}

const threadRefusal = errorBody(
  "invalid_request_error",
  "thread: message threads are not supported for this request.",
  0,
  { error_code: "thread_unsupported_request" },
)

/** Anthropic's Messages API. It has no threads: a request for one is refused so that clients send the full history. */
export const anthropicMessages: Wire = {
  format: "anthropic-messages",
  ask: (url, body) => {
    const model = textAt(body, "model") ?? "claude-scripted"
    const rounds = countRounds(listAt(body, "messages").map(kindOf))
    if (url.pathname === "/v1/messages/count_tokens") return { kind: "count", model, framing: "whole", rounds }
    if (url.pathname !== "/v1/messages") return undefined
    if (field(body, "thread") !== null) return { refused: { status: 400, body: threadRefusal } }
    return { kind: "generate", model, framing: field(body, "stream") === true ? "sse" : "whole", rounds }
  },
  count: (inputTokens) => ({ input_tokens: inputTokens }),
  whole,
  events,
  lineEnd: "\n",
  headers: (index) => ({ "request-id": anthropicId("req", index), "anthropic-organization-id": "scripted" }),
  fail: (kind, index) => {
    const { status, type, message } = errorOf(kind)
    const headers = kind.type === "rate-limited" ? { "retry-after": String(kind.retryAfterSeconds) } : {}
    return { status, headers, body: errorBody(type, message, index) }
  },
  objection: anthropicObjection,
  refuse: (message, index) => ({ status: 400, body: errorBody("invalid_request_error", message, index) }),
  failInStream: (kind, reply) => {
    const { type, message } = errorOf(kind)
    return [{ name: "error", data: JSON.stringify(errorBody(type, message, reply.index)) }]
  },
}
