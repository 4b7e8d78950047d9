import { setTimeout as sleep } from "node:timers/promises"
import { assert } from "../../message/assert.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Job, JobStore } from "../store.ts"
import {
  checkCount,
  checkQueueNames,
  type Handler,
  type JobSource,
  jobId,
  type Queue,
  type QueueOptions,
  type QueueSettings,
  queueSettings,
  type TakenJob,
} from "./queue.ts"

/** Limit on concurrency: more jobs would only wait for each other in one process. */
const mostConcurrent = 1_000

/** How long `close` waits for handlers that ignore their signal; a job that still runs then keeps its lease. */
const graceMs = 5_000

type QueueState = {
  readonly source: JobSource
  readonly settings: QueueSettings
  /** Jobs running here, by job id. */
  readonly holds: Map<string, LeaseHold>
  /** Jobs cancelled while `take` was pending, which may still return them. */
  readonly dropped: Set<string>
  readonly runs: Set<Promise<void>>
}

/** A queue over a job source. Failures of the source delay jobs but lose none. */
export function createQueue(source: JobSource, settings: QueueSettings): Queue {
  const state: QueueState = { source, settings, holds: new Map(), dropped: new Set(), runs: new Set() }
  let pump: Pump | undefined
  let closing: Promise<void> | undefined
  const mustBeOpen = (): void => {
    if (closing !== undefined) throw new HoldfastError({ code: "store-closed", store: "queue" })
  }
  return {
    add: async (job) => {
      mustBeOpen()
      state.dropped.delete(jobId(job))
      const added = await source.put(plainJob(job))
      if (added) pump?.wake()
      return added
    },
    work: async (handler, { concurrency }) => {
      mustBeOpen()
      checkCount("concurrency", concurrency, mostConcurrent)
      assert(pump === undefined, "a queue is given its handler once")
      const closed = (): boolean => closing !== undefined
      pump = createPump(() => take(state, handler, closed), { ...settings, concurrency })
      pump.wake()
    },
    cancel: async (session, key) => {
      mustBeOpen()
      await cancel(state, session, key)
    },
    idle: async () => pump?.idle(),
    close: () => {
      closing ??= closeQueue(state, () => pump?.stop())
      return closing
    },
  }
}

/** Starts the next job; undefined if none is due and free. */
async function take(state: QueueState, handler: Handler, closed: () => boolean): Promise<StartedWork | undefined> {
  const { source, settings, holds, dropped } = state
  for (;;) {
    dropped.clear()
    const job = await source.take()
    if (job === undefined) return undefined
    const id = jobId(job)
    if (closed()) {
      await source.free(job, 0)
      return undefined
    }
    if (dropped.has(id)) continue
    if (holds.has(id)) {
      // Our own lease expired while the handler still runs: do not start it twice.
      await source.free(job, settings.leaseMs)
    } else if (worn(job.attempt, settings.maxAttempts)) {
      await source.finish(job)
      giveUp(job, { type: "failed", reason: "it was interrupted too often" }, settings)
    } else {
      const ended = run(state, id, job, handler).finally(() => state.runs.delete(ended))
      state.runs.add(ended)
      return { ended }
    }
  }
}

async function run(
  { source, settings, holds }: QueueState,
  id: string,
  job: TakenJob,
  handler: Handler,
): Promise<void> {
  const hold = createHold(job, source, settings)
  holds.set(id, hold)
  const outcome = await attempt(handler, job, hold.signal)
  await hold.release()
  // Delete before the source is updated: after that, the job may be taken again, even here.
  holds.delete(id)
  await settle(hold, outcome, source, settings)
}

async function attempt(handler: Handler, job: Job, signal: AbortSignal): Promise<Outcome> {
  try {
    await handler(plainJob(job), signal)
    return { type: "done" }
  } catch (reason) {
    return { type: "failed", reason }
  }
}

/** Cancels a job. A running one ends with its handler; any other is removed now. */
async function cancel({ source, holds, dropped }: QueueState, session: string, key: string): Promise<void> {
  const id = jobId({ session, key })
  const hold = holds.get(id)
  if (hold !== undefined) return hold.stop("cancelled")
  dropped.add(id)
  await source.drop(session, key)
}

