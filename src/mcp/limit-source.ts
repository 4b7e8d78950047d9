import { HoldfastError } from "../message/errors.ts"
import { withinMs } from "../model/within-ms.ts"
import type { McpSource } from "./source.ts"

/** Questions that a source answers at once. An agent asks a few at a time; more is a runaway. */
const maxAtOnce = 64

/** Longer than any store takes; a client's own patience ends after a minute (the SDK's default). */
export const maxAnswerMs = 30_000

type SourceLimits = { readonly atOnce?: number; readonly answerMs?: number }

const unavailable = (reason: string) => ({ code: "store-unavailable", store: "session", reason }) as const

/** The same source, which says no rather than pile up work, and which never keeps anyone waiting for good. */
export function limitSource(
  source: McpSource,
  { atOnce = maxAtOnce, answerMs = maxAnswerMs }: SourceLimits = {},
): McpSource {
  let running = 0
  const limited = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    if (running >= atOnce) throw new HoldfastError(unavailable(`${atOnce} questions are being answered already`))
    running++
    // A question that comes too late still runs, and counts until it has ended.
    const counted = async (): Promise<Value> => {
      try {
        return await ask()
      } finally {
        running--
      }
    }
    return await withinMs(counted, answerMs, () => unavailable(`no answer within ${answerMs} ms`))
  }
  return {
    recall: (handle, range) => limited(() => source.recall(handle, range)),
    search: (query) => limited(() => source.search(query)),
    pins: () => limited(() => source.pins()),
    traces: (limit) => limited(() => source.traces(limit)),
    trace: (id) => limited(() => source.trace(id)),
  }
}
