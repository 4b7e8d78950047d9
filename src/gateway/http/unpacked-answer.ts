import type { Transform } from "node:stream"
import * as zlib from "node:zlib"
import type { Problem } from "../../message/errors.ts"
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
