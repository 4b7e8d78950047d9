import type { Transform } from "node:stream"
import * as zlib from "node:zlib"
import type { Problem } from "../../message/errors.ts"
import type { Upstream } from "../settings/upstream.ts"
import { isCredential } from "./headers.ts"
import type { Taker, UpstreamAnswer } from "./transport.ts"

/** What came is passed on as it comes: a stream is not held back until its end. */
const streams: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ["x-gzip", () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ["deflate", () => zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ["br", () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH })],
])

/** How an answer is packed, in lower case; nothing if it is not. */
export function packingOf({ headers }: Pick<UpstreamAnswer, "headers">): string | undefined {
  const said = String(headers["content-encoding"] ?? "")
    .trim()
    .toLowerCase()
  return said === "" || said === "identity" ? undefined : said
}

/**
 * The same answer, unpacked as it comes where its upstream packed it though it was asked not to: who reads it reads what the client will
 * read. One packed in a way that is not known here stays as it is.
 */
export function unpackedAnswer(answer: UpstreamAnswer): UpstreamAnswer {
  const open = streams.get(packingOf(answer) ?? "")
  if (open === undefined) return answer
  const { "content-encoding": _packing, "content-length": _length, ...headers } = answer.headers
  let stream: Transform | undefined
  return {
    ...answer,
    headers,
    rawHeaders: withoutPacking(answer.rawHeaders),
    take: (taker) => {
      stream = open()
      unpackInto(answer, stream, taker)
    },
    resume: () => stream?.resume(),
  }
}

const notUnpacked: Problem = {
  code: "response-invalid",
  path: "content-encoding",
  expected: "a body packed as it says",
  found: "one that does not unpack",
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
    fail(notUnpacked)
    answer.drop()
  })
  stream.on("drain", answer.resume)
  answer.take({ data: (chunk) => stream.write(chunk), end: () => stream.end(), fail })
}

function withoutPacking(raw: UpstreamAnswer["rawHeaders"]): UpstreamAnswer["rawHeaders"] {
  const isKept = (n: number): boolean => !/^content-(?:encoding|length)$/i.test(String(raw[n - (n % 2)]))
  return raw.filter((_piece, n) => isKept(n))
}

/** An answer as it came, and the error that its stream begins with, if it does. */
type Peeked = { readonly answer: UpstreamAnswer; readonly error?: string }

/** An error that is about the request comes right behind the events that open the stream. */
const waitMs = 3000
/** The opening event of an answer may repeat the instructions and tools of the request. */
const maxBytes = 2 * 1024 * 1024

/**
 * See how a stream of the Responses API begins, before anything of it is passed on: a request that is too long may be refused in it,
 * where every other wire has a status for that. What was seen is passed on first, as it came.
 */
export function peekAtStream(answer: UpstreamAnswer): Promise<Peeked> {
  const { promise, resolve } = Promise.withResolvers<Peeked>()
  let seen: Buffer[] = []
  let given: Taker | undefined
  /** How it ended, where that was before anyone took it. */
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

/** What a stream begins with, as far as it is there: events that open it, then an error or something else. */
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

/** What is shorter than any key may stand in an answer by chance. */
const leastLength = 8

/**
 * The same answer with the upstream's own key blotted out wherever the upstream says it, in an error that quotes it or in a header: the
 * client never had it and is not to have it. What stands in its place is as long, so nothing else changes.
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
  return keys.filter((key) => key.length >= leastLength).map((key) => Buffer.from(key))
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
      const end = all.length - Math.max(...secrets.map((secret) => begun(all, secret)))
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

const blot = 0x2a

function masked(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  let result = bytes
  for (const secret of secrets) {
    for (let at = result.indexOf(secret); at >= 0; at = result.indexOf(secret, at + secret.length)) {
      if (result === bytes) result = Buffer.from(bytes)
      result.fill(blot, at, at + secret.length)
    }
  }
  return result
}

/** How much of a secret the bytes end with, short of all of it: the rest may be in the next ones. */
function begun(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, bytes.length); length > 0; length--) {
    if (bytes.compare(secret, 0, length, bytes.length - length) === 0) return length
  }
  return 0
}
