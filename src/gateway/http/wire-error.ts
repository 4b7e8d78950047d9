import { describe, type Problem } from "../../message/errors.ts"
import type { ApiFamily, Format } from "../../message/message.ts"
import { namesIn } from "../../message/present.ts"
import { createSseEvent } from "../../wire/sse.ts"
import names from "./error-names.json" with { type: "json" }
import statuses from "./statuses.json" with { type: "json" }

/** The HTTP status of every problem: 4xx if the client can fix it, 502 and 504 if the model's API failed, 503 if a retry may help. */
export const statusOf: Readonly<Record<Problem["code"], number>> = statuses

type ContextNeed = { readonly neededTokens: number; readonly windowTokens: number }

/** Each provider's own error message for a request that is too long: clients recognise it and compact. */
const contextMessages: Readonly<Record<Format, (need: ContextNeed) => Omit<ErrorContent, "status">>> = {
  "anthropic-messages": ({ neededTokens, windowTokens }) => ({
    message: `prompt is too long: ${neededTokens} tokens > ${windowTokens} maximum`,
  }),
  "openai-chat": ({ neededTokens, windowTokens }) => ({
    message: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${neededTokens} tokens. Please reduce the length of the messages.`,
    code: "context_length_exceeded",
    param: "messages",
  }),
  "openai-responses": () => ({
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    code: "context_length_exceeded",
    param: "input",
  }),
  gemini: ({ neededTokens, windowTokens }) => ({
    message: `The input token count (${neededTokens}) exceeds the maximum number of tokens allowed (${windowTokens}).`,
  }),
}

const contextContent = (format: Format, need: ContextNeed): ErrorContent => ({
  status: 400,
  ...contextMessages[format](need),
})

/** A context-length error exactly as the provider would send it. */
export const contextError = (format: Format, need: ContextNeed): WireError =>
  answer(format, contextContent(format, need), true)

/** Limit on the length of error messages, because they may quote text of a client or an upstream. */
const maxMessageLength = 4000

/** Value of `retry-after`: locks are released and stores recover within moments. */
const defaultRetrySeconds = 1

/** Problems that a retry does not solve. */
const permanent: ReadonlySet<Problem["code"]> = new Set(
  namesIn(
    "response-invalid stream-invalid call-withheld stream-event-too-large upstream-too-large prompty-invalid stack-invalid source-unreadable store-newer package-missing turn-too-long",
  ),
)

/** The error content of a problem. A context that is too long gets the provider's own message. */
export function saidOf(format: Format | undefined, problem: Problem): ErrorContent {
  const need = contextNeed(problem)
  return format === undefined || need === undefined ? contentOf(problem) : contextContent(format, need)
}

/** The sizes of a context that is too long; undefined for other problems. */
export function contextNeed(problem: Problem): ContextNeed | undefined {
  if (problem.code === "budget-impossible")
    return { neededTokens: problem.neededTokens, windowTokens: problem.budgetTokens }
  if (problem.code === "floor-exceeds-window")
    return { neededTokens: problem.floorTokens, windowTokens: problem.windowTokens }
  return undefined
}

const pathCodes = ["store-full", "store-unavailable", "store-locked", "store-newer"] as const
type WithPath = Extract<Problem, { readonly code: (typeof pathCodes)[number] }>
const hasStorePath = (problem: Problem): problem is WithPath => pathCodes.some((code) => code === problem.code)

/** The path of the store is shown to the operator, not to clients. */
function withoutStorePath(problem: Problem): Problem {
  if (!hasStorePath(problem)) return problem
  const { path: _path, ...rest } = problem
  return rest
}

function contentOf(problem: Problem): ErrorContent {
  const { sentence, next } = describe(withoutStorePath(problem))
  const theirs = problem.code === "upstream-error" || problem.code === "access-refused" ? (problem.status ?? 0) : 0
  const status = Number.isInteger(theirs) && theirs >= 400 && theirs <= 599 ? theirs : statusOf[problem.code]
  return { status, message: `${sentence} ${next}`.slice(0, maxMessageLength).toWellFormed(), code: problem.code }
}

/** A problem as an error response in the request's format; in OpenAI's format if none is known. */
export const wireError = (format: Format | undefined, problem: Problem): WireError =>
  answer(format, saidOf(format, problem), permanent.has(problem.code))

/** A refusal that is not a Problem (a path, a host, a token) in the same formats. */
export const wireRefusal = (
  format: Format | undefined,
  { status, message }: Pick<ErrorContent, "status" | "message">,
): WireError => answer(format, { status, message }, false)

/** An error response; retry headers only if they say something. */
function answer(format: Format | undefined, content: ErrorContent, isPermanent: boolean): WireError {
  const pointless = isPermanent || (content.status < 500 && content.status !== 408 && content.status !== 429)
  const waits = content.status === 429 || content.status === 503
  return {
    status: content.status,
    headers: {
      "content-type": "application/json",
      ...(waits && !pointless ? { "retry-after": String(defaultRetrySeconds) } : {}),
      ...(pointless ? { "x-should-retry": "false" } : {}),
    },
    body: errorBody(format, content),
  }
}

/** The content of an error, before it is written in a format. */
type ErrorContent = {
  readonly status: number
  readonly message: string
  /** The `code` of OpenAI errors: one of OpenAI's, or a Problem code. */
  readonly code?: string
  /** The `param` of OpenAI errors: the invalid field. */
  readonly param?: string
}

/** A complete HTTP error response. */
export type WireError = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The error name of each status in each API: https://docs.anthropic.com/en/api/errors, https://cloud.google.com/apis/design/errors. OpenAI
 * puts the cause into `code`; its `type` says whose fault it is.
 */
const errorNames: Readonly<Record<ApiFamily, Readonly<Record<string, string>>>> = names

function anthropicError({ status, message }: ErrorContent): object {
  const type = errorNames.anthropic[status] ?? (status >= 500 ? "api_error" : "invalid_request_error")
  return { type: "error", error: { type, message } }
}

function openaiError({ status, message, code, param }: ErrorContent) {
  const type = status >= 500 ? "server_error" : status === 429 ? "rate_limit_error" : "invalid_request_error"
  return { message, type, param: param ?? null, code: errorNames.openai[status] ?? code ?? null }
}

function geminiError({ status, message }: ErrorContent): object {
  const name = errorNames.gemini[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT")
  return { error: { code: status, message, status: name } }
}

/** The error body in the provider's format; in OpenAI's if there is none. */
function errorBody(format: Format | undefined, content: ErrorContent): string {
  if (format === "anthropic-messages") return JSON.stringify(anthropicError(content))
  return JSON.stringify(format === "gemini" ? geminiError(content) : { error: openaiError(content) })
}

/** The position in an OpenAI response stream: the id that it began with, and the number of the next event. */
type StreamErrorOptions = { readonly responseId?: string; readonly sequence?: number }

/** A problem as the final events of a stream in progress, as bytes. */
export function streamError(format: Format, problem: Problem, options: StreamErrorOptions = {}): readonly Uint8Array[] {
  const content = saidOf(format, problem)
  if (format === "openai-responses") return responsesEvents(content, options)
  const name = format === "anthropic-messages" ? "error" : undefined
  return [createSseEvent(errorBody(format, content), name).raw]
}

/** Writes both events, because some clients read only the first kind, some only the second. */
function responsesEvents(
  content: ErrorContent,
  { responseId, sequence = 0 }: StreamErrorOptions,
): readonly Uint8Array[] {
  const { message, param, code } = openaiError(content)
  const known = code === null || content.status >= 500 ? "server_error" : code
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
