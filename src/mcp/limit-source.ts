import { HoldfastError } from "../message/errors.ts"
import { withinMs } from "../model/within-ms.ts"
import type { McpSource } from "./source.ts"

/** The most queries that a source answers at once. An agent asks a few at a time. */
const maxAtOnce = 64

/** Longer than any store takes, and shorter than the SDK's default timeout of a minute. */
export const maxAnswerMs = 30_000

type SourceLimits = { readonly atOnce?: number; readonly answerMs?: number }

const unavailable = (reason: string) => ({ code: "store-unavailable", store: "session", reason }) as const

/** The same source with limits: it refuses rather than queue work, and every query ends. */
export function limitSource(
  source: McpSource,
  { atOnce = maxAtOnce, answerMs = maxAnswerMs }: SourceLimits = {},
): McpSource {
  let running = 0
  const limited = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    if (running >= atOnce) throw new HoldfastError(unavailable(`${atOnce} questions are being answered already`))
    running++
    // A query that reached its time limit still runs, and counts until it has ended.
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
