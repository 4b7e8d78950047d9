import type { JobSource, TakenJob } from "./job-source.ts"
import type { QueueSettings } from "./queue-options.ts"
import type { Stop } from "./verdict.ts"

/** A job that this process holds. */
export type Hold = {
  readonly job: TakenJob
  readonly signal: AbortSignal
  /** Fires the signal; the first reason stays. */
  readonly stop: (why: Stop) => void
  readonly stopped: () => Stop | undefined
  /** True while nobody else can have taken the job. */
  readonly lasts: () => boolean
  /** No renewal runs or comes after this. */
  readonly release: () => Promise<void>
}

/** Renewed three times in a lease: two may fail before the job is lost. */
const renewalsInLease = 3

/**
 * Holds a taken job until it is released, and renews its lease. If the job is gone from its source, or the lease ran out while nobody
 * renewed it, the signal fires.
 */
export function createHold(job: TakenJob, source: JobSource, { now, leaseMs, onProblem }: QueueSettings): Hold {
  const abort = new AbortController()
  let stopped: Stop | undefined
  let untilMs = job.leasedUntilMs
  let renewal: Promise<void> | undefined
  const stop = (why: Stop): void => {
    if (stopped !== undefined) return
    stopped = why
    abort.abort(why)
  }
  const renew = async (): Promise<void> => {
    if (now() >= untilMs) return stop("lost")
    const renewedMs = await source.renew(job)
    if (renewedMs === undefined) return stop("gone")
    untilMs = renewedMs
  }
  const timer = setInterval(
    () => {
      renewal ??= renew()
        .catch(onProblem)
        .finally(() => {
          renewal = undefined
        })
    },
    Math.ceil(leaseMs / renewalsInLease),
  )
  timer.unref()
  return {
    job,
    signal: abort.signal,
    stop,
    stopped: () => stopped,
    lasts: () => now() < untilMs,
    release: async () => {
      clearInterval(timer)
      await renewal
    },
  }
}
