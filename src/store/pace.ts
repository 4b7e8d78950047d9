import { setImmediate as nextTurn } from "node:timers/promises"
import type { Steps } from "../message/steps.ts"

/** Splits long work into slices, so that other work runs in between. */
export type Pace = {
  /** Has this slice used its time? */
  readonly isDue: () => boolean
  /** Yield to other work, and begin the next slice. */
  readonly rest: () => Promise<void>
}

/**
 * Slices that wait for their turn, the longest waiting first. A turn of the event loop serves one: all that wait would otherwise run one
 * after the other before anything else is heard, a second and a half for a hundred of them.
 */
const waiting: (() => void)[] = []

function serveOne(): void {
  // What waited goes on as soon as this function has returned.
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(serveOne)
}

/** Yield, and wait for a turn. After an I/O callback the first immediate runs before other I/O is handled, so others are served after that. */
export async function othersServed(): Promise<void> {
  await nextTurn()
  await new Promise<void>((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(serveOne)
  })
}

/** Length of a slice: a pause this short is not noticed. */
const sliceMs = 15

export function createPace(now: () => number = () => performance.now()): Pace {
  let begunMs = now()
  return {
    isDue: () => now() - begunMs >= sliceMs,
    rest: async () => {
      await othersServed()
      begunMs = now()
    },
  }
}

/** A function that yields to others when a slice has used its time. */
export function createPause(): () => Promise<void> | undefined {
  const pace = createPace()
  return () => (pace.isDue() ? pace.rest() : undefined)
}

/** Do all steps: at once if that is quick, otherwise in slices. */
export function runPaced<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const pace = createPace()
  const first = stepsUntilDue(steps, pace)
  return first.done === true ? first.value : inSlices(steps, pace)
}

async function inSlices<Result>(steps: Steps<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    await pace.rest()
    const step = stepsUntilDue(steps, pace)
    if (step.done === true) return step.value
  }
}

/** Work until it is done, or until it is time to yield to others. */
function stepsUntilDue<Result>(steps: Steps<Result>, pace: Pace): IteratorResult<undefined, Result> {
  for (;;) {
    const step = steps.next()
    if (step.done === true || pace.isDue()) return step
  }
}

/** Run a function for each item, in slices. */
export async function forEachInSlices<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
  const pace = createPace()
  for (const item of items) {
    act(item)
    if (pace.isDue()) await pace.rest()
  }
}
