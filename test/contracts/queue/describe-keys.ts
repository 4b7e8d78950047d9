import { expect, test } from "vitest"
import { comes, job, type Open } from "./queue-world.ts"

/** One job at a time for each key, and none run twice without need. */
export function describeKeys(open: Open): void {
  test("a key that waits or runs is not added again, and its handler runs once", async () => {
    const queue = await open()
    const gate = Promise.withResolvers<void>()
    const seen: string[] = []
    expect(await queue.add(job("a"))).toBe(true)
    expect(await queue.add(job("a"))).toBe(false)
    await queue.work(
      async ({ key }) => {
        seen.push(key)
        await gate.promise
      },
      { concurrency: 3 },
    )
    await comes(() => expect(seen).toEqual(["a"]))
    expect(await queue.add(job("a"))).toBe(false)
    gate.resolve()
    await queue.idle()
    expect(seen).toEqual(["a"])
  })

  test("the same key in another session is another job, and different keys run side by side", async () => {
    const queue = await open()
    const gate = Promise.withResolvers<void>()
    const running = new Set<string>()
    await queue.work(
      async ({ key, session }) => {
        running.add(`${session}/${key}`)
        await gate.promise
      },
      { concurrency: 3 },
    )
    const added = [job("a", "s"), job("a", "t"), job("b", "s")].map((each) => queue.add(each))
    expect(await Promise.all(added)).toEqual([true, true, true])
    await comes(() => expect([...running].sort()).toEqual(["s/a", "s/b", "t/a"]))
    gate.resolve()
    await queue.idle()
  })

  test("two queues on the same jobs share them, each job done once", async () => {
    const queues = [await open(), await open()]
    const seen: string[] = []
    const names = Array.from({ length: 30 }, (_, n) => `k${n}`)
    for (const [n, key] of names.entries()) await queues[n % 2]?.add(job(key))
    for (const queue of queues) await queue.work(async ({ key }) => void seen.push(key), { concurrency: 4 })
    await comes(() => expect(seen.length).toBeGreaterThanOrEqual(30))
    for (const queue of queues) await queue.idle()
    expect(seen.sort()).toEqual(names.sort())
  })
}
