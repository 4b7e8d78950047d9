import { describe, type Problem } from "../../message/errors.ts"
import { type Wire, wireText } from "../../message/ids.ts"
import type { StopReason, Usage } from "../../message/request.ts"
import { stringIn } from "../expect.ts"
import { type Json, member, readJson, wireOf } from "../json.ts"
import { type Fields, write as json, overlay, writeObject } from "../overlay.ts"
import type { SseEvent } from "../sse.ts"
import { createSseEvent, replaceData } from "../sse-write.ts"
import { indexOf, type PartStart, type StreamEvent } from "../stream.ts"
import type { EncodeState, Written } from "../stream-codec.ts"

// Relayed events

/** Number the block anew and say the stop that is left; everything else stays as it came. */
export function rewrite(state: EncodeState, kept: readonly StreamEvent[]): Written {
  const [first] = kept
  const sse = first?.wire?.sse
  if (first === undefined || sse === undefined) return [state, []]
  const body = readJson(sse.data, "response")
  const type = stringIn(body, "type") ?? sse.name
  if (type === "message_start") return [state, kept.some((event) => event === state.start) ? [sse] : []]
  if (type === "message_delta") return [state, rewriteStop(sse, body, kept)]
  const index = indexOf(first)
  if (index === undefined) return [state, [sse]]
  const part = state.open.get(index)
  if (part === undefined) return [state, []]
  return [state, [replaceData(sse, overlay(wireOf(body), { index: json(part.index) }))]]
}

function rewriteStop(sse: SseEvent, body: Json, kept: readonly StreamEvent[]): readonly SseEvent[] {
  const stop = kept.find((event) => event.type === "response-stop")
  const delta = member(body, "delta")
  const reason = stringIn(delta, "stop_reason")
  if (stop === undefined || delta === undefined) return reason === undefined ? [sse] : []
  if (stop.stop === stop.wire?.stop) return [sse]
  const changed = overlay(wireOf(delta), { stop_reason: json(stopReasons[stop.stop]) })
  return [replaceData(sse, overlay(wireOf(body), { delta: changed }))]
}

// Events of our own

export function write(state: EncodeState, event: StreamEvent): Written {
  return [state, writeEvents(state, event)]
}

function writeEvents(state: EncodeState, event: StreamEvent): readonly SseEvent[] {
  switch (event.type) {
    case "response-start":
      return event === state.start ? [named("message_start", { message: messageOf(state) })] : []
    case "usage":
    case "other":
      return []
    case "response-stop": {
      const delta = json({ stop_reason: stopReasons[event.stop], stop_sequence: null })
      return [named("message_delta", { delta, usage: usageOf(state.usage) })]
    }
    case "response-end":
      return [named("message_stop", {})]
    case "error":
      return [named("error", { error: errorOf(event.problem) })]
    default: {
      const part = state.open.get(event.index)
      return part === undefined ? [] : writePartEvent(part.index, event)
    }
  }
}

type PartEvent = Extract<StreamEvent, { readonly index: number }>

function writePartEvent(at: number, event: PartEvent): readonly SseEvent[] {
  const index = json(at)
  const delta = (fields: object): readonly SseEvent[] => [named("content_block_delta", { index, delta: json(fields) })]
  switch (event.type) {
    case "part-start":
      return [named("content_block_start", { index, content_block: blockOf(event) })]
    case "text-delta":
      return delta({ type: "text_delta", text: event.text })
    case "reasoning-delta":
      return delta({ type: "thinking_delta", thinking: event.text })
    case "signature-delta":
      return delta({ type: "signature_delta", signature: event.signature })
    case "input-delta":
      return delta({ type: "input_json_delta", partial_json: event.text })
    case "part-end":
      return [named("content_block_stop", { index })]
  }
}

const named = (type: string, fields: Fields): SseEvent =>
  createSseEvent(writeObject({ type: json(type), ...fields }), type)

/** A block of our own as it stands when it begins. */
export function blockOf(start: PartStart): Wire {
  if (start.part === "reasoning") return json({ type: "thinking", thinking: "", signature: "" })
  if (start.part !== "tool-call") return json({ type: "text", text: "" })
  const type = start.kind === "provider" ? "server_tool_use" : "tool_use"
  return json({ type, id: start.callId, name: start.tool, input: {} })
}

function messageOf({ start, usage }: EncodeState): Wire {
  const { id, model } = start ?? {}
  const fields = {
    id: id ?? "msg_holdfast",
    type: "message",
    role: "assistant",
    model: model ?? "unknown",
    content: [],
  }
  const rest = { stop_reason: null, stop_sequence: null }
  return wireText(`${JSON.stringify({ ...fields, ...rest }).slice(0, -1)},"usage":${usageOf(usage)}}`)
}

/** Anthropic counts cached input beside the uncached. */
function usageOf(usage: Usage | undefined): Wire {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {}
  return json({
    input_tokens: inputTokens - cacheReadTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
  })
}

const stopReasons: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  pause: "pause_turn",
  compaction: "compaction",
  "context-window": "model_context_window_exceeded",
  other: "end_turn",
}

function errorOf(problem: Problem): Wire {
  if (problem.code === "upstream-error") return json({ type: problem.type, message: problem.message })
  return json({ type: "api_error", message: describe(problem).sentence })
}
