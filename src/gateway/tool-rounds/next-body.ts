import {
  type Format,
  type Message,
  type ModelRequest,
  type ModelResponse,
  messageId,
  type ToolResultPart,
} from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { isObject, readJson, tryParse, valueIn } from "../../wire/json.ts"

/**
 * The body of the next round: the one that was sent, with the model's whole answer (calls, thinking and seals as they came) and the
 * results behind it. Every byte that was there stays.
 */
export function nextBody(
  sent: string,
  format: Format,
  answer: ModelResponse,
  results: readonly ToolResultPart[],
): string {
  const request = decodeRequest(format, sent)
  const told: Message = { id: messageId("results"), role: "user", parts: results }
  const messages = [...request.messages, ...answersFor(request, answer), told]
  return encodeRequest(request, { messages })
}

/** The answer as the next request has to say it. */
function answersFor({ format, wire }: ModelRequest, { messages }: ModelResponse): readonly Message[] {
  if (format !== "openai-responses") return messages.map((message) => ({ ...message, role: "assistant" }))
  const body = readJson(wire, "request")
  // A conversation that the provider keeps has the answer in it already.
  if (valueIn(body, "conversation") !== undefined && valueIn(body, "conversation") !== null) return []
  return valueIn(body, "store") === false ? messages.filter(isWhole) : messages
}

/** Where the provider keeps nothing, reasoning without its seal is a name for something that is not there. */
function isWhole({ parts, wire }: Message): boolean {
  if (parts[0]?.type !== "reasoning" || wire === undefined) return true
  const item = tryParse(wire)
  return isObject(item) && typeof item.encrypted_content === "string"
}
