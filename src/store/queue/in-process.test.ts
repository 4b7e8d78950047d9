import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterEach, describe, expect, test, vi } from "vitest"
import { describeQueue } from "../../../test/contracts/queue/describe-queue.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { createMemoryStore } from "../memory-store.ts"
import type { Job, JobStore } from "../store.ts"
import { createInProcessQueue } from "./create-queue.ts"
import type { Queue, QueueOptions } from "./queue.ts"

describeQueue("in process, over a memory store", async () => {
  const store = createMemoryStore()
  return {
    open: async (options) => createInProcessQueue(store.jobs, { pollMs: 20, ...options }),
    stop: () => store.close(),
  }
})

const createJobs = (): JobStore => createMemoryStore().jobs
const job = (key: string, session = "s"): Job => ({ key, session, kind: "summary", payload: "{}" })
const opened: Queue[] = []
const open = (jobs: JobStore, options: QueueOptions = {}): Queue => {
  const queue = createInProcessQueue(jobs, { pollMs: 5, retryMs: 1, ...options })
  opened.push(queue)
  return queue
}
const comes = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 2 })

afterEach(async () => {
  await Promise.all(opened.splice(0).map((queue) => queue.close()))
})

/** A job store that calls `before` first on every call, which may fail, wait or never end. */
const behind = (jobs: JobStore, before: (call: keyof JobStore) => Promise<void>): JobStore => ({
  put: (...args) => before("put").then(() => jobs.put(...args)),
  lease: (...args) => before("lease").then(() => jobs.lease(...args)),
  finish: (...args) => before("finish").then(() => jobs.finish(...args)),
  postpone: (...args) => before("postpone").then(() => jobs.postpone(...args)),
  list: (...args) => before("list").then(() => jobs.list(...args)),
})

/** Fails every call whose number is a multiple of `nth`. */
const failingEvery = (jobs: JobStore, nth: number): JobStore => {
  let calls = 0
  return behind(jobs, async () => {
    calls += 1
    if (calls % nth === 0) throw new Error("the disk is away")
  })
}

const never = new Promise<never>(() => {})

describe("a lease", () => {
  test("is renewed while the handler runs, so that no other process starts the job", async () => {
    const jobs = createJobs()
    const gate = Promise.withResolvers<void>()
    const renewed: number[] = []
    const watched: JobStore = {
      ...jobs,
      postpone: async (session, key, dueMs) => {
        renewed.push(dueMs)
        await jobs.postpone(session, key, dueMs)
      },
    }
    // Longer than a busy machine may keep a process from renewing.
    const first = open(watched, { leaseMs: 600 })
    const second = open(jobs, { leaseMs: 600 })
    let started = 0
    const handler = async (): Promise<void> => {
      started += 1
      await gate.promise
    }
    await first.work(handler, { concurrency: 1 })
    await first.add(job("a"))
    await comes(() => expect(started).toBe(1))
    await second.work(handler, { concurrency: 1 })
    await comes(() => expect(renewed.length).toBeGreaterThan(8))
    gate.resolve()
    await first.idle()
    expect(started).toBe(1)
    expect(await jobs.list()).toEqual([])
  })

  test("of a killed process expires, and the next process runs the job", async () => {
    const jobs = createJobs()
    let dead = false
    const first = createInProcessQueue(
      behind(jobs, async () => {
        if (dead) await never
      }),
      { leaseMs: 50, pollMs: 5 },
    )
    const started: string[] = []
    await first.work(
      async () => {
        started.push("first")
        await never
      },
      { concurrency: 1 },
    )
    await first.add(job("a"))
    await comes(() => expect(started).toEqual(["first"]))
    dead = true
    const second = open(jobs, { leaseMs: 50 })
    await second.work(async () => void started.push("second"), { concurrency: 1 })
    await comes(() => expect(started).toEqual(["first", "second"]))
    await second.idle()
    expect(await jobs.list()).toEqual([])
  })

  test("that was lost aborts the signal, and the handler's result does not overwrite another's work", async () => {
    const jobs = createJobs()
    let now = 1_000
    let away = false
    const first = open(
      behind(jobs, async () => {
        if (away) throw new Error("away")
      }),
      { now: () => now, leaseMs: 30 },
    )
    const gate = Promise.withResolvers<void>()
    let started = false
    let told: unknown
    await first.work(
      async (_job, signal) => {
        started = true
        signal.addEventListener("abort", () => {
          told = signal.reason
        })
        await gate.promise
      },
      { concurrency: 1 },
    )
    await first.add(job("a"))
    await comes(() => expect(started).toBe(true))
    away = true
    now += 31
    await comes(() => expect(told).toBe("lost"))
    expect(await jobs.lease(now, 1_000)).toMatchObject({ key: "a", attempt: 2 })
    away = false
    gate.resolve()
    await first.idle()
    expect(await jobs.list()).toEqual([job("a")])
  })

  test("that expired does not start the job a second time in parallel", async () => {
    const jobs = createJobs()
    let now = 1_000
    let leases = 0
    const watched: JobStore = {
      ...jobs,
      lease: async (at, leaseMs) => {
        const taken = await jobs.lease(at, leaseMs)
        if (taken !== undefined) leases += 1
        return taken
      },
    }
    const queue = open(watched, { now: () => now })
    const gate = Promise.withResolvers<void>()
    let started = 0
    await queue.work(
      async () => {
        started += 1
        await gate.promise
      },
      { concurrency: 2 },
    )
    await queue.add(job("a"))
    await comes(() => expect(started).toBe(1))
    now += 60_001
    await comes(() => expect(leases).toBe(2))
    gate.resolve()
    await queue.idle()
    expect(started).toBe(1)
  })

  test("that is being renewed when the queue closes does not hold the freed job", async () => {
    const jobs = createJobs()
    const renewing = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const slow: JobStore = {
      ...jobs,
      list: async (session) => {
        renewing.resolve()
        await gate.promise
        return jobs.list(session)
      },
    }
    const queue = createInProcessQueue(slow, { leaseMs: 3_000, pollMs: 5 })
    await queue.work((_job, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())), {
      concurrency: 1,
    })
    await queue.add(job("a"))
    await renewing.promise
    const closed = queue.close()
    await Promise.resolve()
    gate.resolve()
    await closed
    expect(await jobs.lease(Date.now(), 1)).toMatchObject({ key: "a" })
  })
})

