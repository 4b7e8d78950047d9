import { setImmediate as nextTurn } from "node:timers/promises"

/** Splits long work into slices, so that other work runs in between. */
export type Pace = {
  /** Has this slice used its time? */
  readonly isDue: () => boolean
  /** Yield to other work, and begin the next slice. */
  readonly rest: () => Promise<void>
}

/**
 * Yield twice: after an I/O callback, the first immediate runs before other I/O is handled; only before the second one is other work
 * served.
 */
export async function othersServed(): Promise<void> {
  await nextTurn()
  await nextTurn()
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

/** Run a function for each item, in slices. */
export async function forEachInSlices<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
  const pace = createPace()
  for (const item of items) {
    act(item)
    if (pace.isDue()) await pace.rest()
  }
}
