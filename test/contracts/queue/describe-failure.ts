import { expect, test } from "vitest"
import type { Job } from "../../../src/store/store.ts"
import { comes, job, type Open } from "./queue-world.ts"

/** Handlers that fail. */
export function describeFailure(open: Open): void {
  test("a handler that fails is tried again", async () => {
    const queue = await open({ maxAttempts: 3, retryMs: 1 })
    let attempts = 0
    await queue.work(
      async () => {
        if (++attempts < 3) throw new Error("not yet")
      },
      { concurrency: 1 },
    )
    await queue.add(job("a"))
    await comes(() => expect(attempts).toBe(3))
    await queue.idle()
    expect(await queue.add(job("a"))).toBe(true)
    await comes(() => expect(attempts).toBe(4))
  })

  test("a job that waits for its next attempt keeps its key, and holds up no other", async () => {
    const queue = await open({ maxAttempts: 2, retryMs: 3_600_000 })
    const seen: string[] = []
    await queue.work(
      async ({ key }) => {
        seen.push(key)
        if (key === "bad") throw new Error("no")
      },
      { concurrency: 1 },
    )
    await queue.add(job("bad"))
    await comes(() => expect(seen).toEqual(["bad"]))
    await queue.idle()
    expect(await queue.add(job("bad"))).toBe(false)
    await queue.add(job("good"))
    await comes(() => expect(seen).toEqual(["bad", "good"]))
  })

  test("a job that fails every time is given up, said once, and may be added anew", async () => {
    const given: [Job, unknown][] = []
    const queue = await open({ maxAttempts: 2, retryMs: 1, onGiveUp: (lost, reason) => given.push([lost, reason]) })
    let attempts = 0
    await queue.work(
      async () => {
        attempts++
        throw new Error("never")
      },
      { concurrency: 1 },
    )
    await queue.add(job("a"))
    await comes(() => expect(given).toHaveLength(1))
    expect(given[0]?.[0]).toEqual(job("a"))
    expect(String(given[0]?.[1])).toContain("never")
    await queue.idle()
    expect(attempts).toBe(2)
    expect(await queue.add(job("a"))).toBe(true)
    await comes(() => expect(given).toHaveLength(2))
  })
}
