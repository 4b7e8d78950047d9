import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import errors from "undici/lib/core/errors.js"
import Pool from "undici/lib/dispatcher/pool.js"
import { HoldfastError, type Problem } from "../../message/errors.ts"
import { isDue, othersServed } from "../../store/pace.ts"
import type { Upstream } from "../settings/upstream.ts"

export type UpstreamRequest = {
  readonly upstream: Upstream
  readonly origin: string
  readonly path: string
  readonly method: string
  /** Alternating names and values. */
  readonly headers: string[]
  readonly body: Buffer | Readable | undefined
  /** Aborts when the client no longer waits for the response. */
  readonly signal: AbortSignal
}

/** Receives the bytes of a response. `data` returns whether more can be accepted at once. */
export type Taker = {
  readonly data: (chunk: Buffer) => boolean
  readonly end: () => void
  readonly fail: (problem: Problem) => void
}

/** A response whose headers have arrived. Its body waits until `take` is called. */
export type UpstreamAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Alternating names and values, as received. */
  readonly rawHeaders: readonly (string | Buffer)[]
  readonly attempts: number
  readonly take: (taker: Taker) => void
  /** Continues after `data` returned false. */
  readonly resume: () => void
  /** Aborts the rest of the response. */
  readonly drop: () => void
}

export type Transport = {
  readonly send: (sending: UpstreamRequest) => Promise<UpstreamAnswer>
  readonly close: () => Promise<void>
}

/** Time that an idle connection is kept: providers close theirs after about a minute. */
const keepAliveMs = 30_000
const firstWaitMs = 100

