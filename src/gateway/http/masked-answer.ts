import type { Upstream } from "../settings/upstream.ts"
import { isCredential } from "./request-headers-key.ts"
import type { Taker, UpstreamAnswer } from "./transport.ts"

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
