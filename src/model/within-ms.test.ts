import { expect, test } from "vitest"
import { withinMs } from "./within-ms.ts"

const late = (limitMs: number) => () => ({ code: "summarizer-late", limitMs }) as const

test("what answers in time is passed on, value or error", async () => {
  expect(await withinMs(() => 3, 1_000, late(1_000))).toBe(3)
  expect(await withinMs(async () => "x", 1_000, late(1_000))).toBe("x")
  await expect(withinMs(() => Promise.reject(new Error("mine")), 1_000, late(1_000))).rejects.toThrow("mine")
  const thrower = (): never => {
    throw new Error("at once")
  }
  await expect(withinMs(thrower, 1_000, late(1_000))).rejects.toThrow("at once")
})

test("a function that never answers and ignores its signal is left behind", async () => {
  let heard: AbortSignal | undefined
  const hang = (signal: AbortSignal): Promise<never> => {
    heard = signal
    return new Promise(() => {})
  }
  await expect(withinMs(hang, 20, late(20))).rejects.toMatchObject({
    problem: { code: "summarizer-late", limitMs: 20 },
  })
  expect(heard?.aborted).toBe(true)
})

test("one that fails after it was given up disturbs nobody", async () => {
  const { promise, reject } = Promise.withResolvers<never>()
  await expect(withinMs(() => promise, 5, late(5))).rejects.toMatchObject({ problem: { code: "summarizer-late" } })
  reject(new Error("too late to matter"))
  await new Promise((resolve) => setImmediate(resolve))
})

test("a limit beyond what a timer holds is a long wait, not none", async () => {
  const slow = () => new Promise<string>((resolve) => setImmediate(() => resolve("done")))
  expect(await withinMs(slow, Number.MAX_SAFE_INTEGER, late(0))).toBe("done")
})
