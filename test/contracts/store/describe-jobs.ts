import { describe, expect, test } from "vitest"
import type { OpenStore } from "./describe-store.ts"
import { job } from "./example-rows.ts"

const clock = (): number => 5000

/** The contract of jobs in a store. */
export function describeJobs(open: OpenStore): void {
  describe("jobs", () => {
    describeLeases(open)
    test("a job is put once for each key and session", async () => {
      const { store } = await open(clock)
      expect(await store.jobs.put(job("k"), 10)).toBe(true)
      expect(await store.jobs.put({ ...job("k"), payload: "{}" }, 11)).toBe(false)
      expect(await store.jobs.put(job("k", "t"), 12)).toBe(true)
      expect(await store.jobs.list()).toEqual([job("k"), job("k", "t")])
      expect(await store.jobs.list("t")).toEqual([job("k", "t")])
      expect(await store.jobs.list("nobody")).toEqual([])
    })

    test("a finished job is gone, and may be put anew", async () => {
      const { store } = await open(clock)
      await store.jobs.put(job("k"), 10)
      await store.jobs.put(job("k", "t"), 10)
      await store.jobs.finish("s", "k")
      await store.jobs.finish("s", "unknown")
      expect(await store.jobs.list()).toEqual([job("k", "t")])
      expect(await store.jobs.put(job("k"), 20)).toBe(true)
    })

    test("two takers never hold the same job", async () => {
      const { store } = await open(clock)
      const keys = Array.from({ length: 20 }, (_, at) => `k${at}`)
      for (const key of keys) await store.jobs.put(job(key), 10)
      const taken = await Promise.all(Array.from({ length: 30 }, () => store.jobs.lease(20, 100)))
      const held = taken.flatMap((leased) => leased?.key ?? [])
      expect(held.toSorted()).toEqual(keys.toSorted())
    })
  })
}

function describeLeases(open: OpenStore): void {
  test("the oldest comes first, and nobody else gets it while its lease lasts", async () => {
    const { store } = await open(clock)
    await store.jobs.put(job("b"), 10)
    await store.jobs.put(job("a"), 11)
    expect(await store.jobs.lease(20, 100)).toEqual({ ...job("b"), attempt: 1, leasedUntilMs: 120 })
    expect(await store.jobs.lease(21, 100)).toEqual({ ...job("a"), attempt: 1, leasedUntilMs: 121 })
    expect(await store.jobs.lease(119, 100)).toBeUndefined()
  })

  test("a job is not due before the moment at which it was put", async () => {
    const { store } = await open(clock)
    await store.jobs.put(job("k"), 50)
    expect(await store.jobs.lease(49, 100)).toBeUndefined()
    expect(await store.jobs.lease(50, 100)).toMatchObject({ key: "k" })
  })

  test("whose lease is over may be taken over, as the next attempt", async () => {
    const { store } = await open(clock)
    await store.jobs.put(job("k"), 10)
    await store.jobs.lease(20, 100)
    expect(await store.jobs.lease(119, 100)).toBeUndefined()
    expect(await store.jobs.lease(120, 50)).toEqual({ ...job("k"), attempt: 2, leasedUntilMs: 170 })
  })

  test("a postponed job is free again, not before it is due, and keeps its age and its attempts", async () => {
    const { store } = await open(clock)
    await store.jobs.put(job("old"), 10)
    await store.jobs.lease(20, 1000)
    await store.jobs.postpone("s", "old", 100)
    await store.jobs.postpone("s", "unknown", 100)
    expect(await store.jobs.put(job("old"), 30)).toBe(false)
    await store.jobs.put(job("young"), 40)
    expect(await store.jobs.lease(99, 1)).toMatchObject({ key: "young" })
    expect(await store.jobs.lease(100, 10)).toEqual({ ...job("old"), attempt: 2, leasedUntilMs: 110 })
  })
}
