/** Why a job's signal fired: its user, our own close, its row gone from the store, or its lease run out. */
export type Stop = "cancelled" | "closing" | "gone" | "lost"

/** What becomes of a job after an attempt. `leave` means that it is no longer ours to touch. */
export type Verdict =
  | { readonly type: "finish" }
  | { readonly type: "give-up" }
  | { readonly type: "postpone"; readonly pauseMs: number }
  | { readonly type: "leave" }

export type Attempt = {
  readonly stop: Stop | undefined
  readonly failed: boolean
  readonly attempt: number
  readonly maxAttempts: number
  readonly retryMs: number
}

/** No pause is longer: by then a person has looked, or the job no longer matters. */
const longestPauseMs = 15 * 60_000

/** The whole policy of retries. A handler that was told to stop has not said that its job is done, so the job is freed for another. */
export function judge({ stop, failed, attempt, maxAttempts, retryMs }: Attempt): Verdict {
  if (stop === "gone" || stop === "lost") return { type: "leave" }
  if (stop === "cancelled") return { type: "finish" }
  if (stop === "closing") return { type: "postpone", pauseMs: 0 }
  if (!failed) return { type: "finish" }
  if (attempt >= maxAttempts) return { type: "give-up" }
  return { type: "postpone", pauseMs: Math.min(retryMs * 2 ** (attempt - 1), longestPauseMs) }
}

/**
 * A job may be cut short by a restart as often as it may fail. One that was taken more often than both together ends its process each
 * time, and is not started again.
 */
export function worn(attempt: number, maxAttempts: number): boolean {
  return attempt > 2 * maxAttempts
}
