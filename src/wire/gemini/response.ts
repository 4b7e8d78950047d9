import { messageId, tokens } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { ModelResponse, StopReason, Usage } from "../../message/request.ts"
import { countIn, requireObject, stringIn } from "../expect.ts"
import { elements, isObject, type Json, member, wireOf } from "../json.ts"
import { readMessage } from "./read.ts"

/** The API has one reason for a finished answer, whether or not it calls tools. */
export function stopOf(reason: string | undefined, messages: readonly Message[]): StopReason {
  const calls = messages.some(({ parts }) =>
    parts.some((part) => part.type === "tool-call" && part.kind === "function"),
  )
  if (reason === "STOP") return calls ? "tool-calls" : "end"
  if (reason === "MAX_TOKENS") return "length"
  return reason === undefined || reason === "OTHER" || reason.startsWith("MALFORMED") ? "other" : "refusal"
}

/** A blocked prompt has no candidate: that is an answer without a message. */
export function readResponse(body: Json): ModelResponse {
  const candidates = member(requireObject(body), "candidates")
  const [candidate] = candidates === undefined ? [] : elements(candidates)
  const content = candidate === undefined ? undefined : member(candidate, "content")
  const messages =
    content === undefined ? [] : [{ ...readMessage(content, []), role: "assistant", id: messageId("r0") } as const]
  const blocked = stringIn(member(body, "promptFeedback"), "blockReason")
  return {
    format: "gemini",
    wire: wireOf(body),
    messages,
    stop:
      candidate === undefined && blocked !== undefined
        ? "refusal"
        : stopOf(stringIn(candidate, "finishReason"), messages),
    ...present({
      id: stringIn(body, "responseId"),
      model: stringIn(body, "modelVersion"),
      usage: readUsage(member(body, "usageMetadata")),
    }),
  }
}

export function readUsage(usage: Json | undefined): Usage | undefined {
  if (usage === undefined || !isObject(usage.value)) return undefined
  const input = (countIn(usage, "promptTokenCount") ?? 0) + (countIn(usage, "toolUsePromptTokenCount") ?? 0)
  const output = (countIn(usage, "candidatesTokenCount") ?? 0) + (countIn(usage, "thoughtsTokenCount") ?? 0)
  return {
    inputTokens: tokens(input),
    outputTokens: tokens(output),
    cacheReadTokens: tokens(countIn(usage, "cachedContentTokenCount") ?? 0),
    cacheWriteTokens: tokens(0),
  }
}
