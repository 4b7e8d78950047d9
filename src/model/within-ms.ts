import { HoldfastError, type Problem } from "../message/errors.ts"

/** The longest wait that a timer takes (2^31 - 1 ms); a longer one would fire at once. */
export const longestMs = 2_147_483_647

/**
 * Run something for at most `ms`. When the time is up, or `stop` says so first, its signal aborts and the promise is rejected with what
 * `onLate` or `onStop` says, whether or not the thing heeds the signal; what it still does after that is nobody's concern.
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
    // A function that throws before it promises anything is caught here as well.
    const work = controller.signal.aborted ? promise : Promise.resolve().then(() => run(controller.signal))
    return await Promise.race([promise, work])
  } finally {
    clearTimeout(timer)
    stop?.signal.removeEventListener("abort", stopped)
  }
}
