import { expect, test } from "vitest"
import { othersServed } from "./pace.ts"

test("however many slices wait, a turn of the event loop serves one of them, each in its order", async () => {
  const [jobs, slices] = [20, 5]
  const served: number[] = []
  let [sinceTurn, most, isDone] = [0, 0, false]
  const turn = (): void => {
    most = Math.max(most, sinceTurn)
    sinceTurn = 0
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const work = async (job: number): Promise<void> => {
    for (let slice = 0; slice < slices; slice++) {
      await othersServed()
      sinceTurn++
      served.push(job)
    }
  }
  await Promise.all(Array.from({ length: jobs }, (_, job) => work(job)))
  isDone = true
  expect(most).toBe(1)
  const inOrder = Array.from({ length: jobs }, (_, job) => job)
  expect(served).toEqual(Array.from({ length: slices }, () => inOrder).flat())
})
