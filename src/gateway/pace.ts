import { setImmediate as nextTurn } from "node:timers/promises"

/** Cuts long work into slices, between which others are served. */
export type Pace = {
  /** Has this slice taken as long as it may? */
  readonly isDue: () => boolean
  /** Let others be served, and begin the next slice. */
  readonly rest: () => Promise<void>
}

/** Nobody notices a pause of this length. */
const sliceMs = 15

export function createPace(now: () => number = () => performance.now()): Pace {
  let begunMs = now()
  return {
    isDue: () => now() - begunMs >= sliceMs,
    rest: async () => {
      await nextTurn()
      begunMs = now()
    },
  }
}