async function closeQueue({ holds, runs }: QueueState, stop: () => Promise<void> | undefined): Promise<void> {
  const stopped = stop()
  for (const hold of holds.values()) hold.stop("closing")
  await stopped
  const grace = Promise.withResolvers<void>()
  const timer = setTimeout(grace.resolve, graceMs)
  await Promise.race([Promise.all(runs), grace.promise])
  clearTimeout(timer)
}

type Outcome = { readonly type: "done" } | { readonly type: "failed"; readonly reason: unknown }

/** Stores the outcome of a job, trying as long as the lease lasts; after that another process may run it again, so it is not lost. */
async function settle(hold: LeaseHold, outcome: Outcome, source: JobSource, settings: QueueSettings): Promise<void> {
  const { job } = hold
  const failed = outcome.type === "failed"
  const verdict = retryDecision({ ...settings, stop: hold.stopped(), failed, attempt: job.attempt })
  if (verdict.type === "leave") return
  const write = (): Promise<void> =>
    verdict.type === "postpone" ? source.free(job, verdict.pauseMs) : source.finish(job)
  const written = await writeWhileHeld(write, hold, settings)
  if (written && verdict.type === "give-up") giveUp(job, outcome, settings)
}

async function writeWhileHeld(
  write: () => Promise<void>,
  hold: LeaseHold,
  { pollMs, leaseMs, onProblem }: QueueSettings,
): Promise<boolean> {
  while (hold.lasts()) {
    try {
      await write()
      return true
    } catch (reason) {
      onProblem(reason)
    }
    await pause(Math.min(pollMs, leaseMs))
  }
  return false
}

/** Reports that a job is given up. */
function giveUp(job: Job, outcome: Outcome, { onGiveUp, onProblem }: QueueSettings): void {
  try {
    onGiveUp(plainJob(job), outcome.type === "failed" ? outcome.reason : undefined)
  } catch (reason) {
    onProblem(reason)
  }
}

/** The job as it was added, without fields of its source. */
function plainJob({ key, session, kind, payload }: Job): Job {
  return { key, session, kind, payload }
}

/** A job leased by this process. */
type LeaseHold = ReturnType<typeof createHold>

/** Renewals during one lease: two may fail before the job is lost. */
const renewalsInLease = 3

/** Keeps a job leased until it is released. If the job is gone from its source, or the lease expired without renewal, the signal aborts. */
function createHold(job: TakenJob, source: JobSource, { now, leaseMs, onProblem }: QueueSettings) {
  const abort = new AbortController()
  let stopped: Stop | undefined
  let untilMs = job.leasedUntilMs
  let renewal: Promise<void> | undefined
  /** Aborts the signal; the first reason stays. */
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
    stopped: (): Stop | undefined => stopped,
    /** True while the lease lasts. */
    lasts: (): boolean => now() < untilMs,
    /** Stops renewing the lease. */
    release: async (): Promise<void> => {
      clearInterval(timer)
      await renewal
    },
  }
}

/** Started work; `ended` never rejects. */
type StartedWork = { readonly ended: Promise<void> }

type PumpOptions = Pick<QueueSettings, "pollMs" | "onProblem"> & { readonly concurrency: number }

type Pump = ReturnType<typeof createPump>

/**
 * Starts work while below the concurrency limit: when woken, when some work ends, and every `pollMs`. `take` starts the next piece of work;
 * undefined if there is none. If it throws, it is called again later.
 */
