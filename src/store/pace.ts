import type { Steps } from "../message/steps.ts"

/**
 * Shares out the time of the event loop. All work of a turn has one time limit together: what a group of writes or a read of many sockets
 * releases at once would otherwise run to its end, one continuation after the other, before any timer or socket is heard.
 */

/** Time that work may take in one turn of the event loop: a pause this short is not noticed. */
const turnMs = 15

/** Work that waits: `turn` is the one in which it began to. */
type Waiting = { readonly turn: number; readonly bornAt: number; readonly go: () => void }

/** Not begun yet, begun just now, of some slices, or of many. */
type Length = "new" | "short" | "middle" | "long"

/** Work of so many slices (a quarter of a second) is long: shorter work does not wait until it is done. */
const middleSlices = 16

/** The turns of an event loop: whether the present one has used its time, and the work that waits for a later one. */
export type Turns = {
  readonly isDue: () => boolean
  /** Go on when all work that was released before is done, in this turn if there is time left; undefined if that is now. */
  readonly enter: (length: "new" | "short") => Promise<void> | undefined
  /** Go on in a later turn. */
  readonly wait: (length: Length, bornAt: number) => Promise<void>
}

export function createTurns(now: () => number): Turns {
  const waiting = createQueues()
  let turn = 0
  let begunMs = 0
  /** Is the end of this turn scheduled? While nothing asks, nothing is. */
  let isCounting = false
  let hasAsked = false
  let isServing = false
  /** Does work run that was let go on in this turn? Until the next piece is served, no other does. */
  let isServed = false

  /** A turn lasts from here to here: waiting work, then timers and sockets. */
  const begin = (): void => {
    turn++
    begunMs = now()
    isCounting = hasAsked || waiting.hasAny()
    hasAsked = false
    if (!isCounting) return
    setImmediate(begin)
    waiting.beginTurn()
    serveNext()
  }
  /** When this turn began. One that nothing has asked about yet begins now, because the loop may have slept before. */
  const beganAtMs = (): number => {
    if (!isCounting) {
      isCounting = true
      begunMs = now()
      setImmediate(begin)
    }
    return begunMs
  }
  /** Let work go on that waited, one piece after the other, until the turn has used its time. */
  const serve = (): void => {
    isServing = false
    isServed = false
    const usedMs = now() - begunMs
    const next = usedMs >= turnMs ? undefined : waiting.take(turn, usedMs < turnMs / 2)
    if (next === undefined) return
    isServed = true
    next.go()
    serveNext()
  }
  /** What goes on is a chain of promises: a tick that a microtask schedules comes after the last of them. */
  const serveNext = (): void => {
    if (isServing) return
    isServing = true
    queueMicrotask(() => process.nextTick(serve))
  }
  const add = (length: Length, bornAt: number, since: number): Promise<void> => {
    hasAsked = true
    beganAtMs()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.add(length, { turn: since, bornAt, go: resolve })
    return promise
  }
  return {
    isDue: () => {
      hasAsked = true
      return now() - beganAtMs() >= turnMs
    },
    enter: (length) => {
      if (isServed && length === "short" && now() - begunMs < turnMs) return undefined
      serveNext()
      return add(length, 0, turn - 1)
    },
    wait: (length, bornAt) => add(length, bornAt, turn),
  }
}

type Queues = {
  readonly add: (length: Length, work: Waiting) => void
  readonly hasAny: () => boolean
  readonly beginTurn: () => void
  /** The next piece of work that waited before this turn. */
  readonly take: (turn: number, isFirstHalf: boolean) => Waiting | undefined
}

/**
 * Short work has the first half of a turn, unless it had all of the last one. Of the rest, middle and long work have every second piece.
 * What began first is done first: new work begins when no other short work waits, and work of middle length waits by its age.
 */
function createQueues(): Queues {
  const fresh: Waiting[] = []
  const short: Waiting[] = []
  const middle: Waiting[] = []
  const long: Waiting[] = []
  let isLongNext = false
  let hadOthers = true
  let isShortFirst = true
  return {
    add: (length, work) => {
      if (length === "new") fresh.push(work)
      else if (length === "short") short.push(work)
      else if (length === "long") long.push(work)
      else middle.splice(middle.findLastIndex(({ bornAt }) => bornAt <= work.bornAt) + 1, 0, work)
    },
    hasAny: () => fresh.length + short.length + middle.length + long.length > 0,
    beginTurn: () => {
      isShortFirst = hadOthers || middle.length + long.length === 0
      hadOthers = false
    },
    take: (turn, isFirstHalf) => {
      const others = isLongNext ? [long, middle] : [middle, long]
      const order = isFirstHalf && (isShortFirst || hadOthers) ? [short, fresh, ...others] : [...others, short, fresh]
      const queue = order.find((all) => all.some((work) => work.turn < turn))
      if (queue === middle || queue === long) {
        isLongNext = queue === middle
        hadOthers = true
      }
      const at = queue?.findIndex((work) => work.turn < turn) ?? 0
      return queue?.splice(at, 1)[0]
    },
  }
}

const ownTurns = createTurns(() => performance.now())

/** Has the work of this turn of the event loop used its time? */
export const isDue = (): boolean => ownTurns.isDue()

/** Yield in any case, before or after a piece of work that cannot be cut. */
export const othersServed = (length: "new" | "short" = "short"): Promise<void> => ownTurns.wait(length, 0)

/** To be awaited where many are released at once: each goes on when those before it are done or wait for something. */
export const inTurn = (): Promise<void> | undefined => ownTurns.enter("short")

/** To be awaited before new work: it begins when those that have begun are done or wait for something. */
export const beginInTurn = (): Promise<void> | undefined => ownTurns.enter("new")

let bornLast = 0

/** A function that yields if this turn has used its time, and is undefined if there is time left: the longer work takes, the later it goes on. */
export function createPause(turns: Turns = ownTurns): () => Promise<void> | undefined {
  bornLast++
  const bornAt = bornLast
  let slices = 0
  return () => {
    if (!turns.isDue()) return undefined
    slices++
    return turns.wait(slices === 1 ? "short" : slices <= middleSlices ? "middle" : "long", bornAt)
  }
}

/** Do all steps: at once if this turn has time for them, otherwise in slices. */
export function runPaced<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const pause = createPause()
  for (;;) {
    const resting = pause()
    if (resting !== undefined) return inSlices(steps, pause, resting)
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

async function inSlices<Result>(
  steps: Steps<Result>,
  pause: ReturnType<typeof createPause>,
  resting: Promise<void>,
): Promise<Result> {
  await resting
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const rest = pause()
    if (rest !== undefined) await rest
  }
}

/** Run a function for each item, in slices. */
export async function forEachInSlices<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
  const pause = createPause()
  for (const item of items) {
    const resting = pause()
    if (resting !== undefined) await resting
    act(item)
  }
}
