import { messageId, tokens } from "../../message/ids.ts"
import { present } from "../../message/present.ts"
import type { ModelResponse, StopReason, Usage } from "../../message/request.ts"
import { countIn, refuse, requireElements, requireObject, stringIn } from "../expect.ts"
import { isObject, type Json, member, valueIn, wireOf } from "../json.ts"
import { readMessage } from "./read.ts"

const stops: ReadonlyMap<unknown, StopReason> = new Map([
  ["stop", "end"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["length", "length"],
  ["content_filter", "refusal"],
])

export const stopOf = (reason: unknown): StopReason => stops.get(reason) ?? "other"

/** Of several choices the first is the conversation's; clients ask for one. */
export function readResponse(body: Json): ModelResponse {
  const [choice] = requireElements(requireObject(body), "choices")
  const message = choice === undefined ? undefined : member(choice, "message")
  if (choice === undefined || message === undefined)
    return refuse(body, "at least one choice with a message", "choices")
  return {
    format: "openai-chat",
    wire: wireOf(body),
    messages: [{ ...readMessage(message, []), id: messageId("r0") }],
    stop: stopOf(valueIn(choice, "finish_reason")),
    ...present({ id: stringIn(body, "id"), model: stringIn(body, "model"), usage: readUsage(member(body, "usage")) }),
  }
}

export function readUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const details = member(usage, "prompt_tokens_details")
  return {
    inputTokens: tokens(countIn(usage, "prompt_tokens") ?? 0),
    outputTokens: tokens(countIn(usage, "completion_tokens") ?? 0),
    cacheReadTokens: tokens(countIn(details, "cached_tokens") ?? countIn(usage, "prompt_cache_hit_tokens") ?? 0),
    cacheWriteTokens: tokens(countIn(details, "cache_write_tokens") ?? 0),
  }
}
