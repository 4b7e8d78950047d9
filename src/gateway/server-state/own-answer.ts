/** An answer that the gateway gives itself. */
export type OwnAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const json = { "content-type": "application/json", "x-should-retry": "false" }

/** What OpenAI says of an answer that it does not have. */
export function previousNotFound(id: string): OwnAnswer {
  const message = `Previous response with id '${id}' not found.`
  const named = { param: "previous_response_id", code: "previous_response_not_found" }
  const error = { message, type: "invalid_request_error", ...named }
  return { status: 400, headers: json, body: JSON.stringify({ error }) }
}

/** What Anthropic says of a request that no thread can serve: clients then send the whole conversation, without a thread. */
export function threadUnsupported(requestId: string): OwnAnswer {
  const error = {
    type: "invalid_request_error",
    message: "thread: message threads are not supported for this request.",
    details: { error_code: "thread_unsupported_request" },
  }
  return { status: 400, headers: json, body: JSON.stringify({ type: "error", error, request_id: requestId }) }
}
