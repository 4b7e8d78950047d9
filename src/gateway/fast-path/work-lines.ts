/** `hurry` resolves `soon`, so that queued work starts without delay. */
type Line = { tail: Promise<void>; waiting: number; readonly soon: Promise<void>; readonly hurry: () => void }

/**
 * Work begins after this delay, or at once if someone waits for it. A response that arrives earlier is relayed first, and models usually
 * take longer than this. With many sessions the delay grows, so that work that arrives meanwhile is done together.
 */
const restMs = 10
const longestRestMs = 250
/** Number of sessions worked on concurrently: some wait for the store, and writes at the same moment are batched. */
const maxAtOnce = 3

export type WorkLines = ReturnType<typeof createWorkLines>

/** Background work for sessions: in order within one session, concurrently across sessions. */
export function createWorkLines(onFault: (error: unknown) => void) {
  const lines = new Map<string, Line>()
  const limiter = createWorkLimiter(maxAtOnce)
  const open = (): Line => {
    const { promise: soon, resolve } = Promise.withResolvers<void>()
    return { tail: Promise.resolve(), waiting: 0, soon, hurry: resolve }
  }
  return {
    /** Resolves when the work is done. Errors are reported to `onFault` and do not reject. */
    add: (name: string, work: () => Promise<void>): Promise<void> => {
      const line = lines.get(name) ?? open()
      lines.set(name, line)
      line.waiting++
      line.tail = Promise.all([line.tail, rest(line.soon, Math.min(longestRestMs, restMs * lines.size))])
        .then(() => limiter.enter(line.soon))
        .then((leave) => work().finally(leave))
        .catch(onFault)
        .finally(() => {
          line.waiting--
          if (line.waiting === 0) lines.delete(name)
        })
      return line.tail
    },
    waiting: (name: string): number => lines.get(name)?.waiting ?? 0,
    /** Resolves when the queued work of a session is done, without starting it earlier. */
    done: async (name: string): Promise<void> => lines.get(name)?.tail,
    /** Starts all queued work of a session without delay, and resolves when it is done. */
    idle: async (name: string): Promise<void> => {
      const line = lines.get(name)
      line?.hurry()
      await line?.tail
    },
    allIdle: async (): Promise<void> => {
      while (lines.size > 0) {
        for (const { hurry } of lines.values()) hurry()
        await Promise.all([...lines.values()].map(({ tail }) => tail))
      }
    },
  }
}

function rest(soon: Promise<void>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  void soon.then(() => {
    clearTimeout(timer)
    resolve()
  })
  return promise
}

/** Limits concurrent work and starts it one piece at a time, so that requests wait for one piece and not for the whole queue. */
export function createWorkLimiter(most: number) {
  const waiting: (() => boolean)[] = []
  let inside = 0
  let isDue = false
  const admit = (): void => {
    isDue = false
    let admitted = false
    while (!admitted && waiting.length > 0) admitted = waiting.shift()?.() ?? false
    if (admitted) inside++
    plan()
  }
  /** Admits one per turn of the event loop, so that other work runs in between. */
  const plan = (): void => {
    if (isDue || inside >= most || waiting.length === 0) return
    isDue = true
    setImmediate(admit)
  }
  const leave = (): void => {
    inside--
    plan()
  }
  return {
    /** Waits for a turn, or only until `hurry` resolves. Call the returned function once the work is done. */
    enter: (hurry: Promise<void>): Promise<() => void> => {
      const { promise, resolve } = Promise.withResolvers<() => void>()
      let isIn = false
      const go = (left: () => void): boolean => {
        if (isIn) return false
        isIn = true
        resolve(left)
        return true
      }
      waiting.push(() => go(leave))
      void hurry.then(() => go(() => {}))
      plan()
      return promise
    },
  }
}
