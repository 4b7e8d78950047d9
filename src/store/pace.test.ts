import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { createPause, createTurns, othersServed, type Turns } from "./pace.ts"

/** A clock that only work moves on, and the work done in each turn of the event loop. */
function countedTurns(): { readonly turns: Turns; readonly work: (ms: number) => void; readonly counts: number[] } {
  const counts = [0]
  let nowMs = 0
  return {
    turns: createTurns(() => nowMs),
    work: (ms) => {
      nowMs += ms
      counts.push((counts.pop() ?? 0) + ms)
    },
    counts,
  }
}

/** Begin a new count with each turn while jobs run. */
async function during(counts: number[], jobs: readonly Promise<void>[]): Promise<void> {
  let isDone = false
  const done = Promise.all(jobs).then(() => {
    isDone = true
  })
  while (!isDone) {
    await nextTurn()
    counts.push(0)
  }
  await done
}

const turnMs = 15
const longestMs = 5

test("whatever is released at once, a turn of the event loop does no more work than its limit and one piece", async () => {
  const pieces = fc.array(fc.integer({ min: 1, max: longestMs }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 30 }), async (jobs) => {
      const { turns, work, counts } = countedTurns()
      const run = async (own: readonly number[]): Promise<void> => {
        const pause = createPause(turns)
        await turns.enter("new")
        for (const ms of own) {
          await pause()
          work(ms)
          await Promise.resolve()
        }
      }
      await nextTurn()
      await during(
        counts,
        jobs.map((own) => run(own)),
      )
      const all = jobs.flat().reduce((sum, ms) => sum + ms, 0)
      expect(counts.reduce((sum, ms) => sum + ms, 0)).toBe(all)
      for (const ms of counts) expect(ms).toBeLessThan(2 * (turnMs + longestMs))
    }),
  )
})

test("work that fits in the turn does not wait", async () => {
  const { turns, work } = countedTurns()
  const pause = createPause(turns)
  for (let ms = 0; ms < turnMs; ms++) {
    expect(pause()).toBeUndefined()
    work(1)
  }
  expect(pause()).toBeInstanceOf(Promise)
})

test("of two long pieces of work, the one that began first is done first, and a short one does not wait for them", async () => {
  const { turns, work } = countedTurns()
  const ended: string[] = []
  const job = async (name: string, slices: number): Promise<void> => {
    const pause = createPause(turns)
    for (let slice = 0; slice < slices; slice++) {
      await pause()
      work(turnMs)
    }
    ended.push(name)
  }
  const others = ["first", "second", "third"].map((name) => job(name, 8))
  await othersServed()
  await Promise.all([...others, job("short", 1)])
  expect(ended).toEqual(["short", "first", "second", "third"])
})

test("short work that never ends does not keep long work from its end, nor long work what is of middle length", async () => {
  const { turns, work } = countedTurns()
  const ended: string[] = []
  let isDone = false
  const flood = async (): Promise<void> => {
    while (!isDone) {
      work(turnMs)
      await createPause(turns)()
    }
  }
  const job = async (name: string, slices: number): Promise<void> => {
    const pause = createPause(turns)
    for (let slice = 0; slice < slices; slice++) {
      work(turnMs)
      await pause()
    }
    ended.push(name)
  }
  const flooding = [flood(), flood()]
  const endless = Promise.all([job("long", 200), job("long", 200)])
  await job("middle", 12)
  await endless
  isDone = true
  await Promise.all(flooding)
  expect(ended).toEqual(["middle", "long", "long"])
})

test("what has begun goes on through its waits before anything new begins", async () => {
  const { turns, work } = countedTurns()
  const ended: number[] = []
  const request = async (n: number): Promise<void> => {
    await turns.enter("new")
    for (let call = 0; call < 6; call++) {
      work(4)
      // A store that answers at once, or all who ask in the same turn together.
      if (call % 3 === 2) await nextTurn()
      await turns.enter("short")
    }
    ended.push(n)
  }
  const all = Array.from({ length: 40 }, (_, n) => n)
  await Promise.all(all.map(request))
  expect(ended).toHaveLength(all.length)
  // Nobody is passed by many who came later.
  for (const [place, n] of ended.entries()) expect(Math.abs(place - n)).toBeLessThan(8)
})