test("an added job starts at once, not at the next poll", async () => {
  const queue = open(createJobs(), { pollMs: 3_600_000 })
  const seen: string[] = []
  await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
  await queue.idle()
  await queue.add(job("a"))
  await comes(() => expect(seen).toEqual(["a"]))
})

test("a key added again while its end is being stored runs again", async () => {
  const jobs = createJobs()
  const gate = Promise.withResolvers<void>()
  const slow: JobStore = {
    ...jobs,
    finish: async (session, key) => {
      await jobs.finish(session, key)
      await gate.promise
    },
  }
  const queue = open(slow)
  let done = 0
  await queue.work(
    async () => {
      done += 1
    },
    { concurrency: 2 },
  )
  await queue.add(job("a"))
  await comes(() => expect(done).toBe(1))
  await vi.waitFor(async () => expect(await queue.add(job("a"))).toBe(true), { timeout: 30_000 })
  await comes(() => expect(done).toBe(2))
  gate.resolve()
})

describe("a cancelled job", () => {
  test("that runs in another process is told at the next renewal", async () => {
    const jobs = createJobs()
    const worker = open(jobs, { leaseMs: 30 })
    const other = open(jobs)
    const told: unknown[] = []
    let started = false
    await worker.work(
      (_job, signal) =>
        new Promise((resolve) => {
          started = true
          signal.addEventListener("abort", () => {
            told.push(signal.reason)
            resolve()
          })
        }),
      { concurrency: 1 },
    )
    await worker.add(job("a"))
    await comes(() => expect(started).toBe(true))
    await other.cancel("s", "a")
    await comes(() => expect(told).toEqual(["gone"]))
    await worker.idle()
    expect(await jobs.list()).toEqual([])
  })

  test("does not start when cancelled while it is being taken", async () => {
    const jobs = createJobs()
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const slow: JobStore = {
      ...jobs,
      lease: async (now, leaseMs) => {
        const taken = await jobs.lease(now, leaseMs)
        asked.resolve()
        await answer.promise
        return taken
      },
    }
    const queue = open(slow)
    const seen: string[] = []
    await queue.add(job("a"))
    await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
    await asked.promise
    await queue.cancel("s", "a")
    answer.resolve()
    await queue.idle()
    expect(seen).toEqual([])
    expect(await jobs.list()).toEqual([])
  })

  test("is freed when the queue closes while it is being taken", async () => {
    const jobs = createJobs()
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const slow: JobStore = {
      ...jobs,
      lease: async (now, leaseMs) => {
        const taken = await jobs.lease(now, leaseMs)
        asked.resolve()
        await answer.promise
        return taken
      },
    }
    const queue = createInProcessQueue(slow)
    const seen: string[] = []
    await queue.add(job("a"))
    await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
    await asked.promise
    const closed = queue.close()
    answer.resolve()
    await closed
    expect(seen).toEqual([])
    expect(await jobs.lease(Date.now(), 1)).toMatchObject({ key: "a" })
  })
})

