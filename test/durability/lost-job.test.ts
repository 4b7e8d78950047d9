import { expect, test } from "vitest"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { createFailingStore } from "../support/failing-store.ts"
import { formatOf, openDurable, system } from "./open-durable.ts"

const id = "day-b"
const format = formatOf(id)

test("a summary whose job could not be queued is asked for again by the next call", async () => {
  const failing = createFailingStore(createMemoryStore())
  const summarizer = async () => "## Progress\n- The questions about each berth and crane were read one by one."
  const holdfast = openDurable(failing.store, { summarizer })
  const session = holdfast.session(id)
  const heard: string[] = []
  holdfast.subscribe(({ type }) => heard.push(type))
  failing.set({ at: 1, code: "store-unavailable", when: "before", only: ["jobs.put"] })
  for (let n = 0; !heard.includes("background-failed"); n += 1) {
    expect(n).toBeLessThan(100)
    await session.append([{ role: "user", content: `Question ${n}: ${"berth and crane ".repeat(20)}` }], { format })
    await session.prepare({ format, system })
    await holdfast.idle()
  }
  expect(failing.hasFailed()).toBe(true)
  failing.set(undefined)
  await session.prepare({ format, system })
  await holdfast.idle()
  expect((await failing.store.holdings(id)).summaries).toHaveLength(1)
  await holdfast.close()
})
