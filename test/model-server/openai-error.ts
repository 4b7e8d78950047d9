import type { Failure, FailureKind } from "./wire.ts"

type OpenAIError = {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** Returns OpenAI's error object; the context error has different texts and fields in its two APIs. */
export function openaiError(kind: FailureKind, api: "chat" | "responses"): OpenAIError {
  switch (kind.type) {
    case "rate-limited":
      return {
        message: `Rate limit reached for requests. Please try again in ${kind.retryAfterSeconds}s.`,
        type: "requests",
        param: null,
        code: "rate_limit_exceeded",
      }
    case "server-error":
      return {
        message: "The server had an error while processing your request. Sorry about that!",
        type: "server_error",
        param: null,
        code: api === "responses" ? "server_error" : null,
      }
    case "overloaded":
      return {
        message: "The engine is currently overloaded, please try again later.",
        type: "server_error",
        param: null,
        code: api === "responses" ? "server_error" : null,
      }
    case "context-length":
      return {
        message:
          api === "chat"
            ? `This model's maximum context length is ${kind.limit} tokens. However, your messages resulted in ${kind.tokens} tokens. Please reduce the length of the messages.`
            : "Your input exceeds the context window of this model. Please adjust your input and try again.",
        type: "invalid_request_error",
        param: api === "chat" ? "messages" : "input",
        code: "context_length_exceeded",
      }
  }
}

const statuses: Readonly<Record<FailureKind["type"], number>> = {
  "rate-limited": 429,
  "server-error": 500,
  overloaded: 529,
  "context-length": 400,
}

export function openaiFailure(kind: FailureKind, api: "chat" | "responses"): Failure {
  const headers = kind.type === "rate-limited" ? { "retry-after": String(kind.retryAfterSeconds) } : {}
  return { status: statuses[kind.type], headers, body: { error: openaiError(kind, api) } }
}

export const openaiRefusal = (message: string, param: string): Failure => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param, code: null } },
})
