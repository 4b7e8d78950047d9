import type { Job, JobStore, LeasedJob } from "./job.ts"
import type { SessionId } from "./store.ts"

type Kept = { readonly job: Job; readonly attempt: number; readonly dueMs: number; readonly leasedUntilMs: number }

/** The jobs of a memory store, in the order in which they were put. */
export type MemoryJobs = JobStore & {
  /** False if the session had none. */
  readonly removeAll: (session: SessionId) => boolean
}

export function createMemoryJobs(call: <Value>(work: () => Value) => Promise<Value>): MemoryJobs {
  const jobs = new Map<string, Kept>()
  const nameOf = (session: SessionId, key: string): string => JSON.stringify([session, key])
  return {
    put: (job, now) =>
      call(() => {
        const name = nameOf(job.session, job.key)
        if (jobs.has(name)) return false
        jobs.set(name, { job, attempt: 0, dueMs: now, leasedUntilMs: 0 })
        return true
      }),
    lease: (now, leaseMs) =>
      call((): LeasedJob | undefined => {
        for (const [name, kept] of jobs) {
          if (kept.dueMs > now || kept.leasedUntilMs > now) continue
          const leased = { ...kept, attempt: kept.attempt + 1, leasedUntilMs: now + leaseMs }
          jobs.set(name, leased)
          return { ...kept.job, attempt: leased.attempt, leasedUntilMs: leased.leasedUntilMs }
        }
        return undefined
      }),
    finish: (session, key) =>
      call(() => {
        jobs.delete(nameOf(session, key))
      }),
    postpone: (session, key, dueMs) =>
      call(() => {
        const kept = jobs.get(nameOf(session, key))
        if (kept !== undefined) jobs.set(nameOf(session, key), { ...kept, dueMs, leasedUntilMs: 0 })
      }),
    list: (session) =>
      call(() => {
        const all = [...jobs.values()].map(({ job }) => job)
        return session === undefined ? all : all.filter((job) => job.session === session)
      }),
    removeAll: (session) => {
      const mine = [...jobs].filter(([, { job }]) => job.session === session)
      for (const [name] of mine) jobs.delete(name)
      return mine.length > 0
    },
  }
}
