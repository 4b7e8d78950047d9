import type { Job, LeasedJob } from "../store.ts"

/** A job that was taken; `ticket` is what the source knows it by. */
export type TakenJob = LeasedJob & { readonly ticket: string }

/** Where a queue's jobs wait. Taking one is atomic, and it is nobody else's until its lease ends. Each call may throw; then it did nothing. */
export type JobSource = {
  /** False if a job of this session and key waits or runs already. */
  readonly put: (job: Job) => Promise<boolean>
  /** The next job that is due and free. */
  readonly take: () => Promise<TakenJob | undefined>
  /** Until when the job is ours now; `undefined` if it is no longer there. */
  readonly renew: (job: TakenJob) => Promise<number | undefined>
  /** The job is over and gone. */
  readonly finish: (job: TakenJob) => Promise<void>
  /** The job is free again after a pause. */
  readonly free: (job: TakenJob, pauseMs: number) => Promise<void>
  /** The job of this session and key is gone, whoever has it. */
  readonly drop: (session: string, key: string) => Promise<void>
}
