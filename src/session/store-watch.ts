/** Knows whether a store answers at all, from the calls that are made of it. */
export type StoreWatch = {
  readonly isAway: () => boolean
  /** Run a call. Its signal aborts when the store turns out to answer nobody. */
  readonly during: <Value>(call: (signal: AbortSignal) => Promise<Value>) => Promise<Value>
}

/** A call that takes longer than this makes one wonder. */
const slowMs = 1000
/** Then the store is asked something small; one that works has answered by now, however much it is asked. */
const answerMs = 2000
/** While it is away it is asked again after this. */
const againMs = 1000

/** Watch over a store. `ask` is a call that costs it next to nothing; that it fails is an answer too. */
export function createStoreWatch(ask: () => Promise<unknown>): StoreWatch {
  let away = false
  let asking = false
  let calls = new AbortController()

  const answered = async (): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = later(() => resolve(false), answerMs)
    const isThere = (): void => resolve(true)
    Promise.resolve().then(ask).then(isThere, isThere)
    return promise.finally(() => clearTimeout(timer))
  }
  const wonder = async (): Promise<void> => {
    if (asking) return
    asking = true
    away = !(await answered())
    asking = false
    if (!away) return
    calls.abort()
    calls = new AbortController()
    later(() => void wonder(), againMs)
  }
  return {
    isAway: () => away,
    during: async (call) => {
      const timer = later(() => void wonder(), slowMs)
      try {
        return await call(calls.signal)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** Nobody stays up for it. */
function later(act: () => void, ms: number): NodeJS.Timeout {
  const timer = setTimeout(act, ms)
  timer.unref()
  return timer
}
