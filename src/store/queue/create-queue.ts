import { assert } from "../../message/assert.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Job } from "../store.ts"
import { jobId } from "./job-id.ts"
import type { JobSource, TakenJob } from "./job-source.ts"
import type { Handler, Queue } from "./queue.ts"
import { checkCount, type QueueSettings } from "./queue-options.ts"

/** More at once would only wait for one another in one process. */
const mostConcurrent = 1_000

/** How long `close` waits for handlers that do not heed their signal; a job that is still worked on then keeps its lease. */
const graceMs = 5_000

type Desk = {
  readonly source: JobSource
  readonly settings: QueueSettings
  /** What runs here, by job id. */
  readonly holds: Map<string, Hold>
  /** Cancelled while a job was being taken: the answer may still name them. */
  readonly dropped: Set<string>
  readonly runs: Set<Promise<void>>
}

/** A queue over a source of jobs. A source that fails delays jobs and loses none. */
export function createQueue(source: JobSource, settings: QueueSettings): Queue {
  const desk: Desk = { source, settings, holds: new Map(), dropped: new Set(), runs: new Set() }
  let pump: Pump | undefined
  let closing: Promise<void> | undefined
  const mustBeOpen = (): void => {
    if (closing !== undefined) throw new HoldfastError({ code: "store-closed", store: "queue" })
  }
  return {
    add: async (job) => {
      mustBeOpen()
      desk.dropped.delete(jobId(job))
      const added = await source.put(plainJob(job))
      if (added) pump?.wake()
      return added
    },
    work: async (handler, { concurrency }) => {
      mustBeOpen()
      checkCount("concurrency", concurrency, mostConcurrent)
      assert(pump === undefined, "a queue is given its handler once")
      const closed = (): boolean => closing !== undefined
      pump = createPump(() => take(desk, handler, closed), { ...settings, concurrency })
      pump.wake()
    },
    cancel: async (session, key) => {
      mustBeOpen()
      await cancel(desk, session, key)
    },
    idle: async () => pump?.idle(),
    close: () => {
      closing ??= closeDesk(desk, () => pump?.stop())
      return closing
    },
  }
}

/** Begins the next job, or says that none is due and free. */
async function take(desk: Desk, handler: Handler, closed: () => boolean): Promise<Begun | undefined> {
  const { source, settings, holds, dropped } = desk
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
      // Our own lease ran out while the handler went on: not a second time beside it.
      await source.free(job, settings.leaseMs)
    } else if (worn(job.attempt, settings.maxAttempts)) {
      await source.finish(job)
      giveUp(job, { type: "failed", reason: "it was cut short too often" }, settings)
    } else {
      const ended = run(desk, id, job, handler).finally(() => desk.runs.delete(ended))
      desk.runs.add(ended)
      return { ended }
    }
  }
}

async function run({ source, settings, holds }: Desk, id: string, job: TakenJob, handler: Handler): Promise<void> {
  const hold = createHold(job, source, settings)
  holds.set(id, hold)
  const outcome = await attempt(handler, job, hold.signal)
  await hold.release()
  // Before the source knows: as soon as it does, the job may be taken again, here too.
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

/** One that runs here is over when its handler ends; any other is over now. */
async function cancel({ source, holds, dropped }: Desk, session: string, key: string): Promise<void> {
  const id = jobId({ session, key })
  const hold = holds.get(id)
  if (hold !== undefined) return hold.stop("cancelled")
  dropped.add(id)
  await source.drop(session, key)
}

async function closeDesk({ holds, runs }: Desk, stop: () => Promise<void> | undefined): Promise<void> {
  const stopped = stop()
  for (const hold of holds.values()) hold.stop("closing")
  await stopped
  const grace = Promise.withResolvers<void>()
  const timer = setTimeout(grace.resolve, graceMs)
  await Promise.race([Promise.all(runs), grace.promise])
  clearTimeout(timer)
}

/** How an attempt ended: done, or failed for a reason. */
type Outcome = { readonly type: "done" } | { readonly type: "failed"; readonly reason: unknown }

/**
 * Writes down what became of a job. A source that fails is asked again for as long as the lease lasts; after that the job is anyone's,
 * and done again rather than lost.
 */
async function settle(hold: Hold, outcome: Outcome, source: JobSource, settings: QueueSettings): Promise<void> {
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
  hold: Hold,
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

/** Tells that a job is gone for good. */
function giveUp(job: Job, outcome: Outcome, { onGiveUp, onProblem }: QueueSettings): void {
  try {
    onGiveUp(plainJob(job), outcome.type === "failed" ? outcome.reason : undefined)
  } catch (reason) {
    onProblem(reason)
  }
}

/** The job as it was added, without what its source keeps beside it. */
function plainJob({ key, session, kind, payload }: Job): Job {
  return { key, session, kind, payload }
}

/** A job that this process holds. */
type Hold = {
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
function createHold(job: TakenJob, source: JobSource, { now, leaseMs, onProblem }: QueueSettings): Hold {
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

/** Work that was begun; `ended` never rejects. */
type Begun = { readonly ended: Promise<void> }

type PumpOptions = {
  readonly concurrency: number
  readonly pollMs: number
  readonly onProblem: (reason: unknown) => void
}

/** Begins work while there is room for it: when woken, when some ends, and every `pollMs`. */
type Pump = {
  readonly wake: () => void
  /** Ends once nothing runs and there is nothing to begin. */
  readonly idle: () => Promise<void>
  /** Begins nothing more; what runs goes on. */
  readonly stop: () => Promise<void>
}

/** `take` begins the next piece of work, or says that there is none. It may throw: then it is asked again later. */
function createPump(take: () => Promise<Begun | undefined>, options: PumpOptions): Pump {
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
  /** A round that begins after this call; true if it left nothing behind. */
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
    idle: async () => {
      while (!stopped) {
        const dry = await look()
        if (dry && running.size === 0) return
        await (running.size > 0 ? Promise.race(running) : pause(options.pollMs))
      }
    },
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await current
    },
  }
}

/** A pause that keeps no program alive. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}

/** Why a job's signal fired: its user, our own close, its row gone from the store, or its lease run out. */
export type Stop = "cancelled" | "closing" | "gone" | "lost"

/** What becomes of a job after an attempt. `leave` means that it is no longer ours to touch. */
export type RetryVerdict =
  | { readonly type: "finish" }
  | { readonly type: "give-up" }
  | { readonly type: "postpone"; readonly pauseMs: number }
  | { readonly type: "leave" }

type Attempt = {
  readonly stop: Stop | undefined
  readonly failed: boolean
  readonly attempt: number
  readonly maxAttempts: number
  readonly retryMs: number
}

/** No pause is longer: by then a person has looked, or the job no longer matters. */
const longestPauseMs = 15 * 60_000

/** The whole policy of retries. A handler that was told to stop has not said that its job is done, so the job is freed for another. */
export function retryDecision({ stop, failed, attempt, maxAttempts, retryMs }: Attempt): RetryVerdict {
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
