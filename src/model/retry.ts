import { longestMs } from "./within-ms.ts"

/** When a call that came to nothing is made again. */
export type RetryPolicy = {
  /** How often at most, beside the first time. */
  readonly retries: number
  /** A server that asks for a longer wait is not waited for. */
  readonly maxRetryWaitMs: number
}

/** Two more attempts outlast a short overload; an outage is for the caller to know of. */
export const usualRetry: RetryPolicy = { retries: 2, maxRetryWaitMs: 30_000 }

/** The first wait, doubled each time, where the server names none. */
const firstWaitMs = 500

/** Too many requests, and whatever is the server's own fault: the same request may be answered in a moment. */
export const isPassing = (status: number): boolean => status === 429 || (status >= 500 && status <= 599)

/** How long to wait before attempt number `attempt` (the first repetition is 1), or nothing if that is too long. */
export function retryWaitMs(
  { maxRetryWaitMs }: RetryPolicy,
  { attempt, askedMs, random }: { readonly attempt: number; readonly askedMs?: number; readonly random: () => number },
): number | undefined {
  const own = Math.min(maxRetryWaitMs, firstWaitMs * 2 ** (attempt - 1)) * (0.75 + random() / 4)
  const waitMs = askedMs ?? own
  return waitMs > maxRetryWaitMs ? undefined : Math.ceil(waitMs)
}

/** The wait that a server asks for: in milliseconds, in seconds, or as the hour at which to come again. */
export function askedWaitMs(headers: Headers, now: () => number): number | undefined {
  const ms = headers.get("retry-after-ms")?.trim() ?? ""
  if (/^\d{1,12}(?:\.\d{1,9})?$/.test(ms)) return Number(ms)
  const after = headers.get("retry-after")?.trim() ?? ""
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(after)) return Number(after) * 1000
  const at = after.length > 100 || !/[a-z]/i.test(after) ? Number.NaN : Date.parse(after)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now())
}

/** Let time pass; a signal ends it early. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => resolve()
  const timer = setTimeout(end, Math.min(ms, longestMs))
  signal?.addEventListener("abort", end, { once: true })
  if (signal?.aborted === true) end()
  await promise
  clearTimeout(timer)
  signal?.removeEventListener("abort", end)
}
