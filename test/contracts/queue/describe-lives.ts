import { expect, test } from "vitest"
import type { Job } from "../../../src/store/store.ts"
import { comes, job, type Open, untilStopped } from "./queue-world.ts"

/** Jobs that one process leaves to the next. */
export function describeLives(open: Open): void {
  test("jobs of an earlier life are done by the next", async () => {
    const first = await open()
    await first.add(job("a"))
    await first.close()
    const second = await open()
    expect(await second.add(job("a"))).toBe(false)
    const seen: Job[] = []
    await second.work(async (taken) => void seen.push(taken), { concurrency: 1 })
    await comes(() => expect(seen).toEqual([job("a")]))
  })

  test("close tells what runs and frees it for the next", async () => {
    const first = await open()
    const started = new Set<string>()
    const stopped = new Set<string>()
    await first.work(
      async (taken, signal) => {
        started.add(taken.key)
        await untilStopped(taken, signal).finally(() => stopped.add(taken.key))
      },
      { concurrency: 2 },
    )
    await first.add(job("a"))
    await first.add(job("b"))
    const second = await open()
    const seen = new Set<string>()
    await comes(() => expect(started.size).toBe(2))
    await first.close()
    expect([...stopped].sort()).toEqual(["a", "b"])
    await second.work(async ({ key }) => void seen.add(key), { concurrency: 1 })
    await comes(() => expect([...seen].sort()).toEqual(["a", "b"]))
  })

  test("a handler that ends quietly when told to close has not done its job", async () => {
    const first = await open()
    let started = 0
    await first.work(
      async (taken, signal) => {
        started++
        await untilStopped(taken, signal).catch(() => {})
      },
      { concurrency: 1 },
    )
    await first.add(job("a"))
    await comes(() => expect(started).toBe(1))
    await first.close()
    const second = await open()
    const seen: string[] = []
    await second.work(async ({ key }) => void seen.push(key), { concurrency: 1 })
    await comes(() => expect(seen).toEqual(["a"]))
  })

  test("a closed queue takes nothing more, and closing it again does nothing", async () => {
    const queue = await open()
    await queue.close()
    await queue.close()
    await queue.idle()
    await expect(queue.add(job("a"))).rejects.toMatchObject({ problem: { code: "store-closed" } })
    await expect(queue.cancel("s", "a")).rejects.toMatchObject({ problem: { code: "store-closed" } })
    await expect(queue.work(async () => {}, { concurrency: 1 })).rejects.toMatchObject({
      problem: { code: "store-closed" },
    })
  })
}
