import { HoldfastError, type Problem } from "../errors.ts"
import type { UpstreamAnswer } from "./transport.ts"

/** Chunks that may wait before the upstream is asked to pause. */
const maxWaiting = 16

/** The bytes of an answer, one chunk after the other. An answer that breaks off throws why; leaving the loop lets go of the rest. */
export async function* chunksOf(answer: UpstreamAnswer): AsyncGenerator<Buffer, void, undefined> {
  const waiting: Buffer[] = []
  let ended = false
  let failed: Problem | undefined
  let wake = (): void => {}
  const told = (): void => wake()
  answer.take({
    data: (chunk) => {
      waiting.push(chunk)
      told()
      return waiting.length < maxWaiting
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
      const chunk = waiting.shift()
      if (chunk !== undefined) {
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
export async function wholeOf(answer: UpstreamAnswer, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of chunksOf(answer)) {
    length += chunk.length
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
