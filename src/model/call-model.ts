import { HoldfastError, type Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { ModelResponse } from "../message/request.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { addressOf, readBaseUrl, type Whereabouts } from "./address.ts"
import { createDeadline, type Deadline } from "./deadline.ts"
import { causeOf, createTelling, fail, failureIn, readAnswer } from "./failure.ts"
import { readLimited } from "./read-limited.ts"
import { readStream } from "./read-stream.ts"
import { askedWaitMs, isPassing, pause, type RetryPolicy, retryWaitMs, usualRetry } from "./retry.ts"

/** Where a model is, the limits on a call to it, and what a test may put in place of clock, chance and waiting. */
export type CallOptions = Whereabouts &
  Partial<RetryPolicy> & {
    /** For each attempt, the last byte of its answer included. */
    readonly timeoutMs: number
    readonly maxResponseBytes: number
    readonly now?: () => number
    readonly random?: () => number
    readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  }

/** A body as it is to be sent. `stream` must say what the body says: on Gemini it decides the path. */
export type ModelCall = {
  readonly body: string
  readonly stream: boolean
  readonly signal?: AbortSignal
  readonly onRetry?: (retry: Retry) => void
}

/** An attempt that came to nothing, and how long until the next. */
export type Retry = { readonly attempt: number; readonly waitMs: number; readonly problem: Problem }

/** A server may answer whole what was asked for as a stream. Events are there to be looped over once: until then the connection stays. */
export type Called = { readonly status: number; readonly headers: Readonly<Record<string, string>> } & (
  | { readonly type: "whole"; readonly response: ModelResponse }
  | { readonly type: "stream"; readonly events: AsyncIterable<StreamEvent> }
)

type Refused = {
  readonly type: "refused"
  readonly problem: Problem
  readonly passing: boolean
  readonly askedMs?: number
}

/**
 * Send one body to a model. A call that came to nothing before the first byte of an answer, because of the connection, too many
 * requests or the server's own fault, is made again. Whatever goes wrong is a `HoldfastError`, and no key is ever in it.
 */
export async function callModel(options: CallOptions, call: ModelCall): Promise<Called> {
  const { wait = pause, random = Math.random } = options
  const policy: RetryPolicy = { ...usualRetry, ...present(pick(options)) }
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

const pick = ({ retries, maxRetryWaitMs }: CallOptions) => ({ retries, maxRetryWaitMs })

async function send(options: CallOptions, call: ModelCall, host: string): Promise<Called | Refused> {
  const deadline = createDeadline(host, options.timeoutMs, call.signal)
  let streams = false
  try {
    const { url, headers } = addressOf(options, call.stream)
    const { body } = call
    if (deadline.signal.aborted) fail(deadline.problem() ?? { code: "upstream-stopped", host })
    // A redirect would carry the key to wherever it points.
    const asked = { method: "POST", headers, body, signal: deadline.signal, redirect: "manual" } as const
    const response = await fetch(url, asked).catch((cause: unknown) => broken(deadline, host, cause))
    // Not by its class: servers such as Hono's put their own Response in the place of the global one.
    if ("problem" in response) return response
    const answer = await read(response, options, call, { deadline, host })
    streams = answer.type === "stream"
    return answer
  } finally {
    // A stream has its time limit until its end.
    if (!streams) deadline.end()
  }
}

/** No connection, or none any more: ours to end was no failure of the server's. */
function broken(deadline: Deadline, host: string, cause: unknown): Refused {
  const problem = deadline.problem()
  if (problem !== undefined) throw new HoldfastError(problem)
  return { type: "refused", passing: true, problem: { code: "upstream-unreachable", host, reason: causeOf(cause) } }
}

type Reading = { readonly deadline: Deadline; readonly host: string }

async function read(
  response: Response,
  options: CallOptions,
  { stream }: ModelCall,
  { deadline, host }: Reading,
): Promise<Called | Refused> {
  const { format, maxResponseBytes: limitBytes, now = Date.now } = options
  const tell = createTelling(options)
  const { status } = response
  const headers = Object.fromEntries(response.headers)
  // Some servers forget to say that it is a stream of events; one that sends JSON or a page says so.
  const isEvents = !/\b(?:json|html)\b/i.test(response.headers.get("content-type") ?? "")
  if (stream && response.ok && response.body !== null && isEvents) {
    const events = readStream(response.body, { format, host, limitBytes, deadline, tell })
    return { type: "stream", status, headers, events }
  }
  const text = await readLimited(response, limitBytes).catch((cause: unknown) =>
    fail(broken(deadline, host, cause).problem),
  )
  if (text === undefined) return fail({ code: "upstream-too-large", host, limitBytes })
  const problem = failureIn(text, response, tell)
  if (problem === undefined) return { type: "whole", status, headers, response: readAnswer(format, text) }
  const askedMs = askedWaitMs(response.headers, now)
  return { type: "refused", problem, passing: isPassing(status), ...present({ askedMs }) }
}
