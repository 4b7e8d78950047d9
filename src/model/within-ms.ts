import { HoldfastError, type Problem } from "../message/errors.ts"

/** Maximum delay of a timer (2^31 - 1 ms); a longer one would fire at once. */
export const longestMs = 2_147_483_647

/**
 * Runs a function for at most `ms`. At the time limit, or when `stop` aborts, its signal aborts and the promise rejects with the error of
 * `onLate` or `onStop`, even if the function ignores the signal; what it does afterwards is ignored.
 */
export async function withinMs<Value>(
  run: (signal: AbortSignal) => Promise<Value> | Value,
  ms: number,
  onLate: () => Problem,
  stop?: { readonly signal: AbortSignal; readonly onStop: () => Problem },
): Promise<Value> {
  const controller = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const end = (problem: Problem): void => {
    reject(new HoldfastError(problem))
    controller.abort()
  }
  const stopped = (): void => {
    if (stop !== undefined) end(stop.onStop())
  }
  const timer = setTimeout(() => end(onLate()), Math.min(Math.max(0, ms), longestMs))
  stop?.signal.addEventListener("abort", stopped, { once: true })
  if (stop?.signal.aborted === true) stopped()
  try {
    // Also catches a function that throws synchronously.
    const work = controller.signal.aborted ? promise : Promise.resolve().then(() => run(controller.signal))
    return await Promise.race([promise, work])
  } finally {
    clearTimeout(timer)
    stop?.signal.removeEventListener("abort", stopped)
  }
}
