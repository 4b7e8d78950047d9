import { HoldfastError, type Problem } from "../../message/errors.ts"
import type { UpstreamAnswer } from "./transport.ts"

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
