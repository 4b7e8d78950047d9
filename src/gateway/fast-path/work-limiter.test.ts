import { setImmediate as nextRound } from "node:timers/promises"
import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createWorkLimiter } from "./work-lines.ts"

const never = new Promise<void>(() => {})

test("one piece of work enters per event loop turn, in order, up to the limit", async () => {
  const { enter } = createWorkLimiter(3)
  const entered: number[] = []
  const leaving: (() => void)[] = []
  for (let n = 0; n < 5; n++)
    void enter(never).then((leave) => {
      entered.push(n)
      leaving.push(leave)
    })
  const seen: number[] = []
  for (let round = 0; round < 6; round++) {
    seen.push(entered.length)
    await nextRound()
  }
  expect(seen.slice(0, 4)).toEqual([0, 1, 2, 3])
  expect(entered).toEqual([0, 1, 2])
  for (const leave of leaving) leave()
  for (let round = 0; round < 4; round++) await nextRound()
  expect(entered).toEqual([0, 1, 2, 3, 4])
})

test("hurried work enters at once, and takes no slot", async () => {
  const { enter } = createWorkLimiter(1)
  const first = await enter(never)
  const order: string[] = []
  void enter(never).then(() => order.push("second"))
  const urgent = await enter(Promise.resolve())
  order.push("urgent")
  urgent()
  await nextRound()
  expect(order).toEqual(["urgent"])
  first()
  for (let round = 0; round < 3; round++) await nextRound()
  expect(order).toEqual(["urgent", "second"])
})

test("any work, hurried or not, runs exactly once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), async (all, most) => {
      const { enter } = createWorkLimiter(most)
      let inside = 0
      let highest = 0
      const done = await Promise.all(
        all.map(async (isHurried, n) => {
          const leave = await enter(isHurried ? Promise.resolve() : never)
          if (!isHurried) inside++
          highest = Math.max(highest, inside)
          await nextRound()
          if (!isHurried) inside--
          leave()
          return n
        }),
      )
      expect(done).toEqual(all.map((_, n) => n))
      expect(highest).toBeLessThanOrEqual(most)
    }),
    { numRuns: 40 },
  )
})
