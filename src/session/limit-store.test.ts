import { afterEach, expect, test, vi } from "vitest"
import { createFailingStore } from "../../test/support/failing-store.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"
import { limitStore, storeMs } from "./limit-store.ts"

afterEach(() => {
  vi.useRealTimers()
})

const said = (content: string) => ({ role: "user", content })

/** Advance time until a promise has settled. */
async function untilOver<Value>(act: Promise<Value>): Promise<Value> {
  let isOver = false
  void act
    .finally(() => {
      isOver = true
    })
    .catch(() => undefined)
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(storeMs / 2)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return act
}

test("a store that never answers becomes unavailable, and pending entries are written once it answers", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const inner = createMemoryStore()
  const failing = createFailingStore(inner)
  const session = createHoldfast({ store: failing.store, format: "openai-chat", windowTokens: 8000 }).session("s")
  await session.append([said("one")])
  failing.set({ at: 1, code: "store-unavailable", when: "hang", lasting: true })
  expect(await untilOver(session.append([said("two")]))).toMatchObject({
    durable: false,
    trace: [{ type: "durability-degraded", problem: { code: "store-unavailable" } }],
  })
  expect((await session.append([said("while it is away, at once")])).durable).toBe(false)
  failing.set(undefined)
  await vi.advanceTimersByTimeAsync(storeMs)
  expect((await session.append([said("three")])).durable).toBe(true)
  expect((await inner.outline("s")).filter(({ type }) => type === "message-appended").length).toBe(4)
})

test("a working store gives the same results through its limits", async () => {
  const store = limitStore(createMemoryStore(), 1000)
  expect(await store.head("s")).toEqual({ seq: 0, hash: "" })
  await store.close()
  await expect(store.read("s")).rejects.toMatchObject({ problem: { code: "store-closed" } })
})

test("aliases are written and found through the limits, and a store that hangs on them becomes unavailable", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  const failing = createFailingStore(createMemoryStore())
  const store = limitStore(failing.store)
  await store.putAliases("s", [{ name: "n", entry: "e1" }])
  expect(await store.findAliases(["n", "m"])).toEqual([{ name: "n", entry: "e1", session: "s" }])
  failing.set({ at: 1, code: "store-unavailable", when: "hang", lasting: true })
  const late = { problem: { code: "store-unavailable", store: "memory" } }
  await expect(untilOver(store.putAliases("s", [{ name: "m" }]))).rejects.toMatchObject(late)
  await expect(untilOver(store.findAliases(["n"]))).rejects.toMatchObject(late)
})
