import type { Transform } from "node:stream"
import * as zlib from "node:zlib"
import type { Problem } from "../../message/errors.ts"
import { isCredential, type Upstream } from "../settings/upstream.ts"
import { bare } from "./headers.ts"
import type { Taker, UpstreamAnswer } from "./transport.ts"

/** Decompressors that emit output as it arrives, so that a stream is not delayed until its end. */
const streams: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ["x-gzip", () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ["deflate", () => zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ["br", () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH })],
])

/** The content encoding of a response, in lower case; undefined if there is none. */
export function packingOf({ headers }: Pick<UpstreamAnswer, "headers">): string | undefined {
  const encoding = String(headers["content-encoding"] ?? "")
    .trim()
    .toLowerCase()
  return encoding === "" || encoding === "identity" ? undefined : encoding
}

/** Decompresses a response that the upstream compressed although asked not to: the guard must read what the client will read. */
export function unpackedAnswer(answer: UpstreamAnswer): UpstreamAnswer {
  const open = streams.get(packingOf(answer) ?? "")
  if (open === undefined) return answer
  const { "content-encoding": _packing, "content-length": _length, ...headers } = answer.headers
  let stream: Transform | undefined
  return {
    ...answer,
    headers,
    rawHeaders: bare(answer.rawHeaders, ["content-encoding", "content-length"]),
    take: (taker) => {
      stream = open()
      unpackInto(answer, stream, taker)
    },
    resume: () => stream?.resume(),
  }
}

const notDecompressed: Problem = {
  code: "response-invalid",
  path: "content-encoding",
  expected: "a body in the stated encoding",
  found: "a body that cannot be decompressed",
}

function unpackInto(answer: UpstreamAnswer, stream: Transform, taker: Taker): void {
  let isOver = false
  const fail = (problem: Problem): void => {
    if (!isOver) taker.fail(problem)
    isOver = true
    stream.destroy()
  }
  stream.on("data", (chunk: Buffer) => {
    if (!taker.data(chunk)) stream.pause()
  })
  stream.on("end", () => {
    if (!isOver) taker.end()
    isOver = true
  })
  stream.on("error", () => {
    fail(notDecompressed)
    answer.drop()
  })
  stream.on("drain", answer.resume)
  answer.take({ data: (chunk) => stream.write(chunk), end: () => stream.end(), fail })
}

/** A response, and the error that its stream begins with, if there is one. */
type PeekResult = { readonly answer: UpstreamAnswer; readonly error?: string }

/** Time to wait for the beginning of a stream: an error about the request follows right after the opening events. */
const waitMs = 3000
/** Limit on bytes examined: the opening event may repeat the instructions and tools of the request. */
const maxBytes = 2 * 1024 * 1024

/**
 * Reads the beginning of a Responses API stream before relaying it: this API may refuse a request that is too long inside the stream, where
 * the others use a status code. The bytes read are relayed first, unchanged.
 */
export function peekAtStream(answer: UpstreamAnswer): Promise<PeekResult> {
  const { promise, resolve } = Promise.withResolvers<PeekResult>()
  let seen: Buffer[] = []
  let given: Taker | undefined
  /** Reports the end, if the response ended before `take` was called. */
  let ending: ((taker: Taker) => void) | undefined
  const replayed: UpstreamAnswer = {
    ...answer,
    take: (taker) => {
      let mayGoOn = true
      for (const chunk of seen) mayGoOn = taker.data(chunk)
      seen = []
      given = taker
      if (ending !== undefined) ending(taker)
      else if (mayGoOn) answer.resume()
    },
  }
  const settle = (error?: string): void => {
    clearTimeout(timer)
    resolve({ answer: replayed, ...(error === undefined ? {} : { error }) })
  }
  const timer = setTimeout(settle, waitMs)
  const end = (how: (taker: Taker) => void): void => {
    if (given === undefined) {
      ending = how
      settle()
    } else how(given)
  }
  answer.take({
    data: (chunk) => {
      if (given !== undefined) return given.data(chunk)
      seen.push(chunk)
      const begins = beginningOf(Buffer.concat(seen))
      if (begins === "opening") return true
      settle(begins === "other" ? undefined : begins.error)
      return false
    },
    end: () => end((taker) => taker.end()),
    fail: (problem) => end((taker) => taker.fail(problem)),
  })
  return promise
}

