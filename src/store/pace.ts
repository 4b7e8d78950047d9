import { setImmediate as nextTurn } from "node:timers/promises"

/** Cuts long work into slices, between which others are served. */
export type Pace = {
  /** Has this slice taken as long as it may? */
  readonly isDue: () => boolean
  /** Let others be served, and begin the next slice. */
  readonly rest: () => Promise<void>
}

/** What begins in a callback of I/O is followed by its immediates at once: only before the second one is anyone else served. */
export async function othersServed(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/** Nobody notices a pause of this length. */
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

/** Do something with each item, in slices. */
export async function forEachInSlices<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
  const pace = createPace()
  for (const item of items) {
    act(item)
    if (pace.isDue()) await pace.rest()
  }
}
