/** Work that was begun; `ended` never rejects. */
export type Begun = { readonly ended: Promise<void> }

export type PumpOptions = {
  readonly concurrency: number
  readonly pollMs: number
  readonly onProblem: (reason: unknown) => void
}

/** Begins work while there is room for it: when woken, when some ends, and every `pollMs`. */
export type Pump = {
  readonly wake: () => void
  /** Ends once nothing runs and there is nothing to begin. */
  readonly idle: () => Promise<void>
  /** Begins nothing more; what runs goes on. */
  readonly stop: () => Promise<void>
}

/** `take` begins the next piece of work, or says that there is none. It may throw: then it is asked again later. */
export function createPump(take: () => Promise<Begun | undefined>, options: PumpOptions): Pump {
  const running = new Set<Promise<void>>()
  let stopped = false
  let current: Promise<boolean> | undefined
  let following: Promise<boolean> | undefined
  const round = async (): Promise<boolean> => {
    while (!stopped && running.size < options.concurrency) {
      const begun = await take()
      if (begun === undefined) return true
      const ended = begun.ended.then(() => {
        running.delete(ended)
        wake()
      })
      running.add(ended)
    }
    return false
  }
  const begin = (): Promise<boolean> => {
    current ??= round()
      .catch((reason: unknown) => {
        options.onProblem(reason)
        return false
      })
      .finally(() => {
        current = undefined
      })
    return current
  }
  /** A round that begins after this call; true if it left nothing behind. */
  const look = (): Promise<boolean> => {
    if (current === undefined) return begin()
    following ??= current.then(() => {
      following = undefined
      return begin()
    })
    return following
  }
  const wake = (): void => {
    if (!stopped) void look()
  }
  const timer = setInterval(wake, options.pollMs)
  timer.unref()
  return {
    wake,
    idle: async () => {
      while (!stopped) {
        const dry = await look()
        if (dry && running.size === 0) return
        await (running.size > 0 ? Promise.race(running) : pause(options.pollMs))
      }
    },
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await current
    },
  }
}

/** A pause that keeps no program alive. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
