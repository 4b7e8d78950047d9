import type { Problem } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import { createSseEvent } from "../../wire/sse.ts"
import { saidOf } from "./wire-error.ts"
import { errorBody, openaiError, type Said, type Shape } from "./wire-error-shape.ts"

/** Where in its stream an OpenAI response stands: the id that it began with, and the number of the next event. */
export type StreamErrorOptions = Shape & { readonly responseId?: string; readonly sequence?: number }

/** A problem as the last events of a stream that has begun, each as its bytes. */
export function streamError(format: Format, problem: Problem, options: StreamErrorOptions = {}): readonly Uint8Array[] {
  const said = saidOf(format, problem)
  if (format === "openai-responses") return responsesEvents(said, options)
  const name = format === "anthropic-messages" ? "error" : undefined
  return [createSseEvent(errorBody(format, said, options), name).raw]
}

/** Some clients read the one event, some the other. */
function responsesEvents(said: Said, { responseId, sequence = 0 }: StreamErrorOptions): readonly Uint8Array[] {
  const { message, param, code } = openaiError(said)
  const known = code === null || said.status >= 500 ? "server_error" : code
  const response = {
    id: responseId ?? "resp_failed",
    object: "response",
    status: "failed",
    error: { code: known, message },
    incomplete_details: null,
    output: [],
    usage: null,
  }
  const events = [
    { type: "error", code: known, message, param, sequence_number: sequence },
    { type: "response.failed", response, sequence_number: sequence + 1 },
  ]
  return events.map((event) => createSseEvent(JSON.stringify(event), event.type).raw)
}
