import type { JobStore } from "../store.ts"
import { createQueue } from "./create-queue.ts"
import {
  checkQueueNames,
  type JobSource,
  type Queue,
  type QueueOptions,
  type QueueSettings,
  queueSettings,
} from "./queue.ts"

/**
 * A queue over a store's jobs, run in this process. Several processes may share the store: a lease prevents two from running the same job.
 */
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
