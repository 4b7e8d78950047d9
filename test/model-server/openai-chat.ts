import type { StopReason } from "../../src/message/message.ts"
import { chatObjection } from "./chat-objection.ts"
import { chatId, createdAt, openaiCallId } from "./ids.ts"
import { field, type Json, listAt, modelJson, textAt } from "./json.ts"
import { openaiError, openaiFailure, openaiRefusal } from "./openai-error.ts"
import { countRounds, type Kind } from "./rounds.ts"
import { deltas, type Reply, type Wire, type WireEvent } from "./wire.ts"

const finishReasons: Readonly<Record<StopReason, string>> = {
  end: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  refusal: "content_filter",
  pause: "stop",
  compaction: "stop",
  "context-window": "length",
  other: "stop",
}

const usageOf = ({ usage }: Reply) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    audio_tokens: 0,
  },
  completion_tokens_details: {
    reasoning_tokens: usage.reasoningTokens,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
})

const textOf = (reply: Reply, type: "reasoning" | "text"): string =>
  reply.pieces.flatMap((piece) => (piece.type === type ? [piece.text] : [])).join("")

/** Returns the fields that the script adds to the message as they are. */
const ownFields = (reply: Reply): object =>
  Object.assign({}, ...reply.pieces.map((piece) => (piece.type === "block" ? piece.block : {})))

type ToolCall = {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

const toolCallsOf = (reply: Reply): readonly ToolCall[] =>
  reply.pieces
    .flatMap((piece) => (piece.type === "call" ? [piece] : []))
    .map((call, n) => ({
      id: openaiCallId(reply.index, n),
      type: "function",
      function: { name: call.tool, arguments: modelJson(call.input) },
    }))

function whole(reply: Reply): object {
  const reasoning = textOf(reply, "reasoning")
  const toolCalls = toolCallsOf(reply)
  const message = {
    role: "assistant",
    content: textOf(reply, "text") || null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    refusal: null,
    annotations: [],
    ...ownFields(reply),
  }
  return {
    id: chatId(reply.index),
    object: "chat.completion",
    created: createdAt(reply.index),
    model: reply.asked.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasons[reply.stop] }],
    usage: usageOf(reply),
    service_tier: "default",
    system_fingerprint: "fp_scripted",
  }
}

type Chunk = (choices: readonly object[], usage: object | null, holds?: "arguments" | "text") => WireEvent

const wantsUsage = (body: Json): boolean => field(field(body, "stream_options"), "include_usage") === true

const chunkOf =
  (reply: Reply): Chunk =>
  (choices, usage, holds) => ({
    data: JSON.stringify({
      id: chatId(reply.index),
      object: "chat.completion.chunk",
      created: createdAt(reply.index),
      model: reply.asked.model,
      service_tier: "default",
      system_fingerprint: "fp_scripted",
      choices,
      ...(wantsUsage(reply.body) ? { usage } : {}),
    }),
    ...(holds === undefined ? {} : { holds }),
  })

const choice = (delta: object, finish_reason: string | null = null) => [
  { index: 0, delta, logprobs: null, finish_reason },
]

function callEvents(call: ToolCall, index: number, chunk: Chunk): readonly WireEvent[] {
  const { name, arguments: input } = call.function
  const opening = { index, id: call.id, type: call.type, function: { name, arguments: "" } }
  return [
    chunk(choice({ tool_calls: [opening] }), null),
    ...deltas(input).map((part) =>
      chunk(choice({ tool_calls: [{ index, function: { arguments: part } }] }), null, "arguments"),
    ),
  ]
}

function events(reply: Reply): readonly WireEvent[] {
  const chunk = chunkOf(reply)
  const toolCalls = toolCallsOf(reply)
  const content = toolCalls.length > 0 && textOf(reply, "text") === "" ? null : ""
  return [
    chunk(choice({ role: "assistant", content, refusal: null }), null),
    ...deltas(textOf(reply, "reasoning")).map((part) => chunk(choice({ reasoning_content: part }), null, "text")),
    ...deltas(textOf(reply, "text")).map((part) => chunk(choice({ content: part }), null, "text")),
    ...(Object.keys(ownFields(reply)).length === 0 ? [] : [chunk(choice(ownFields(reply)), null)]),
    ...toolCalls.flatMap((call, index) => callEvents(call, index, chunk)),
    chunk(choice({}, finishReasons[reply.stop]), null),
    ...(wantsUsage(reply.body) ? [chunk([], usageOf(reply))] : []),
    { data: "[DONE]" },
  ]
}

const kindOf = (message: Json): Kind => {
  if (textAt(message, "role") !== "assistant") return "other"
  return listAt(message, "tool_calls").length > 0 ? "model-call" : "model"
}

/** OpenAI's Chat Completions API, with the `reasoning_content` of other providers that use it. */
export const openaiChat: Wire = {
  format: "openai-chat",
  ask: (url, body) => {
    if (url.pathname !== "/v1/chat/completions") return undefined
    const framing = field(body, "stream") === true ? "sse" : "whole"
    const rounds = countRounds(listAt(body, "messages").map(kindOf))
    return { kind: "generate", model: textAt(body, "model") ?? "gpt-scripted", framing, rounds }
  },
  count: (inputTokens) => ({ input_tokens: inputTokens }),
  whole,
  events,
  lineEnd: "\n",
  headers: (index) => ({ "x-request-id": chatId(index).replace("chatcmpl-", "req_"), "openai-version": "2020-10-01" }),
  fail: (kind) => openaiFailure(kind, "chat"),
  objection: chatObjection,
  refuse: (message) => openaiRefusal(message, "messages"),
  failInStream: (kind) => [{ data: JSON.stringify({ error: openaiError(kind, "chat") }) }],
}
