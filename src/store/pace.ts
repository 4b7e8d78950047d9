import { runInSteps, type Steps } from "../message/steps.ts"

/**
 * Divides the time of the event loop. All work in one turn of the loop shares one time limit. Without it, continuations that are resolved
 * together (by a group of writes, or a read of many sockets) would all run to their end before any timer or socket is served.
 */

/** Time limit for the work of one turn of the event loop: a client does not notice a delay this short. */
const turnMs = 15

/** Work that waits; `turn` is the turn in which it started to wait. */
type Waiting = { readonly turn: number; readonly bornAt: number; readonly go: () => void }

/** How much a piece of work has run so far: not at all, up to one slice, up to `middleSlices`, or more. */
type Length = "new" | "short" | "middle" | "long"

/** Work of more slices than this (a quarter of a second) is long, and shorter work goes before it. */
const middleSlices = 16

/** The turns of an event loop: whether the current one has used its time, and the work that waits for a later one. */
export type Turns = {
  readonly isDue: () => boolean
  /** Continues after all work that was resumed earlier, in this turn if there is time left; undefined to continue immediately. */
  readonly enter: (length: "new" | "short") => Promise<void> | undefined
  /** Continues in a later turn. */
  readonly wait: (length: Length, bornAt: number) => Promise<void>
}

export function createTurns(now: () => number): Turns {
  const waiting = createQueues()
  let turn = 0
  let begunMs = 0
  /** True while the end of this turn is scheduled, which is only while work is running or waiting. */
  let isCounting = false
  let hasAsked = false
  let isServing = false
  /** True while a resumed piece of work is running. The next one is resumed only after it. */
  let isServed = false

  /** Start of a turn: first waiting work, then timers and sockets, until this runs again. */
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
  /** Start time of this turn. The first question in a turn starts it, because the loop may have been idle before. */
  const beganAtMs = (): number => {
    if (!isCounting) {
      isCounting = true
      begunMs = now()
      setImmediate(begin)
    }
    return begunMs
  }
  /** Resumes waiting work, one piece after the other, until the turn has used its time. */
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
  /** Resumed work is a chain of promises: a tick scheduled from a microtask runs after the last of them. */
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

/**
 * Short work gets the first half of a turn, unless it had the whole previous turn. The rest alternates between middle and long work. Older
 * work goes first: new work starts only if no short work waits, and work of middle length is ordered by age.
 */
function createQueues() {
  const fresh: Waiting[] = []
  const short: Waiting[] = []
  const middle: Waiting[] = []
  const long: Waiting[] = []
  let isLongNext = false
  let hadOthers = true
  let isShortFirst = true
  return {
    add: (length: Length, work: Waiting): void => {
      if (length === "new") fresh.push(work)
      else if (length === "short") short.push(work)
      else if (length === "long") long.push(work)
      else middle.splice(middle.findLastIndex(({ bornAt }) => bornAt <= work.bornAt) + 1, 0, work)
    },
    hasAny: (): boolean => fresh.length + short.length + middle.length + long.length > 0,
    beginTurn: (): void => {
      isShortFirst = hadOthers || middle.length + long.length === 0
      hadOthers = false
    },
    /** The next piece of work that waited before this turn. */
    take: (turn: number, isFirstHalf: boolean): Waiting | undefined => {
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

/** True if the work of this turn of the event loop has used its time. */
export const isDue = (): boolean => ownTurns.isDue()

/** Yields unconditionally, before or after a piece of work that cannot be divided. */
export const othersServed = (length: "new" | "short" = "short"): Promise<void> => ownTurns.wait(length, 0)

/** Await this where many continuations are resolved at once: each continues when the earlier ones are done or waiting. */
export const inTurn = (): Promise<void> | undefined => ownTurns.enter("short")

/** Await this before new work: it starts when the work already started is done or waiting. */
export const beginInTurn = (): Promise<void> | undefined => ownTurns.enter("new")

let bornLast = 0

/**
 * Creates a function that yields if this turn has used its time, else returns undefined. The longer the work has run, the later it
 * continues.
 */
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

/** Runs all steps: immediately if this turn has time for them, otherwise in slices. */
export function runPaced<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const pause = createPause()
  for (;;) {
    const resting = pause()
    if (resting !== undefined) return resting.then(() => runInSteps(steps, pause))
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

export async function forEachInSlices<Item>(items: Iterable<Item>, act: (item: Item) => void): Promise<void> {
  const pause = createPause()
  for (const item of items) {
    const resting = pause()
    if (resting !== undefined) await resting
    act(item)
  }
}

/** Runs one function at a time, in call order. */
export type Lock = <Value>(act: () => Promise<Value>) => Promise<Value>

export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const run = last.then(act, act)
    last = run.catch(() => undefined)
    return run
  }
}
