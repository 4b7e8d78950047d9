import { HoldfastError, type Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { withinMs } from "../model/within-ms.ts"
import type { Store } from "../store/store.ts"

/** No one call of a turn takes as long on a store that works, and a turn hangs on it. */
export const storeMs = 5000

type Act<Args extends readonly unknown[], Value> = (...args: Args) => Promise<Value>

/** Whoever uses a store through its limits learns together with all others that it is away. */
const watches = new WeakMap<Store, StoreWatch>()

function watchOf(store: Store): StoreWatch {
  const known = watches.get(store)
  if (known !== undefined) return known
  const watch = createStoreWatch(() => store.head("is the store there?"))
  watches.set(store, watch)
  return watch
}

/**
 * The same store, whose calls in the midst of a turn end one way or another: after so long, or as soon as it turns out that the store
 * answers nobody, it counts as out of reach, and then no call waits until it answers again. What it still does after that is as if its
 * answer had got lost, and whoever wrote writes the same again. Calls that are long by nature are let be.
 */
export function limitStore(store: Store, limitMs: number = storeMs): Store {
  const watch = watchOf(store)
  const away = (reason: string): Problem => ({ code: "store-unavailable", store: store.kind, reason })
  const late = (): Problem => away(`it did not answer within ${limitMs} ms`)
  const stopped = (): Problem => away("it does not answer")
  const limit =
    <Args extends readonly unknown[], Value>(act: Act<Args, Value>): Act<Args, Value> =>
    async (...args) => {
      if (watch.isAway()) throw new HoldfastError(stopped())
      return watch.during((signal) => withinMs(() => act(...args), limitMs, late, { signal, onStop: stopped }))
    }
  const { kind, isShared, jobs, memory, events } = store
  return {
    kind,
    isShared,
    ...present({ events }),
    jobs,
    append: limit(store.append.bind(store)),
    head: limit(store.head.bind(store)),
    read: limit(store.read.bind(store)),
    readEntries: limit(store.readEntries.bind(store)),
    outline: limit(store.outline.bind(store)),
    payloads: limit(store.payloads.bind(store)),
    session: limit(store.session.bind(store)),
    sessions: limit(store.sessions.bind(store)),
    putSummary: limit(store.putSummary.bind(store)),
    getSummary: limit(store.getSummary.bind(store)),
    putAliases: limit(store.putAliases.bind(store)),
    findAliases: limit(store.findAliases.bind(store)),
    holdings: store.holdings.bind(store),
    copy: store.copy.bind(store),
    remove: store.remove.bind(store),
    check: store.check.bind(store),
    vacuum: store.vacuum.bind(store),
    close: store.close.bind(store),
    memory: {
      write: limit(memory.write.bind(memory)),
      supersede: limit(memory.supersede.bind(memory)),
      search: limit(memory.search.bind(memory)),
      get: limit(memory.get.bind(memory)),
      counts: limit(memory.counts.bind(memory)),
      days: limit(memory.days.bind(memory)),
    },
  }
}

/** Knows whether a store answers at all, from the calls that are made of it. */
type StoreWatch = {
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

/** How often a store that was away is tried again by itself: another process may need what waits here. */
const saveAgainMs = 1000

/** Does something again and again until it is done. Nobody stays up for it. */
export function createRetry(act: () => Promise<boolean>): { readonly start: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const start = (): void => {
    if (timer !== undefined || isStopped) return
    timer = setTimeout(() => void again(), saveAgainMs)
    timer.unref()
  }
  const again = async (): Promise<void> => {
    const isDone = await act().catch(ignoreProblem)
    timer = undefined
    if (isDone !== true) start()
  }
  return {
    start,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function ignoreProblem(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) throw error
  return false
}