const openings: ReadonlySet<string> = new Set(["response.created", "response.queued", "response.in_progress"])
const failures: ReadonlySet<string> = new Set(["response.failed", "error"])

/** The beginning of a stream so far: opening events, then an error or something else. */
function beginningOf(bytes: Buffer): "opening" | "other" | { readonly error: string } {
  if (bytes.length > maxBytes) return "other"
  const blocks = bytes.toString("utf8").split(/\r?\n\r?\n/)
  for (const block of blocks.slice(0, -1)) {
    const data = block.replace(/^(?!data:).*(?:\n|$)/gm, "").replace(/^data: ?/gm, "")
    const type = /^event: ?(\S+)/m.exec(block)?.[1] ?? /"type" ?: ?"([\w.]+)"/.exec(data.slice(0, 200))?.[1] ?? ""
    if (failures.has(type)) return { error: data }
    if (data !== "" && !openings.has(type)) return "other"
  }
  return "opening"
}

/** Minimum length of a key to mask: a shorter text may occur in a response by chance. */
const minLength = 8

/**
 * Masks the upstream's own key in a response, in a header or in an error that quotes it: the client must not see it. The mask has the same
 * length, so that nothing else changes.
 */
export function maskedAnswer(answer: UpstreamAnswer, upstream: Pick<Upstream, "apiKey" | "headers">): UpstreamAnswer {
  const secrets = secretsOf(upstream)
  if (secrets.length === 0) return answer
  return {
    ...answer,
    rawHeaders: answer.rawHeaders.map((piece) =>
      masked(Buffer.from(typeof piece === "string" ? piece : piece.toString("latin1"), "latin1"), secrets),
    ),
    take: (taker) => answer.take(maskingTaker(taker, secrets)),
  }
}

function secretsOf({ apiKey, headers = {} }: Pick<Upstream, "apiKey" | "headers">): readonly Buffer[] {
  const given = Object.entries(headers).flatMap(([name, value]) => (isCredential(name) ? [value] : []))
  const keys = [...(apiKey === undefined ? [] : [apiKey]), ...given].map((key) => key.replace(/^\S+\s+/, "").trim())
  return keys.filter((key) => key.length >= minLength).map((key) => Buffer.from(key))
}

function maskingTaker(taker: Taker, secrets: readonly Buffer[]): Taker {
  let held = Buffer.alloc(0)
  const flush = (): void => {
    if (held.length > 0) taker.data(held)
    held = Buffer.alloc(0)
  }
  return {
    data: (chunk) => {
      const all = masked(held.length === 0 ? chunk : Buffer.concat([held, chunk]), secrets)
      const end = all.length - Math.max(...secrets.map((secret) => partialLength(all, secret)))
      held = Buffer.from(all.subarray(end))
      return end === 0 || taker.data(all.subarray(0, end))
    },
    end: () => {
      flush()
      taker.end()
    },
    fail: (problem) => {
      flush()
      taker.fail(problem)
    },
  }
}

const maskByte = 0x2a

function masked(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  let result = bytes
  for (const secret of secrets) {
    for (let at = result.indexOf(secret); at >= 0; at = result.indexOf(secret, at + secret.length)) {
      if (result === bytes) result = Buffer.from(bytes)
      result.fill(maskByte, at, at + secret.length)
    }
  }
  return result
}

/** The length of the longest proper prefix of the secret that the bytes end with: the rest may follow in the next chunk. */
function partialLength(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length--) {
    if (bytes.compare(secret, 0, length, bytes.length - length) === 0) return length
  }
  return 0
}
