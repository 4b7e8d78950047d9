import { expect, test, vi } from "vitest"
import { createWorkLines } from "./work-lines.ts"

const faults: unknown[] = []
const lines = () => createWorkLines((error) => faults.push(error))

test("work of one session runs in order, concurrently with other sessions", async () => {
  const done: string[] = []
  const { add, allIdle } = lines()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  void add("a", async () => {
    await held
    done.push("a1")
  })
  void add("a", async () => void done.push("a2"))
  await add("b", async () => void done.push("b1"))
  expect(done).toEqual(["b1"])
  release()
  await allIdle()
  expect(done).toEqual(["b1", "a1", "a2"])
})

test("an error is reported, and the next work runs", async () => {
  const { add, waiting } = lines()
  const wrong = new Error("no")
  void add("a", () => Promise.reject(wrong))
  let done = false
  const last = add("a", async () => {
    done = true
  })
  expect(waiting("a")).toBe(2)
  await last
  expect(done).toBe(true)
  expect(faults).toEqual([wrong])
  await new Promise((resolve) => setImmediate(resolve))
  expect(waiting("a")).toBe(0)
})

test("allIdle also waits for work added meanwhile", async () => {
  const { add, allIdle } = lines()
  let late = false
  void add("a", async () => {
    void add("a", async () => {
      late = true
    })
  })
  await allIdle()
  expect(late).toBe(true)
})

test("who waits until work is done does not hurry it, and who needs it idle does", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    const { add, done, idle } = lines()
    const begun: string[] = []
    void add("a", async () => void begun.push("a"))
    const waited = done("a")
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual([])
    await idle("a")
    await waited
    expect(begun).toEqual(["a"])
    await done("nobody")
  } finally {
    vi.useRealTimers()
  }
})
