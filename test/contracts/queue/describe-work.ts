import { expect, test } from "vitest"
import type { Job } from "../../../src/store/store.ts"
import { comes, job, type Open } from "./queue-world.ts"

/** Jobs that succeed. */
export function describeWork(open: Open): void {
  test("a job is done once, as it was added, and is then forgotten", async () => {
    const queue = await open()
    const seen: Job[] = []
    await queue.work(async (taken) => void seen.push(taken), { concurrency: 2 })
    expect(await queue.add(job("a"))).toBe(true)
    await comes(() => expect(seen).toEqual([job("a")]))
    await queue.idle()
    expect(seen).toHaveLength(1)
    expect(await queue.add(job("a"))).toBe(true)
    await comes(() => expect(seen).toHaveLength(2))
  })

  test("odd characters and long texts arrive as they were", async () => {
    const queue = await open()
    const odd: Job = {
      key: `\u0000 \ud800 é \u{1f600} "' ${"k".repeat(5_000)}`,
      session: "",
      kind: "a\\b\n",
      payload: JSON.stringify({ text: "\u0000\udfff".repeat(50_000) }),
    }
    const seen: Job[] = []
    await queue.work(async (taken) => void seen.push(taken), { concurrency: 1 })
    expect(await queue.add(odd)).toBe(true)
    await comes(() => expect(seen).toEqual([odd]))
  })
}