function createPump(take: () => Promise<StartedWork | undefined>, options: PumpOptions) {
  const running = new Set<Promise<void>>()
  let stopped = false
  let current: Promise<boolean> | undefined
  let following: Promise<boolean> | undefined
  const round = async (): Promise<boolean> => {
    while (!stopped && running.size < options.concurrency) {
      const begun = await take()
      if (begun === undefined) return true
      const ended = begun.ended.then(() => {
        running.delete(ended)
        wake()
      })
      running.add(ended)
    }
    return false
  }
  const begin = (): Promise<boolean> => {
    current ??= round()
      .catch((reason: unknown) => {
        options.onProblem(reason)
        return false
      })
      .finally(() => {
        current = undefined
      })
    return current
  }
  /** A round that starts after this call; true if there was nothing left to start. */
  const look = (): Promise<boolean> => {
    if (current === undefined) return begin()
    following ??= current.then(() => {
      following = undefined
      return begin()
    })
    return following
  }
  const wake = (): void => {
    if (!stopped) void look()
  }
  const timer = setInterval(wake, options.pollMs)
  timer.unref()
  return {
    wake,
    /** Resolves once nothing runs and there is nothing to start. */
    idle: async (): Promise<void> => {
      while (!stopped) {
        const dry = await look()
        if (dry && running.size === 0) return
        await (running.size > 0 ? Promise.race(running) : pause(options.pollMs))
      }
    },
    /** Starts nothing more; running work continues. */
    stop: async (): Promise<void> => {
      stopped = true
      clearInterval(timer)
      await current
    },
  }
}

/** A pause that does not keep the process alive. */
const pause = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false })

/** Why a job's signal aborted: cancelled by its user, the queue closes, its row is gone, or its lease expired. */
export type Stop = "cancelled" | "closing" | "gone" | "lost"

/** What to do with a job after an attempt. `leave`: it is no longer ours. */
export type RetryVerdict =
  | { readonly type: "finish" }
  | { readonly type: "give-up" }
  | { readonly type: "postpone"; readonly pauseMs: number }
  | { readonly type: "leave" }

type Attempt = Pick<QueueSettings, "maxAttempts" | "retryMs"> &
  Pick<TakenJob, "attempt"> & { readonly stop: Stop | undefined; readonly failed: boolean }

/** Longest pause between attempts: by then a person has looked, or the job no longer matters. */
const longestPauseMs = 15 * 60_000

/** The retry policy. A handler that was aborted has not finished its job, so the job is freed for another process. */
export function retryDecision({ stop, failed, attempt, maxAttempts, retryMs }: Attempt): RetryVerdict {
  if (stop === "gone" || stop === "lost") return { type: "leave" }
  if (stop === "cancelled") return { type: "finish" }
  if (stop === "closing") return { type: "postpone", pauseMs: 0 }
  if (!failed) return { type: "finish" }
  if (attempt >= maxAttempts) return { type: "give-up" }
  return { type: "postpone", pauseMs: Math.min(retryMs * 2 ** (attempt - 1), longestPauseMs) }
}

/**
 * True if a job has been interrupted too often. A restart may interrupt it as often as it may fail. A job taken more often than both
 * together crashes its process each time, and is not started again.
 */
export function worn(attempt: number, maxAttempts: number): boolean {
  return attempt > 2 * maxAttempts
}

/** A queue over a store's jobs, run in this process; a lease keeps two processes from running the same job. */
export function createInProcessQueue(jobs: JobStore, options: QueueOptions = {}): Queue {
  checkQueueNames(options, "createInProcessQueue")
  const settings = queueSettings(options)
  return createQueue(sourceOf(jobs, settings), settings)
}

/** Postponing a running job renews its lease: nobody else gets it before that time. */
function sourceOf(jobs: JobStore, { now, leaseMs }: QueueSettings): JobSource {
  return {
    put: (job) => jobs.put(job, now()),
    take: async () => {
      const job = await jobs.lease(now(), leaseMs)
      return job === undefined ? undefined : { ...job, ticket: "" }
    },
    renew: async ({ session, key }) => {
      const rows = await jobs.list(session)
      if (!rows.some((row) => row.key === key)) return undefined
      const untilMs = now() + leaseMs
      await jobs.postpone(session, key, untilMs)
      return untilMs
    },
    finish: ({ session, key }) => jobs.finish(session, key),
    free: ({ session, key }, pauseMs) => jobs.postpone(session, key, now() + pauseMs),
    drop: (session, key) => jobs.finish(session, key),
  }
}
