import type { Job, LeasedJob } from "../store.ts"

/** A leased job; `ticket` is the source's own id of it. */
export type TakenJob = LeasedJob & { readonly ticket: string }

/**
 * The storage of a queue's jobs. Taking one is atomic, and no one else gets it until its lease ends. A call that throws has changed
 * nothing.
 */
export type JobSource = {
  /** Returns false if a job of this session and key waits or runs. */
  readonly put: (job: Job) => Promise<boolean>
  /** The next job that is due and free. */
  readonly take: () => Promise<TakenJob | undefined>
  /** Renew the lease; returns its new end, or undefined if the job no longer exists. */
  readonly renew: (job: TakenJob) => Promise<number | undefined>
  /** Remove the finished job. */
  readonly finish: (job: TakenJob) => Promise<void>
  /** Free the job after a pause. */
  readonly free: (job: TakenJob, pauseMs: number) => Promise<void>
  /** Remove the job of this session and key, whoever holds it. */
  readonly drop: (session: string, key: string) => Promise<void>
}
