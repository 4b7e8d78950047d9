import type { Job } from "../store.ts"

/** Runs a job. If it throws, the job is retried a few times. `signal` aborts when the job is cancelled or the queue closes. */
export type Handler = (job: Job, signal: AbortSignal) => Promise<void>

type WorkOptions = {
  /** Concurrent jobs in this process. */
  readonly concurrency: number
}

/**
 * A queue of background jobs: at least once, one at a time for each key, also across processes and after a crash. Implementations are
 * tested by `describeQueue`.
 */
export type Queue = {
  /** Returns false if a job with this key waits or runs in any process. */
  readonly add: (job: Job) => Promise<boolean>
  /** Start running jobs, including those left over from before a restart. */
  readonly work: (handler: Handler, options: WorkOptions) => Promise<void>
  /** Cancel a job: it never starts, or its signal aborts. */
  readonly cancel: (session: string, key: string) => Promise<void>
  /** Resolves once no job runs or waits that this process could run now. */
  readonly idle: () => Promise<void>
  /** Stop taking jobs, abort the running ones, and free them for other processes. */
  readonly close: () => Promise<void>
}