/** Connections to the upstreams, kept open between requests. */
export function createTransport(): Transport {
  const pools = new Map<string, Pool>()
  const poolFor = ({ upstream, origin }: UpstreamRequest): Pool => {
    const known = pools.get(`${upstream.name} ${origin}`)
    if (known !== undefined) return known
    const pool = new Pool(origin, {
      connect: { timeout: upstream.connectMs },
      headersTimeout: upstream.answerMs,
      bodyTimeout: upstream.idleMs,
      keepAliveTimeout: keepAliveMs,
      pipelining: 1,
    })
    pools.set(`${upstream.name} ${origin}`, pool)
    return pool
  }
  return {
    send: async (sending) => {
      for (let attempt = 1; ; attempt++) {
        const outcome = await dispatch(poolFor(sending), sending, attempt)
        if ("status" in outcome) return outcome
        const again = outcome.isTransient && attempt <= sending.upstream.retries && !isStream(sending.body)
        if (!again || sending.signal.aborted) throw new HoldfastError(outcome.problem, { cause: outcome.cause })
        await sleep(firstWaitMs * 2 ** (attempt - 1))
      }
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

/** A body that is a stream cannot be sent twice. */
const isStream = (body: UpstreamRequest["body"]): boolean => body !== undefined && !Buffer.isBuffer(body)

type FailedAttempt = { readonly problem: Problem; readonly isTransient: boolean; readonly cause: unknown }

function dispatch(pool: Pool, sending: UpstreamRequest, attempts: number): Promise<UpstreamAnswer | FailedAttempt> {
  const { upstream, path, method, headers, body, signal, origin } = sending
  const { promise, resolve } = Promise.withResolvers<UpstreamAnswer | FailedAttempt>()
  let taker: Taker | undefined
  /** Set if the response ended before `take` was called, as one without a body does; reports the end to the taker. */
  let ending: ((given: Taker) => void) | undefined
  let answered = false
  let abort = (): void => {}
  const onAbort = (): void => abort()
  /** Informational responses (1xx) do not extend the time limit for the response. */
  let waiting: NodeJS.Timeout | undefined
  const over = (): void => {
    clearTimeout(waiting)
    signal.removeEventListener("abort", onAbort)
  }
  const buffered = createChunkBuffer((bytes) => taker?.data(bytes) !== false)
  pool.dispatch(
    { path, method, headers, body: body ?? null },
    {
      onRequestStart: (controller) => {
        abort = () => controller.abort(new Error("the client no longer waits for the response"))
        signal.addEventListener("abort", onAbort, { once: true })
        if (signal.aborted) abort()
      },
      onResponseStart: (controller, status, parsed) => {
        if (status < 200) {
          waiting ??= setTimeout(() => controller.abort(new errors.HeadersTimeoutError()), upstream.answerMs)
          return
        }
        clearTimeout(waiting)
        controller.pause()
        answered = true
        const { rawHeaders } = controller
        resolve({
          status,
          headers: parsed,
          rawHeaders: Array.isArray(rawHeaders) ? rawHeaders : [],
          attempts,
          take: (given) => {
            taker = given
            if (ending === undefined) controller.resume()
            else ending(given)
          },
          resume: () => buffered.resume(controller),
          drop: () => controller.abort(new Error("the rest of the response is not needed")),
        })
      },
      onResponseData: (controller, chunk) => {
        buffered.add(chunk, controller)
      },
      onResponseEnd: () => {
        over()
        buffered.give()
        ending = (given) => given.end()
        if (taker !== undefined) ending(taker)
      },
      onResponseError: (_controller, error) => {
        over()
        const failed = failureOf(error, new URL(origin).host, upstream, signal)
        if (!answered) return resolve(failed)
        buffered.give()
        ending = (given) => given.fail(failed.problem)
        if (taker !== undefined) ending(taker)
      },
    },
  )
  return promise
}

type PausableRead = { readonly pause: () => void; readonly resume: () => void }

/** Number of chunks after which the elapsed time is checked. */
const chunksPerLook = 256

/**
 * Combines the chunks of one socket read: there may be twenty thousand chunks of one byte. If they take long, the parser is paused between
 * them, and other requests are served.
 */
function createChunkBuffer(take: (bytes: Buffer) => boolean) {
  let chunks: Buffer[] = []
  let wantsMore = true
  let isResting = false
  const give = (): void => {
    const [first] = chunks
    if (first === undefined) return
    const bytes = chunks.length === 1 ? first : Buffer.concat(chunks)
    chunks = []
    wantsMore = take(bytes)
  }
  return {
    add: (chunk: Buffer, controller: PausableRead): void => {
      const count = chunks.push(chunk)
      if (count === 1) {
        // After the parser has returned.
        queueMicrotask(() => {
          give()
          if (!wantsMore) controller.pause()
        })
      } else if (count % chunksPerLook === 0 && isDue()) {
        controller.pause()
        if (isResting) return
        isResting = true
        void othersServed().then(() => {
          isResting = false
          if (wantsMore) controller.resume()
        })
      }
    },
    give,
    /** The taker accepts more. */
    resume: (controller: PausableRead): void => {
      wantsMore = true
      if (!isResting) controller.resume()
    },
  }
}

const timeoutCode = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/

function failureOf(
  error: Error,
  host: string,
  { answerMs, idleMs }: Upstream,
  { aborted }: AbortSignal,
): FailedAttempt {
  const code = codeOf(error)
  if (aborted) return { problem: { code: "upstream-stopped", host }, isTransient: false, cause: error }
  if (timeoutCode.test(code)) {
    const limitMs = code.includes("HEADERS") ? answerMs : idleMs
    return { problem: { code: "upstream-timeout", host, limitMs }, isTransient: false, cause: error }
  }
  const reason = code === "" ? "the connection broke off" : code
  return { problem: { code: "upstream-unreachable", host, reason }, isTransient: true, cause: error }
}

function codeOf(error: Error): string {
  if ("code" in error && typeof error.code === "string") return error.code
  return error.cause instanceof Error ? codeOf(error.cause) : ""
}

/** Buffered bytes after which the upstream is paused. */
const maxWaitingBytes = 1024 * 1024

/** The chunks of a response. A response that breaks off throws its problem; leaving the loop aborts the rest. */
export async function* chunksOf(answer: UpstreamAnswer): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let ended = false
  let failed: Problem | undefined
  let wake = (): void => {}
  const notify = (): void => wake()
  answer.take({
    data: (chunk) => {
      waiting.push(chunk)
      waitingBytes += chunk.length
      notify()
      return waitingBytes < maxWaitingBytes
    },
    end: () => {
      ended = true
      notify()
    },
    fail: (problem) => {
      failed = problem
      notify()
    },
  })
  try {
    for (;;) {
      if (waiting.length > 0) {
        const chunk = waiting.length === 1 && waiting[0] !== undefined ? waiting[0] : Buffer.concat(waiting)
        waiting = []
        waitingBytes = 0
        yield chunk
        if (waiting.length === 0) answer.resume()
      } else if (failed !== undefined) {
        throw new HoldfastError(failed)
      } else if (ended) {
        return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    if (!ended && failed === undefined) answer.drop()
  }
}

/** All bytes of a response; undefined if it is larger than `maxBytes`. */
export async function readWhole(answer: UpstreamAnswer, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of chunksOf(answer)) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
