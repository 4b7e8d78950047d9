/** What is done for each session beside its requests, one thing after the other, and beside those of other sessions. */
export type WorkLines = {
  /** Ends when the work has been done; what goes wrong in it is told, and breaks nothing. */
  readonly add: (line: string, work: () => Promise<void>) => Promise<void>
  readonly waiting: (line: string) => number
  /** Ends when all work of a line that is known now has been done; it begins at once. */
  readonly idle: (line: string) => Promise<void>
  readonly allIdle: () => Promise<void>
}

/** Resolves `soon` when someone waits for the line, so that its work begins. */
type Line = { tail: Promise<void>; waiting: number; readonly soon: Promise<void>; readonly hurry: () => void }

/**
 * Work begins this long after it was added, or at once if someone waits for it: an answer that comes sooner is passed on before, and a
 * model thinks for longer. With much to do it rests longer, so that what comes meanwhile is done with it.
 */
const restMs = 10
const longestRestMs = 250
/** Lines that are worked on at once: some wait for the store, and what they write in one moment is written together. */
const maxAtOnce = 3

export function createWorkLines(onFault: (error: unknown) => void): WorkLines {
  const lines = new Map<string, Line>()
  const turnstile = createTurnstile(maxAtOnce)
  const open = (): Line => {
    const { promise: soon, resolve } = Promise.withResolvers<void>()
    return { tail: Promise.resolve(), waiting: 0, soon, hurry: resolve }
  }
  return {
    add: (name, work) => {
      const line = lines.get(name) ?? open()
      lines.set(name, line)
      line.waiting++
      line.tail = Promise.all([line.tail, rest(line.soon, Math.min(longestRestMs, restMs * lines.size))])
        .then(() => turnstile.enter(line.soon))
        .then((leave) => work().finally(leave))
        .catch(onFault)
        .finally(() => {
          line.waiting--
          if (line.waiting === 0) lines.delete(name)
        })
      return line.tail
    },
    waiting: (name) => lines.get(name)?.waiting ?? 0,
    idle: async (name) => {
      const line = lines.get(name)
      line?.hurry()
      await line?.tail
    },
    allIdle: async () => {
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

/** Lets work in piece by piece, so that whoever is served meanwhile waits for one piece and not for all that is there. */
type Turnstile = {
  /** Wait for a turn, or only until `hurry`; call what comes back once the work is done. */
  readonly enter: (hurry: Promise<void>) => Promise<() => void>
}

export function createTurnstile(most: number): Turnstile {
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
  /** One each time round the event loop: between two of them everyone else has a turn. */
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
    enter: (hurry) => {
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
