import { messageId, tokens } from "../../message/ids.ts"
import { present } from "../../message/present.ts"
import type { ModelResponse, StopReason, Usage } from "../../message/request.ts"
import { countIn, refuse, requireObject, stringIn } from "../expect.ts"
import { isObject, type Json, member, valueIn, wireOf } from "../json.ts"
import { write, writeObject } from "../overlay.ts"
import { readContent } from "./read.ts"

const stops: ReadonlyMap<unknown, StopReason> = new Map([
  ["end_turn", "end"],
  ["stop_sequence", "end"],
  ["tool_use", "tool-calls"],
  ["max_tokens", "length"],
  ["refusal", "refusal"],
  ["pause_turn", "pause"],
  ["compaction", "compaction"],
  ["model_context_window_exceeded", "context-window"],
])

export const stopOf = (reason: unknown): StopReason => stops.get(reason) ?? "other"

/** The message is what the client sends back in its next request: role and content, without the envelope. */
export function readResponse(body: Json): ModelResponse {
  const content = member(requireObject(body), "content")
  if (content === undefined || !Array.isArray(content.value)) return refuse(body, "an array of blocks", "content")
  const wire = writeObject({ role: write("assistant"), content: wireOf(content) })
  return {
    format: "anthropic-messages",
    wire: wireOf(body),
    messages: [
      { id: messageId("r0"), role: "assistant", parts: readContent(content), wire, format: "anthropic-messages" },
    ],
    stop: stopOf(valueIn(body, "stop_reason")),
    ...present({ id: stringIn(body, "id"), model: stringIn(body, "model"), usage: readUsage(member(body, "usage")) }),
  }
}

/** Anthropic counts cached input beside the uncached; our input is all that was read. */
export function readUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const cacheReadTokens = tokens(countIn(usage, "cache_read_input_tokens") ?? 0)
  const cacheWriteTokens = tokens(countIn(usage, "cache_creation_input_tokens") ?? 0)
  const inputTokens = tokens((countIn(usage, "input_tokens") ?? 0) + cacheReadTokens + cacheWriteTokens)
  return { inputTokens, outputTokens: tokens(countIn(usage, "output_tokens") ?? 0), cacheReadTokens, cacheWriteTokens }
}
