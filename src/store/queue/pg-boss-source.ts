import type { Job } from "../job.ts"
import { jobId } from "./job-id.ts"
import type { JobSource, TakenJob } from "./job-source.ts"
import type { QueueSettings } from "./queue-options.ts"

/** What we ask of pg-boss. Its workers are not used: they look for jobs twice a second at most, and tell nobody when they are idle. */
export type Boss = {
  readonly send: (queue: string, data: object, options: { readonly singletonKey: string }) => Promise<string | null>
  readonly fetch: (queue: string, options: { includeMetadata: true; batchSize: number }) => Promise<readonly BossJob[]>
  readonly findJobs: (queue: string, options: { id?: string; key?: string }) => Promise<readonly BossJob[]>
  readonly touch: (queue: string, id: string) => Promise<unknown>
  readonly fail: (queue: string, id: string) => Promise<unknown>
  readonly deleteJob: (queue: string, ids: string[]) => Promise<unknown>
}

export type BossJob = {
  readonly id: string
  readonly data: unknown
  readonly state: string
  readonly retryCount: number
}

/** Jobs kept by pg-boss. A job travels as one JSON text inside its data: `jsonb` takes neither NUL nor half a character. */
export function createPgBossSource(boss: Boss, queue: string, { now, leaseMs }: QueueSettings): JobSource {
  const lasting = leasing(leaseMs)
  return {
    put: async (job) => {
      const id = await boss.send(queue, { job: JSON.stringify(job) }, { singletonKey: jobId(job) })
      return id !== null
    },
    take: async () => {
      // Counted from before the question: pg-boss counts from its answer, which is later.
      const leasedUntilMs = now() + leaseMs
      const [row] = await boss.fetch(queue, { includeMetadata: true, batchSize: 1 })
      if (row === undefined) return undefined
      const job = readJob(row.data)
      if (job !== undefined) return { ...job, ticket: row.id, attempt: row.retryCount + 1, leasedUntilMs }
      await boss.deleteJob(queue, [row.id])
      return undefined
    },
    renew: async ({ ticket, leasedUntilMs }: TakenJob) => {
      const untilMs = now() + leaseMs
      const [row] = await boss.findJobs(queue, { id: ticket })
      if (row === undefined || row.state !== "active") return undefined
      if (!lasting.renewable) return leasedUntilMs
      await boss.touch(queue, ticket)
      return untilMs
    },
    finish: async ({ ticket }) => void (await boss.deleteJob(queue, [ticket])),
    // How long the pause is, is for pg-boss to say.
    free: async ({ ticket }) => void (await boss.fail(queue, ticket)),
    drop: async (session, key) => {
      const rows = await boss.findJobs(queue, { key: jobId({ session, key }) })
      if (rows.length > 0)
        await boss.deleteJob(
          queue,
          rows.map(({ id }) => id),
        )
    },
  }
}

/** A heartbeat of less than ten seconds is refused by pg-boss. */
const shortestHeartbeatSeconds = 10

/** No job runs longer than this, heartbeat or not. */
const longestRunSeconds = 6 * 60 * 60

/**
 * How a lease is said to pg-boss: as a heartbeat, which a running job renews; or, where that is too short for one, as an expiry, which
 * ends whatever the handler does.
 */
export function leasing(leaseMs: number): {
  readonly renewable: boolean
  readonly options: { readonly expireInSeconds: number; readonly heartbeatSeconds?: number }
} {
  const seconds = Math.ceil(leaseMs / 1_000)
  if (seconds < shortestHeartbeatSeconds) return { renewable: false, options: { expireInSeconds: seconds } }
  const expireInSeconds = Math.max(longestRunSeconds, seconds)
  return { renewable: true, options: { expireInSeconds, heartbeatSeconds: seconds } }
}

function readJob(data: unknown): Job | undefined {
  if (typeof data !== "object" || data === null || !("job" in data) || typeof data.job !== "string") return undefined
  const job: unknown = JSON.parse(data.job)
  return isJob(job) ? job : undefined
}

function isJob(value: unknown): value is Job {
  if (typeof value !== "object" || value === null) return false
  return ["key", "session", "kind", "payload"].every((name) => typeof Reflect.get(value, name) === "string")
}
