import { HoldfastError, loadOptional } from "../../message/errors.ts"
import { checkPlace, readFailure } from "../postgres-database.ts"
import type { Job } from "../store.ts"
import { createQueue } from "./create-queue.ts"
import {
  checkQueueNames,
  type JobSource,
  jobId,
  type Queue,
  type QueueOptions,
  type QueueSettings,
  queueSettings,
  type TakenJob,
} from "./queue.ts"

type PgBossOptions = QueueOptions & {
  /** `postgres://user:password@host:port/database`. It is never quoted in an error. */
  readonly url: string
  /** The schema of pg-boss's tables; they are created and migrated when the queue is opened. */
  readonly schema?: string
}

/** The longest name of a schema that pg-boss accepts. */
const maxSchemaName = 50

/** The pg-boss queue of our jobs. */
const queueName = "holdfast"

/** A job uses a connection only briefly, so a few serve many jobs. */
const connections = 4

/** How often pg-boss checks for expired leases. */
const superviseSeconds = 1

/** A job that nobody took in a month is dropped. */
const retentionSeconds = 30 * 24 * 60 * 60

/** Finished jobs are deleted at once; this is for jobs that pg-boss itself gave up. */
const deleteAfterSeconds = 60 * 60

/** Longest pause between two attempts, as in the other queue. */
const retryDelayMax = 15 * 60

/** Replicas that start at the same moment create the same tables; the one that loses retries. */
const startTries = 5
const startPauseMs = 200

/** A queue in PostgreSQL, using pg-boss, for any number of processes. */
export async function openPgBossQueue(given: PgBossOptions): Promise<Queue> {
  checkQueueNames(given, "openPgBossQueue", ["url", "schema"])
  const { url, schema = "holdfast_queue", ...options } = given
  const settings = queueSettings(options)
  checkPlace(url, schema, maxSchemaName)
  const { PgBoss } = await loadPgBoss()
  const boss = new PgBoss({
    connectionString: url,
    schema,
    max: connections,
    application_name: "holdfast-queue",
    migrate: true,
    schedule: false,
    supervise: true,
    superviseIntervalSeconds: superviseSeconds,
  })
  // Without a listener an error event ends the process.
  boss.on("error", (error: unknown) => settings.onProblem(problemOf(error)))
  const declared = { policy: "exclusive", ...queueOptions(settings) }
  await startSafely(async () => {
    await boss.start()
    await boss.createQueue(queueName, declared)
  }).catch(async (error: unknown) => {
    await boss.stop({ graceful: false }).catch(settings.onProblem)
    throw problemOf(error)
  })
  const queue = createQueue(withProblems(createPgBossSource(boss, queueName, settings)), settings)
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    await queue.close()
    await boss.stop({ graceful: false })
  }
  return { ...queue, close: () => (closing ??= close()) }
}

/** pg-boss counts in whole seconds, and counts an interruption as an attempt: so it gets twice the attempts, and we count the failures. */
function queueOptions({ leaseMs, maxAttempts, retryMs }: QueueSettings) {
  return {
    ...leasing(leaseMs).options,
    retryLimit: 2 * maxAttempts,
    retryDelay: Math.ceil(retryMs / 1_000),
    retryBackoff: true,
    retryDelayMax,
    retentionSeconds,
    deleteAfterSeconds,
  }
}

async function startSafely(start: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start()
    } catch (error) {
      if (tries === startTries) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, startPauseMs * tries))
  }
}

/** The same source with failures as Problems that quote neither address nor user. */
function withProblems(source: JobSource): JobSource {
  const asProblem = <Value>(call: Promise<Value>): Promise<Value> =>
    call.catch((error: unknown) => {
      throw problemOf(error)
    })
  return {
    put: (job) => asProblem(source.put(job)),
    take: () => asProblem(source.take()),
    renew: (job) => asProblem(source.renew(job)),
    finish: (job) => asProblem(source.finish(job)),
    free: (job, pauseMs) => asProblem(source.free(job, pauseMs)),
    drop: (session, key) => asProblem(source.drop(session, key)),
  }
}

function problemOf(error: unknown): HoldfastError {
  return new HoldfastError(readFailure(error, true, 0).problem)
}

const loadPgBoss = (): Promise<typeof import("pg-boss")> =>
  loadOptional(
    () => import("pg-boss"),
    "the queue in PostgreSQL",
    () => "pg-boss",
  )

/** The pg-boss calls that we use. Its workers are not used: they poll twice a second at most, and do not report when they are idle. */
type Boss = Pick<import("pg-boss").PgBoss, "send" | "fetch" | "findJobs" | "touch" | "fail" | "deleteJob">

/** Jobs stored by pg-boss. A job is one JSON string inside its data, because `jsonb` accepts neither NUL nor lone surrogates. */
function createPgBossSource(boss: Boss, queue: string, { now, leaseMs }: QueueSettings): JobSource {
  const lasting = leasing(leaseMs)
  return {
    put: async (job) => {
      const id = await boss.send(queue, { job: JSON.stringify(job) }, { singletonKey: jobId(job) })
      return id !== null
    },
    take: async () => {
      // Measured before the call: pg-boss measures from its reply, which is later.
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
    // pg-boss decides the length of the pause.
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
 * How a lease is expressed in pg-boss: as a heartbeat, which a running job renews; or, if it is too short for one, as an expiry, which ends
 * the job whatever the handler does.
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
