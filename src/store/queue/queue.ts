import { refuseOption } from "../../message/errors.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import { sha256Hex } from "../../message/sha256.ts"
import type { Job, LeasedJob } from "../store.ts"

/** Runs a job. If it throws, the job is retried a few times. `signal` aborts when the job is cancelled or the queue closes. */
export type Handler = (job: Job, signal: AbortSignal) => Promise<void>

type WorkOptions = {
  /** Concurrent jobs in this process. */
  readonly concurrency: number
}

/** Background jobs: at least once, one at a time for each key, across processes and crashes. Tested by `describeQueue`. */
export type Queue = {
  /** Returns false if a job with this key waits or runs in any process. */
  readonly add: (job: Job) => Promise<boolean>
  /** Starts running jobs, including those left over from before a restart. */
  readonly work: (handler: Handler, options: WorkOptions) => Promise<void>
  /** Cancels a job: it never starts, or its signal aborts. */
  readonly cancel: (session: string, key: string) => Promise<void>
  /** Resolves once no job runs or waits that this process could run now. */
  readonly idle: () => Promise<void>
  /** Stops taking jobs, aborts the running ones, and frees them for other processes. */
  readonly close: () => Promise<void>
}

/** A fixed-length id for a session and key, whatever characters they contain. */
export function jobId({ session, key }: Pick<Job, "session" | "key">): string {
  return sha256Hex(JSON.stringify([session, key]))
}

/** A leased job; `ticket` is the source's own id of it. */
export type TakenJob = LeasedJob & { readonly ticket: string }

/** The storage of a queue's jobs. A job taken is nobody else's until its lease ends. A call that throws has changed nothing. */
export type JobSource = {
  /** Returns false if a job of this session and key waits or runs. */
  readonly put: (job: Job) => Promise<boolean>
  /** The next job that is due and free. */
  readonly take: () => Promise<TakenJob | undefined>
  /** Renews the lease; returns its new end, or undefined if the job no longer exists. */
  readonly renew: (job: TakenJob) => Promise<number | undefined>
  readonly finish: (job: TakenJob) => Promise<void>
  readonly free: (job: TakenJob, pauseMs: number) => Promise<void>
  /** Removes the job of this session and key, whoever holds it. */
  readonly drop: (session: string, key: string) => Promise<void>
}

export type QueueOptions = {
  readonly now?: () => number
  /** How long a job stays leased without renewal; it is renewed well before that. */
  readonly leaseMs?: number
  /** Number of attempts before a job is given up. */
  readonly maxAttempts?: number
  /** The pause before the second attempt; each later pause is twice as long. */
  readonly retryMs?: number
  /** Interval for polling jobs that other processes added, abandoned or freed. */
  readonly pollMs?: number
  /** Called when a job failed its last attempt and was removed. */
  readonly onGiveUp?: (job: Job, reason: unknown) => void
  /** Called when something failed that will be retried. Must not throw. */
  readonly onProblem?: (reason: unknown) => void
}

/** Refuses unknown option names; `more` are names of this queue only. */
export const checkQueueNames = (options: object, owner: string, more: readonly string[] = []): void =>
  checkOptionNames(options, [...more, ...queueNames], owner)

const queueNames = optionNames<QueueOptions>()("now leaseMs maxAttempts retryMs pollMs onGiveUp onProblem")

export type QueueSettings = Required<QueueOptions>

/** A summary takes seconds to minutes; the lease is renewed, so this only limits how long a dead process holds a job. */
const leaseMs = 60_000

/** A model that failed four times in a quarter of a minute will not succeed for this prefix. */
const maxAttempts = 4
const retryMs = 2_000

/** One small query a second is cheap; it is the longest that a job of another process waits here. */
const pollMs = 1_000

/** The longest timer: beyond 32 bits, timers fire at once. */
const longestMs = 2 ** 31 - 1

export function queueSettings(options: QueueOptions): QueueSettings {
  const settings: QueueSettings = {
    now: Date.now,
    leaseMs,
    maxAttempts,
    retryMs,
    pollMs,
    onGiveUp: () => {},
    onProblem: () => {},
    ...options,
  }
  checkCount("leaseMs", settings.leaseMs, longestMs)
  checkCount("maxAttempts", settings.maxAttempts, 1_000)
  checkCount("retryMs", settings.retryMs, longestMs)
  checkCount("pollMs", settings.pollMs, longestMs)
  return settings
}

/** Checks for an integer from 1 to `most`; throws an `option-invalid` Problem otherwise. */
export function checkCount(option: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return
  refuseOption(option, `a whole number from 1 to ${most}`, String(value).slice(0, 40))
}
