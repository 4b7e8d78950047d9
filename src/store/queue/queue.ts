import type { Job } from "../store.ts"

/** Does a job. It may throw: then the job is tried again, a few times. `signal` fires when the job is cancelled or the queue closes. */
export type Handler = (job: Job, signal: AbortSignal) => Promise<void>

type WorkOptions = {
  /** How many jobs run at once in this process. */
  readonly concurrency: number
}

/**
 * Background work: at least once, one at a time for each key, also across processes and after a crash. An implementation is held to
 * `describeQueue`.
 */
export type Queue = {
  /** False if a job of this key waits or runs already, anywhere. */
  readonly add: (job: Job) => Promise<boolean>
  /** Begin to take jobs, those left over from an earlier life included. */
  readonly work: (handler: Handler, options: WorkOptions) => Promise<void>
  /** The job is no longer wanted: it never starts, or its signal fires. */
  readonly cancel: (session: string, key: string) => Promise<void>
  /** Ends once no job runs or waits that this process could do now. */
  readonly idle: () => Promise<void>
  /** Stop taking jobs, fire the signals of those that run, and free them for someone else. */
  readonly close: () => Promise<void>
}
