import { messageId, tokens } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { ModelResponse, StopReason, Usage } from "../../message/request.ts"
import { countIn, requireElements, requireObject, stringIn } from "../expect.ts"
import { isObject, type Json, member, wireOf } from "../json.ts"
import { readMessage } from "./read.ts"

/** The status of a response, seen together with what it put out. */
export function stopOf(response: Json, messages: readonly Message[]): StopReason {
  const status = stringIn(response, "status")
  const parts = messages.flatMap((message) => message.parts)
  if (status === "incomplete") {
    return stringIn(member(response, "incomplete_details"), "reason") === "max_output_tokens" ? "length" : "refusal"
  }
  if (status !== undefined && status !== "completed") return "other"
  if (parts.some((part) => part.type === "tool-call")) return "tool-calls"
  return parts.length === 1 && parts[0]?.type === "opaque" && parts[0].kind === "compaction" ? "compaction" : "end"
}

export function readResponse(body: Json): ModelResponse {
  const messages = requireElements(requireObject(body), "output").map((item, n): Message => {
    return { ...readMessage(item, []), id: messageId(`r${n}`) }
  })
  return {
    format: "openai-responses",
    wire: wireOf(body),
    messages,
    stop: stopOf(body, messages),
    ...present({ id: stringIn(body, "id"), model: stringIn(body, "model"), usage: readUsage(member(body, "usage")) }),
  }
}

export function readUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const details = member(usage, "input_tokens_details")
  return {
    inputTokens: tokens(countIn(usage, "input_tokens") ?? 0),
    outputTokens: tokens(countIn(usage, "output_tokens") ?? 0),
    cacheReadTokens: tokens(countIn(details, "cached_tokens") ?? 0),
    cacheWriteTokens: tokens(countIn(details, "cache_write_tokens") ?? 0),
  }
}
