import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { errors, Pool } from "undici"
import { HoldfastError, type Problem } from "../../message/errors.ts"
import type { Upstream } from "../settings/upstream.ts"

/** A request as it goes upstream. */
export type UpstreamRequest = {
  readonly upstream: Upstream
  readonly origin: string
  readonly path: string
  readonly method: string
  /** Names and values in turn, as they are to be written. */
  readonly headers: string[]
  readonly body: Buffer | Readable | undefined
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** Who takes the bytes of an answer. `data` says whether it can take more at once. */
export type Taker = {
  readonly data: (chunk: Buffer) => boolean
  readonly end: () => void
  readonly fail: (problem: Problem) => void
}

/** An answer whose head is there. Its bytes wait until someone takes them. */
export type UpstreamAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly (string | Buffer)[]
  readonly attempts: number
  readonly take: (taker: Taker) => void
  /** Go on after `data` said that it could not take more. */
  readonly resume: () => void
  /** Let go of the rest. */
  readonly drop: () => void
}

export type Transport = {
  readonly send: (sending: UpstreamRequest) => Promise<UpstreamAnswer>
  readonly close: () => Promise<void>
}

/** How long an idle connection is kept: providers close theirs after a minute or so. */
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
        const again = outcome.passing && attempt <= sending.upstream.retries && !isStream(sending.body)
        if (!again || sending.signal.aborted) throw new HoldfastError(outcome.problem, { cause: outcome.cause })
        await sleep(firstWaitMs * 2 ** (attempt - 1))
      }
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

/** What was read from a stream cannot be sent a second time. */
const isStream = (body: UpstreamRequest["body"]): boolean => body !== undefined && !Buffer.isBuffer(body)

type Failed = { readonly problem: Problem; readonly passing: boolean; readonly cause: unknown }

function dispatch(pool: Pool, sending: UpstreamRequest, attempts: number): Promise<UpstreamAnswer | Failed> {
  const { upstream, path, method, headers, body, signal, origin } = sending
  const { promise, resolve } = Promise.withResolvers<UpstreamAnswer | Failed>()
  let taker: Taker | undefined
  /** How it ended, where that was before anyone took it: an answer without a body does. */
  let ending: ((given: Taker) => void) | undefined
  let answered = false
  let abort = (): void => {}
  const stopped = (): void => abort()
  /** Word that an answer will come is no answer, however often it is given: it does not move the limit. */
  let waiting: NodeJS.Timeout | undefined
  const over = (): void => {
    clearTimeout(waiting)
    signal.removeEventListener("abort", stopped)
  }
  const gathered = createGathered((bytes) => taker?.data(bytes) !== false)
  pool.dispatch(
    { path, method, headers, body: body ?? null },
    {
      onRequestStart: (controller) => {
        abort = () => controller.abort(new Error("nobody waits for the answer"))
        signal.addEventListener("abort", stopped, { once: true })
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
          resume: () => controller.resume(),
          drop: () => controller.abort(new Error("the rest is not wanted")),
        })
      },
      onResponseData: (controller, chunk) => {
        gathered.add(chunk, () => controller.pause())
      },
      onResponseEnd: () => {
        over()
        gathered.give()
        ending = (given) => given.end()
        if (taker !== undefined) ending(taker)
      },
      onResponseError: (_controller, error) => {
        over()
        const failed = failureOf(error, new URL(origin).host, upstream, signal)
        if (!answered) return resolve(failed)
        gathered.give()
        ending = (given) => given.fail(failed.problem)
        if (taker !== undefined) ending(taker)
      },
    },
  )
  return promise
}

type Gathered = { readonly add: (chunk: Buffer, pause: () => void) => void; readonly give: () => boolean }

/** What one read of the socket brought is given on together, for it may be a thousand chunks of a byte. */
function createGathered(take: (bytes: Buffer) => boolean): Gathered {
  let chunks: Buffer[] = []
  const give = (): boolean => {
    const [first] = chunks
    if (first === undefined) return true
    const bytes = chunks.length === 1 ? first : Buffer.concat(chunks)
    chunks = []
    return take(bytes)
  }
  return {
    add: (chunk, pause) => {
      if (chunks.push(chunk) > 1) return
      queueMicrotask(() => {
        if (!give()) pause()
      })
    },
    give,
  }
}

const late = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/

function failureOf(error: Error, host: string, { answerMs, idleMs }: Upstream, { aborted }: AbortSignal): Failed {
  const code = codeOf(error)
  if (aborted) return { problem: { code: "upstream-stopped", host }, passing: false, cause: error }
  if (late.test(code)) {
    const limitMs = code.includes("HEADERS") ? answerMs : idleMs
    return { problem: { code: "upstream-timeout", host, limitMs }, passing: false, cause: error }
  }
  const reason = code === "" ? "the connection broke off" : code
  return { problem: { code: "upstream-unreachable", host, reason }, passing: true, cause: error }
}

function codeOf(error: Error): string {
  if ("code" in error && typeof error.code === "string") return error.code
  return error.cause instanceof Error ? codeOf(error.cause) : ""
}

/** Bytes that may wait before the upstream is asked to pause. */
const maxWaitingBytes = 1024 * 1024

/** The bytes of an answer, one chunk after the other. An answer that breaks off throws why; leaving the loop lets go of the rest. */
export async function* chunksOf(answer: UpstreamAnswer): AsyncGenerator<Buffer, void, undefined> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let ended = false
  let failed: Problem | undefined
  let wake = (): void => {}
  const told = (): void => wake()
  answer.take({
    data: (chunk) => {
      waiting.push(chunk)
      waitingBytes += chunk.length
      told()
      return waitingBytes < maxWaitingBytes
    },
    end: () => {
      ended = true
      told()
    },
    fail: (problem) => {
      failed = problem
      told()
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

/** All bytes of an answer up to a limit; nothing if it has more. */
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
