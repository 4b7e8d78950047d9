import { HoldfastError, type Problem } from "../message/errors.ts"

/** Wait for something until the signal says stop; what it still does after that is nobody's concern. */
export async function untilStopped<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  onStop: () => Problem,
): Promise<Value> {
  if (signal === undefined) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(new HoldfastError(onStop()))
  signal.addEventListener("abort", stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await Promise.race([promise, work])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
