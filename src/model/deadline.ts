import type { Problem } from "../message/errors.ts"
import { longestMs } from "./within-ms.ts"

/** A signal that aborts when the time is up or the caller says stop, and remembers which it was. */
export type Deadline = {
  readonly signal: AbortSignal
  /** Why it aborted; nothing if it did not. */
  readonly problem: () => Problem | undefined
  /** Let go of the timer and the caller's signal. */
  readonly end: () => void
}

export function createDeadline(host: string, limitMs: number, stop: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  let problem: Problem | undefined
  const abort = (why: Problem): void => {
    problem ??= why
    controller.abort()
  }
  const stopped = (): void => abort({ code: "upstream-stopped", host })
  const timer = setTimeout(
    () => abort({ code: "upstream-timeout", host, limitMs }),
    Math.min(Math.max(0, limitMs), longestMs),
  )
  stop?.addEventListener("abort", stopped, { once: true })
  if (stop?.aborted === true) stopped()
  return {
    signal: controller.signal,
    problem: () => problem,
    end: () => {
      clearTimeout(timer)
      stop?.removeEventListener("abort", stopped)
    },
  }
}
