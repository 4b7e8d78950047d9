import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format, ModelResponse } from "../message/message.ts"
import { present } from "../message/present.ts"
import { decodeResponse } from "../wire/decode.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../wire/sse.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { decodeEnd, decodeStep, startDecode } from "../wire/stream-steps.ts"
import { addressOf, type ModelAddress, readBaseUrl } from "./address.ts"
import { createMask } from "./secret.ts"
import { longestMs } from "./within-ms.ts"

/** A model, the limits of a call, and replacements for clock, random numbers and waiting in tests. */
export type CallOptions = ModelAddress &
  Partial<RetryPolicy> & {
    /** Time limit of each attempt, from the request to the last byte of the answer. */
    readonly timeoutMs: number
    readonly maxResponseBytes: number
    readonly now?: () => number
    readonly random?: () => number
    readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  }

/** A body to send. `stream` must agree with the body: on Gemini it decides the path. */
export type ModelCall = {
  readonly body: string
  readonly stream: boolean
  readonly signal?: AbortSignal
  readonly onRetry?: (retry: Retry) => void
}

/** A failed attempt, and the wait before the next one. */
export type Retry = { readonly attempt: number; readonly waitMs: number; readonly problem: Problem }

/**
 * The answer to a call; a server may answer a streaming request with a whole body. The events can be read once, and the connection stays
 * open until then.
 */
export type Called = { readonly status: number; readonly headers: Readonly<Record<string, string>> } & (
  | { readonly type: "whole"; readonly response: ModelResponse }
  | { readonly type: "stream"; readonly events: AsyncIterable<StreamEvent> }
)

type FailedAttempt = {
  readonly type: "refused"
  readonly problem: Problem
  readonly passing: boolean
  readonly askedMs?: number
}

/**
 * Sends one body to a model. A call that fails before the first byte of an answer (connection error, too many requests, server error) is
 * retried. Every failure is a `HoldfastError`, and none contains a key.
 */
export async function callModel(options: CallOptions, call: ModelCall): Promise<Called> {
  const { wait = pause, random = Math.random, retries, maxRetryWaitMs } = options
  const policy: RetryPolicy = { ...usualRetry, ...present({ retries, maxRetryWaitMs }) }
  const { host } = readBaseUrl(options.baseUrl)
  for (let attempt = 1; ; attempt++) {
    const answer = await send(options, call, host)
    if (answer.type !== "refused") return answer
    const { problem, passing, askedMs } = answer
    const waitMs =
      passing && attempt <= policy.retries
        ? retryWaitMs(policy, { attempt, random, ...present({ askedMs }) })
        : undefined
    if (waitMs === undefined) return fail(problem)
    call.onRetry?.({ attempt, waitMs, problem })
    await wait(waitMs, call.signal)
    if (call.signal?.aborted === true) return fail({ code: "upstream-stopped", host })
  }
}

async function send(options: CallOptions, call: ModelCall, host: string): Promise<Called | FailedAttempt> {
  const deadline = createDeadline(host, options.timeoutMs, call.signal)
  const { url, headers } = addressOf(options, call.stream)
  const { body } = call
  // Following a redirect would send the key to another address.
  const asked = { method: "POST", headers, body, signal: deadline.signal, redirect: "manual" } as const
  const response = await fetch(url, asked).catch((cause: unknown) => broken(deadline, cause))
  // No instanceof check: servers such as Hono's replace the global Response class.
  return "problem" in response ? response : read(response, options, call, deadline)
}

/** The connection failed or broke. If we ended it ourselves, that reason is reported instead. */
function broken({ host, problem }: Deadline, cause: unknown): FailedAttempt {
  const own = problem()
  if (own !== undefined) throw new HoldfastError(own)
  return { type: "refused", passing: true, problem: { code: "upstream-unreachable", host, reason: causeOf(cause) } }
}

