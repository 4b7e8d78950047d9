import {
  type Format,
  type Message,
  type ModelRequest,
  type ModelResponse,
  messageId,
  type ToolResultPart,
} from "../../message/message.ts"
import { runPaced } from "../../store/pace.ts"
import { decodeRequestSteps } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { isObject, readJson, tryParse, valueIn } from "../../wire/json.ts"

/**
 * The request body of the next round: the previous one, followed by the model's whole response (calls, thinking and signatures unchanged)
 * and the tool results. Existing bytes stay unchanged.
 */
export async function nextBody(
  sent: string,
  format: Format,
  answer: ModelResponse,
  results: readonly ToolResultPart[],
): Promise<string> {
  const request = await runPaced(decodeRequestSteps(format, sent))
  const told: Message = { id: messageId("results"), role: "user", parts: results }
  const messages = [...request.messages, ...answersFor(request, answer), told]
  return encodeRequest(request, { messages })
}

/** The response as messages of the next request. */
function answersFor({ format, wire }: ModelRequest, { messages }: ModelResponse): readonly Message[] {
  if (format !== "openai-responses") return messages.map((message) => ({ ...message, role: "assistant" }))
  const body = readJson(wire, "request")
  // A conversation that the provider stores already contains the response.
  if (valueIn(body, "conversation") !== undefined && valueIn(body, "conversation") !== null) return []
  return valueIn(body, "store") === false ? messages.filter(isWhole) : messages
}

/** If the provider stores nothing, a reasoning item without encrypted content refers to something that does not exist. */
function isWhole({ parts, wire }: Message): boolean {
  if (parts[0]?.type !== "reasoning" || wire === undefined) return true
  const item = tryParse(wire)
  return isObject(item) && typeof item.encrypted_content === "string"
}
