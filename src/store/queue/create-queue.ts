import { assert } from "../../message/assert.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Job } from "../job.ts"
import { createHold, type Hold } from "./hold.ts"
import { jobId } from "./job-id.ts"
import type { JobSource, TakenJob } from "./job-source.ts"
import { type Begun, createPump, type Pump } from "./pump.ts"
import type { Handler, Queue } from "./queue.ts"
import { checkCount, type QueueSettings } from "./queue-options.ts"
import { giveUp, type Outcome, plainJob, settle } from "./settle.ts"
import { worn } from "./verdict.ts"

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