async function read(
  response: Response,
  options: CallOptions,
  { stream }: ModelCall,
  deadline: Deadline,
): Promise<Called | FailedAttempt> {
  const { host } = deadline
  const { format, maxResponseBytes: limitBytes, now = Date.now } = options
  const tell = createMessageMask(options)
  const { status } = response
  const headers = Object.fromEntries(response.headers)
  // Some servers omit the content type of an event stream; one that sends JSON or HTML declares it.
  const isEvents = !/\b(?:json|html)\b/i.test(response.headers.get("content-type") ?? "")
  if (stream && response.ok && response.body !== null && isEvents) {
    const events = readStream(response.body, { format, limitBytes, deadline, tell })
    return { type: "stream", status, headers, events }
  }
  const text = await readLimited(response, limitBytes).catch((cause: unknown) => fail(broken(deadline, cause).problem))
  if (text === undefined) return fail({ code: "upstream-too-large", host, limitBytes })
  const problem = failureIn(text, response, tell)
  if (problem === undefined) return { type: "whole", status, headers, response: readModelResponse(format, text) }
  const askedMs = askedWaitMs(response.headers, now)
  return { type: "refused", problem, passing: isPassing(status), ...present({ askedMs }) }
}

/** When a failed call is made again. */
type RetryPolicy = {
  /** The most repetitions after the first attempt. */
  readonly retries: number
  /** If the server asks for a longer wait, the call is not repeated. */
  readonly maxRetryWaitMs: number
}

/** Two repetitions outlast a short overload; a longer outage is reported to the caller. */
const usualRetry: RetryPolicy = { retries: 2, maxRetryWaitMs: 30_000 }

/** The first wait if the server names none; it doubles with each attempt. */
const firstWaitMs = 500

/** Too many requests or a server error: the same request may succeed later. */
const isPassing = (status: number): boolean => status === 429 || (status >= 500 && status <= 599)

/** The wait before attempt number `attempt` (the first repetition is 1); undefined if it is longer than allowed. */
function retryWaitMs(
  { maxRetryWaitMs }: RetryPolicy,
  { attempt, askedMs, random }: { readonly attempt: number; readonly askedMs?: number; readonly random: () => number },
): number | undefined {
  const own = Math.min(maxRetryWaitMs, firstWaitMs * 2 ** (attempt - 1)) * (0.75 + random() / 4)
  const waitMs = askedMs ?? own
  return waitMs > maxRetryWaitMs ? undefined : Math.ceil(waitMs)
}

/** The wait that a server asks for: in milliseconds, in seconds, or as a date. */
function askedWaitMs(headers: Headers, now: () => number): number | undefined {
  const ms = headers.get("retry-after-ms")?.trim() ?? ""
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(ms)) return Number(ms)
  const after = headers.get("retry-after")?.trim() ?? ""
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(after)) return Number(after) * 1000
  const at = after.length > 100 || !/[a-z]/i.test(after) ? Number.NaN : Date.parse(after)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now())
}

/** Waits; the signal ends the wait early. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const timer = setTimeout(end, Math.min(ms, longestMs))
  signal?.addEventListener("abort", end, { once: true })
  if (signal?.aborted === true) end()
  await promise
  clearTimeout(timer)
  signal?.removeEventListener("abort", end)
}

type StreamReading = {
  readonly format: Format
  readonly limitBytes: number
  readonly deadline: Deadline
  readonly tell: (text: string) => string
}

/**
 * The events of a streamed answer. An error that the server reports and a stream that breaks off are `error` events; an abort, the time
 * limit and an answer that is too large are thrown. Leaving the loop closes the connection.
 */
async function* readStream(
  body: AsyncIterable<Uint8Array>,
  { format, limitBytes, deadline, tell }: StreamReading,
): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startDecode(format)
  const read = (wire: readonly SseEvent[]): readonly StreamEvent[] => {
    const all: StreamEvent[] = []
    for (const sse of wire) {
      const [next, events] = decodeStep(state, sse)
      state = next
      for (const event of events) all.push(maskEvent(event, tell))
    }
    return all
  }
  let sse = startSse()
  let length = 0
  for await (const chunk of unbroken(body, deadline)) {
    length += chunk.byteLength
    if (length > limitBytes) fail({ code: "upstream-too-large", host: deadline.host, limitBytes })
    const [next, wire] = sseStep(sse, chunk)
    sse = next
    yield* read(wire)
  }
  yield* read(sseEnd(sse))
  yield* decodeEnd(state)
}

