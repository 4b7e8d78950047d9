import { refuseOption } from "../../message/errors.ts"
import type { Format, ModelResponse } from "../../message/message.ts"
import { decodeResponse } from "../../wire/decode.ts"
import { isObject } from "../../wire/json.ts"

/** A complete response: decoded, of which the messages alone are enough, or in its wire format as text or value. */
export type ResponseLike = ModelResponse | string | object

export function readResponse(response: ResponseLike, format: Format | undefined): ModelResponse {
  if (isAnswer(response)) return response
  if (format === undefined) {
    const expected = "a format, said by prepare() or in the options, to read the answer in"
    refuseOption("format", expected, "nothing")
  }
  return decodeResponse(format, typeof response === "string" ? response : JSON.stringify(response))
}

/** True if a response is already decoded: decoded messages have parts and ids. */
function isAnswer(value: ResponseLike): value is ModelResponse {
  if (!isObject(value) || !Array.isArray(value.messages)) return false
  return value.messages.every(
    (message) => isObject(message) && typeof message.id === "string" && Array.isArray(message.parts),
  )
}
