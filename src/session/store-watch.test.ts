import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createStoreWatch } from "./limit-store.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A store that answers, or that does not. */
function createWorld() {
  const world = { hangs: false, asked: 0 }
  const watch = createStoreWatch(async () => {
    world.asked++
    if (world.hangs) await new Promise(() => {})
  })
  return { world, watch }
}

/** A call that ends when it is released, or when it is aborted because the store does not answer. */
function open(watch: ReturnType<typeof createStoreWatch>): {
  readonly end: () => void
  readonly ended: Promise<string>
} {
  const { promise, resolve } = Promise.withResolvers<string>()
  const ended = watch.during((signal) => {
    signal.addEventListener("abort", () => resolve("told that it is away"))
    return promise
  })
  return { end: () => resolve("answered"), ended }
}

test("a store whose calls are fast is not probed", async () => {
  const { world, watch } = createWorld()
  const call = open(watch)
  await vi.advanceTimersByTimeAsync(500)
  call.end()
  expect(await call.ended).toBe("answered")
  await vi.advanceTimersByTimeAsync(60_000)
  expect([world.asked, watch.isAway()]).toEqual([0, false])
})

test("a slow call continues while the store answers others", async () => {
  const { world, watch } = createWorld()
  const call = open(watch)
  await vi.advanceTimersByTimeAsync(30_000)
  expect([world.asked > 0, watch.isAway()]).toEqual([true, false])
  call.end()
  expect(await call.ended).toBe("answered")
})

test("a store that answers nothing is unavailable: all calls fail, and it is probed until it answers", async () => {
  const { world, watch } = createWorld()
  world.hangs = true
  const calls = [open(watch), open(watch)]
  await vi.advanceTimersByTimeAsync(3100)
  expect(await Promise.all(calls.map(({ ended }) => ended))).toEqual(["told that it is away", "told that it is away"])
  expect(watch.isAway()).toBe(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(watch.isAway()).toBe(true)
  world.hangs = false
  await vi.advanceTimersByTimeAsync(3100)
  expect(watch.isAway()).toBe(false)
  const after = open(watch)
  after.end()
  expect(await after.ended).toBe("answered")
})

test("an error of the store counts as an answer", async () => {
  const watch = createStoreWatch(() => {
    throw new Error("closed")
  })
  const call = open(watch)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(watch.isAway()).toBe(false)
  call.end()
  await call.ended
})