/** The chunks until the connection breaks; the reader of the stream decides what that means. Only our own abort is thrown. */
async function* unbroken(body: AsyncIterable<Uint8Array>, deadline: Deadline): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (cause) {
    const problem = deadline.problem()
    if (problem !== undefined) throw new HoldfastError(problem)
    if (!(cause instanceof Error)) throw cause
  }
}

/** Servers may repeat what they were sent: secrets are removed from error messages. */
function maskEvent(event: StreamEvent, tell: (text: string) => string): StreamEvent {
  if (event.type !== "error" || event.problem.code !== "upstream-error") return event
  const { type, message } = event.problem
  return { ...event, problem: { ...event.problem, type: tell(type), message: tell(message) || "no message" } }
}

type Deadline = ReturnType<typeof createDeadline>

/** A signal that aborts at the time limit or when the caller aborts, and knows which of the two it was. */
function createDeadline(host: string, limitMs: number, stop: AbortSignal | undefined) {
  const late = AbortSignal.timeout(Math.min(Math.max(0, Math.ceil(limitMs)), longestMs))
  const signal = stop === undefined ? late : AbortSignal.any([stop, late])
  const problem = (): Problem | undefined => {
    if (!signal.aborted) return undefined
    return signal.reason === late.reason
      ? { code: "upstream-timeout", host, limitMs }
      : { code: "upstream-stopped", host }
  }
  return { host, signal, problem }
}

/** Maximum length of a reported error message: enough for a person, too short for a page of HTML. */
const longestMessage = 300

/** Creates a function that prepares a server's text for a message: one line, short, and without the secrets of the call. */
function createMessageMask({ baseUrl, apiKey, headers }: ModelAddress): (text: string) => string {
  const { password, searchParams } = readBaseUrl(baseUrl)
  const mask = createMask([apiKey, password, ...searchParams.values(), ...Object.values(headers ?? {})])
  return (text) => mask(text).replace(/\s+/g, " ").trim().slice(0, longestMessage)
}

export function fail(problem: Problem): never {
  throw new HoldfastError(problem)
}

/** The system's error code. Never the error's message: it may quote a header. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  return typeof code === "string" && /^[A-Z_]{2,40}$/.test(code) ? code : "the connection failed or could not be made"
}

/** The error that the API reports, by its status or, as some proxies do, in a body with status 200. */
function failureIn(
  text: string,
  { ok, status }: Response,
  tell: (text: string) => string,
): Extract<Problem, { code: "upstream-error" }> | undefined {
  const body = tryParse(text)
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error = isObject(first) ? first.error : undefined
  if (ok && !isObject(error)) return undefined
  const type = isObject(error) ? (error.type ?? error.status ?? error.code) : undefined
  const message = isObject(error) ? error.message : (error ?? text)
  return {
    code: "upstream-error",
    type: typeof type === "string" ? tell(type) : "error",
    message: tell(typeof message === "string" ? message : text) || "no message",
    status,
  }
}

/** Reads a complete response; text that is not JSON is a Problem that does not quote it. */
function readModelResponse(format: Format, text: string): ModelResponse {
  try {
    return decodeResponse(format, text)
  } catch (error) {
    // The JSON parser's message quotes the body.
    if (!(error instanceof HoldfastError) || !error.problem.code.startsWith("json-")) throw error
    return fail({ code: "response-invalid", path: "the body", expected: "JSON", found: "text that is not JSON" })
  }
}

/** Reads the body of a response as text; undefined if it is larger than the limit, beyond which nothing is read. */
export async function readLimited(response: Response, limitBytes: number): Promise<string | undefined> {
  const announced = Number(response.headers.get("content-length") ?? 0)
  if (announced > limitBytes) {
    await response.body?.cancel()
    return undefined
  }
  if (response.body === null) return ""
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let length = 0
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of response.body) {
    length += chunk.byteLength
    if (length > limitBytes) return undefined
    pieces.push(decoder.decode(chunk, { stream: true }))
  }
  pieces.push(decoder.decode())
  return pieces.join("")
}
