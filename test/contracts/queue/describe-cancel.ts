import { expect, test } from "vitest"
import type { Handler } from "../../../src/store/queue/queue.ts"
import type { Job } from "../../../src/store/store.ts"
import { comes, job, type Open, untilStopped } from "./queue-world.ts"

/** Jobs that are no longer wanted. */
export function describeCancel(open: Open): void {
  test("a job that was cancelled before it started never starts", async () => {
    const queue = await open()
    await queue.add(job("a"))
    await queue.add(job("b"))
    await queue.cancel("s", "a")
    const seen: string[] = []
    await queue.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
    await comes(() => expect(seen).toContain("b"))
    await queue.idle()
    expect(seen).toEqual(["b"])
    expect(await queue.add(job("a"))).toBe(true)
    await comes(() => expect(seen).toEqual(["b", "a"]))
  })

  test("a job that is cancelled while it runs is told so, and is not tried again", async () => {
    const given: Job[] = []
    const queue = await open({ retryMs: 1, onGiveUp: (lost) => given.push(lost) })
    let started = 0
    let stopped = 0
    const handler: Handler = async (taken, signal) => {
      started++
      await untilStopped(taken, signal).finally(() => stopped++)
    }
    await queue.work(handler, { concurrency: 1 })
    await queue.add(job("a"))
    await comes(() => expect(started).toBe(1))
    await queue.cancel("s", "a")
    await comes(() => expect(stopped).toBe(1))
    await queue.idle()
    expect(started).toBe(1)
    expect(given).toEqual([])
    expect(await queue.add(job("a"))).toBe(true)
    await comes(() => expect(started).toBe(2))
  })

  test("cancelling what is not there does nothing", async () => {
    const queue = await open()
    await queue.cancel("nobody", "nothing")
    expect(await queue.add(job("a"))).toBe(true)
  })
}
