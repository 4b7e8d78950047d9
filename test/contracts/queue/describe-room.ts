import { expect, test } from "vitest"
import { comes, job, type Open } from "./queue-world.ts"

/** How many jobs run at once, and behaviour when none are left. */
export function describeRoom(open: Open): void {
  test("never more at once than asked for, and all of them in the end", async () => {
    const queue = await open()
    let running = 0
    let most = 0
    const done = new Set<string>()
    for (let n = 0; n < 12; n++) await queue.add(job(`k${n}`))
    await queue.work(
      async ({ key }) => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        done.add(key)
      },
      { concurrency: 3 },
    )
    await comes(() => expect(done.size).toBe(12))
    expect(most).toBeLessThanOrEqual(3)
    expect(most).toBeGreaterThan(1)
  })

  test("idle ends at once without a handler or without jobs, and waits for what runs", async () => {
    const queue = await open()
    await queue.idle()
    await queue.add(job("a"))
    await queue.idle()
    let done = false
    await queue.work(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        done = true
      },
      { concurrency: 1 },
    )
    await queue.idle()
    expect(done).toBe(true)
    await queue.idle()
  })

  test("a number of workers that is none is refused", async () => {
    const queue = await open()
    for (const concurrency of [0, -1, 1.5, Number.NaN, 1e9])
      await expect(queue.work(async () => {}, { concurrency })).rejects.toMatchObject({
        problem: { code: "option-invalid", option: "concurrency" },
      })
  })
}
