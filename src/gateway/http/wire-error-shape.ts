import type { Format } from "../../message/message.ts"

/** What an error says, before it is put into a wire's shape. */
export type Said = {
  readonly status: number
  readonly message: string
  /** OpenAI's code: one of its own, or ours. */
  readonly code?: string
  /** OpenAI's name of the field that is wrong. */
  readonly param?: string
}

/** A whole answer. */
export type WireError = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Shape = {
  /** Named as each provider names it, for whoever reads its logs. */
  readonly requestId?: string
}

type Named = Readonly<Record<number, string>>

/** https://docs.anthropic.com/en/api/errors */
const anthropicTypes: Named = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
}

/** OpenAI says what is wrong in the code; its type tells whose fault it is. */
const openaiCodes: Named = { 401: "invalid_api_key", 429: "rate_limit_exceeded" }

/** https://cloud.google.com/apis/design/errors */
const geminiStatuses: Named = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
}

export function anthropicError({ status, message }: Said, { requestId }: Shape = {}): object {
  const type = anthropicTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error")
  return { type: "error", error: { type, message }, ...(requestId === undefined ? {} : { request_id: requestId }) }
}

export function openaiError({ status, message, code, param }: Said): OpenaiError {
  const type = status >= 500 ? "server_error" : status === 429 ? "rate_limit_error" : "invalid_request_error"
  return { message, type, param: param ?? null, code: openaiCodes[status] ?? code ?? null }
}

export type OpenaiError = {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

export function geminiError({ status, message }: Said): object {
  const name = geminiStatuses[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT")
  return { error: { code: status, message, status: name } }
}

/** The body of an error as the provider whose format it is would write it; without a format as OpenAI would. */
export function errorBody(format: Format | undefined, said: Said, shape: Shape = {}): string {
  if (format === "anthropic-messages") return JSON.stringify(anthropicError(said, shape))
  return JSON.stringify(format === "gemini" ? geminiError(said) : { error: openaiError(said) })
}

/** The headers of such an answer; a retry is spoken of only where there is something to say about it. */
export function errorHeaders(
  format: Format | undefined,
  { requestId }: Shape,
  retry: { readonly afterSeconds?: number | undefined; readonly pointless: boolean },
): Readonly<Record<string, string>> {
  const idName = format === "anthropic-messages" ? "request-id" : "x-request-id"
  return {
    "content-type": "application/json",
    ...(requestId === undefined ? {} : { [idName]: requestId }),
    ...(retry.afterSeconds === undefined ? {} : { "retry-after": String(Math.max(0, Math.ceil(retry.afterSeconds))) }),
    ...(retry.pointless ? { "x-should-retry": "false" } : {}),
  }
}
