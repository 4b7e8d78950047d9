import { ownText, responseWire, writtenMessage } from "../../guard/response-wire.ts"
import { messageId } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import type { ModelResponse } from "../../message/request.ts"
import { isRecall, openCalls } from "./round-results.ts"

/** The answer without its recalls; the very object if it has none. */
export function withoutRecallParts(response: ModelResponse): ModelResponse {
  const { format } = response
  if (!response.messages.some(({ parts }) => parts.some(isRecallPart))) return response
  const messages = response.messages.flatMap((message): readonly Message[] => {
    const parts = message.parts.filter((part) => !isRecallPart(part))
    if (parts.length === message.parts.length) return [message]
    return parts.length === 0 && format === "openai-responses" ? [] : [writtenMessage(format, message, parts)]
  })
  return { ...response, messages }
}

const isRecallPart = (part: Part): boolean => part.type === "tool-call" && isRecall(part)

/** What of an exchange is not in its last answer as it came. */
export type Laid = {
  /** What earlier rounds said, the oldest first. */
  readonly earlier: readonly Message[]
  /** Words of ours in the place of recalls that were not answered. */
  readonly words: readonly string[]
}

/** The last answer with all that went before it, in the shape of its wire; without a wire there is nothing to lay it over. */
export function wholeAnswer(last: ModelResponse, { earlier, words }: Laid): string | undefined {
  const { format } = last
  const left = openCalls(last).length
  const stop = last.stop === "tool-calls" && left === 0 ? "end" : last.stop
  const said = words.map((text) => ownText(format, text))
  const messages =
    format === "openai-responses" ? [...earlier, ...withItem(last.messages, said)] : oneMessage(last, earlier, said)
  return responseWire({ ...last, messages, stop }, stop !== last.stop)
}

const isCall = (part: Part): boolean => part.type === "tool-call"

/** Words of ours stand before the first call: behind it nothing is read by some clients. */
function beforeCalls(parts: readonly Part[], said: readonly Part[]): readonly Part[] {
  const at = parts.findIndex(isCall)
  return parts.toSpliced(at < 0 ? parts.length : at, 0, ...said)
}

/** On this wire what is said is an item of its own. */
function withItem(messages: readonly Message[], said: readonly Part[]): readonly Message[] {
  if (said.length === 0) return messages
  const at = messages.findIndex(({ parts }) => parts.some(isCall))
  const own: Message = { id: messageId("recall"), role: "assistant", parts: said, format: "openai-responses" }
  return messages.toSpliced(at < 0 ? messages.length : at, 0, writtenMessage("openai-responses", own, said))
}

function oneMessage(
  { format, messages }: ModelResponse,
  earlier: readonly Message[],
  said: readonly Part[],
): readonly Message[] {
  const [message] = messages
  if (message === undefined) return messages
  const parts = [...earlier.flatMap((one) => one.parts), ...beforeCalls(message.parts, said)]
  return [writtenMessage(format, message, format === "openai-chat" ? joined(parts) : parts)]
}

/** Chat has one text and one piece of reasoning for the whole message, before its calls. */
function joined(parts: readonly Part[]): readonly Part[] {
  const plain = (part: Part, type: Part["type"]): boolean => part.type === type && part.wire === undefined
  const textsOf = (type: "text" | "reasoning"): readonly Part[] => {
    const all = parts.flatMap((part) => (part.type === type && plain(part, type) ? part.text : []))
    const text = all.filter((one) => one !== "").join("\n\n")
    return text === "" ? [] : [{ type, text }]
  }
  const rest = parts.filter((part) => !plain(part, "text") && !plain(part, "reasoning"))
  return [...textsOf("reasoning"), ...textsOf("text"), ...rest]
}

/** Messages of further rounds under names of their own, so that no two items of ours have the same. */
export const renamed = (response: ModelResponse, round: number): ModelResponse =>
  round === 0
    ? response
    : {
        ...response,
        messages: response.messages.map((message) => ({ ...message, id: messageId(`${round}${message.id}`) })),
      }