describe("a store that fails", () => {
  test.each([2, 3, 5])("at every call number %i loses no job and gives none up", async (nth) => {
    const jobs = createJobs()
    const problems: unknown[] = []
    const given: Job[] = []
    const queue = open(failingEvery(jobs, nth), {
      leaseMs: 200,
      onProblem: (reason) => problems.push(reason),
      onGiveUp: (lost) => given.push(lost),
    })
    const done = new Set<string>()
    await queue.work(async ({ key }) => void done.add(key), { concurrency: 2 })
    const names = Array.from({ length: 20 }, (_, n) => `k${n}`)
    for (const name of names) while ((await queue.add(job(name)).catch(() => undefined)) === undefined);
    await comes(() => expect([...done].sort()).toEqual(names.toSorted()))
    await queue.idle()
    await vi.waitFor(async () => expect(await jobs.list()).toEqual([]), { timeout: 30_000 })
    expect(problems.length).toBeGreaterThan(0)
    expect(given).toEqual([])
  })

  test("completely is reported to callers of add, and is retried until it is back", async () => {
    const jobs = createJobs()
    let away = true
    const problems: unknown[] = []
    const gone = behind(jobs, async () => {
      if (away) throw new Error("away")
    })
    const queue = open(gone, { onProblem: (reason) => problems.push(reason) })
    const seen: string[] = []
    await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
    await expect(queue.add(job("a"))).rejects.toThrow("away")
    await expect(queue.cancel("s", "a")).rejects.toThrow("away")
    await comes(() => expect(problems.length).toBeGreaterThan(3))
    away = false
    await queue.add(job("a"))
    await comes(() => expect(seen).toEqual(["a"]))
  })
})

test("a job that crashes its process each time is given up without a start", async () => {
  const jobs = createJobs()
  await jobs.put(job("a"), 0)
  for (let n = 0; n < 6; n++) await jobs.lease(Date.now(), -1)
  const given: unknown[] = []
  const queue = open(jobs, { maxAttempts: 3, onGiveUp: (lost, reason) => given.push([lost, reason]) })
  const seen: string[] = []
  await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
  await queue.idle()
  expect(seen).toEqual([])
  expect(given).toEqual([[job("a"), "it was interrupted too often"]])
  expect(await jobs.list()).toEqual([])
})

test("a program that does not close its queue still ends", async () => {
  const file = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)
  const program = `
    const { createInProcessQueue } = await import(${file("create-queue.ts")})
    const { createMemoryStore } = await import(${file("../memory-store.ts")})
    const queue = createInProcessQueue(createMemoryStore().jobs)
    await queue.work(async () => process.stdout.write("done"), { concurrency: 1 })
    await queue.add({ key: "a", session: "s", kind: "test", payload: "{}" })
    await queue.idle()`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program])
  expect(stdout).toBe("done")
})

test("a callback that throws is reported as a problem, and work continues", async () => {
  const problems: unknown[] = []
  const queue = open(createJobs(), {
    maxAttempts: 1,
    onGiveUp: () => {
      throw new Error("callback")
    },
    onProblem: (reason) => problems.push(reason),
  })
  const seen: string[] = []
  await queue.work(
    async ({ key }) => {
      seen.push(key)
      throw new Error("no")
    },
    { concurrency: 1 },
  )
  await queue.add(job("a"))
  await queue.add(job("b"))
  await comes(() => expect(seen).toEqual(["a", "b"]))
  await queue.idle()
  expect(problems.map(String)).toEqual(["Error: callback", "Error: callback"])
})

test.each(["leaseMs", "maxAttempts", "retryMs", "pollMs"])("an invalid %s is refused", (option) => {
  for (const value of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
    expect(() => createInProcessQueue(createJobs(), { [option]: value })).toThrow(option)
})

test("whatever fails, every accepted job is done or given up, and each key runs alone", async () => {
  const plan = fc.record({
    keys: fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 12 }),
    failures: fc.array(fc.boolean(), { maxLength: 12 }),
    nth: fc.integer({ min: 2, max: 9 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
  })
  const property = fc.asyncProperty(plan, async ({ keys, failures, nth, concurrency }) => {
    const jobs = createJobs()
    const ended: string[] = []
    const queue = createInProcessQueue(failingEvery(jobs, nth), {
      pollMs: 1,
      retryMs: 1,
      maxAttempts: 2,
      onGiveUp: ({ key }) => ended.push(key),
    })
    const running = new Set<string>()
    let begun = 0
    await queue.work(
      async ({ key }) => {
        expect(running.has(key)).toBe(false)
        expect(running.add(key).size).toBeLessThanOrEqual(concurrency)
        const fails = failures[begun++] === true
        await Promise.resolve()
        running.delete(key)
        if (fails) throw new Error("no")
        ended.push(key)
      },
      { concurrency },
    )
    let accepted = 0
    for (const key of keys) if ((await queue.add(job(key)).catch(() => false)) === true) accepted += 1
    while ((await jobs.list()).length > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await queue.idle()
    await queue.close()
    expect(ended.length).toBeGreaterThanOrEqual(accepted)
    expect(running.size).toBe(0)
  })
  // A tenth of the cases: each waits for real timers.
  await fc.assert(property, { numRuns: Math.ceil(runs / 10) })
}, 600_000)
