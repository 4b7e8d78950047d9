import { HoldfastError, ignoreProblem, type Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { withinMs } from "../model/within-ms.ts"
import { inTurn } from "../store/pace.ts"
import type { Store } from "../store/store.ts"

/** Default time limit for one store call in a turn; a working store is faster. */
export const storeMs = 5000

type Act<Args extends readonly unknown[], Value> = (...args: Args) => Promise<Value>

/** One watch for each store, so that all its users learn at the same time that it is unavailable. */
const watches = new WeakMap<Store, StoreWatch>()

function watchOf(store: Store): StoreWatch {
  const known = watches.get(store)
  if (known !== undefined) return known
  const watch = createStoreWatch(() => store.head("is the store there?"))
  watches.set(store, watch)
  return watch
}

/**
 * Adds time limits to the store calls made during a turn: a call fails after `limitMs`, or as soon as the store is known not to respond,
 * and then calls fail at once until it responds again. A timed-out write may still take effect, as if its reply had been lost; callers
 * write the same again. Calls that are long by nature are not limited.
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
      const value = await watch.during((signal) =>
        withinMs(() => act(...args), limitMs, late, { signal, onStop: stopped }),
      )
      // A store answers many calls in one turn of the event loop.
      await inTurn()
      return value
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
    eraseTenant: store.eraseTenant.bind(store),
    scrub: store.scrub.bind(store),
    usedBytes: store.usedBytes.bind(store),
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

type StoreWatch = ReturnType<typeof createStoreWatch>

/** A call that takes longer than this triggers a probe of the store. */
const slowMs = 1000
/** Time limit for the probe; a working store answers within it, however busy it is. */
const answerMs = 2000
/** Interval between probes while the store is unavailable. */
const againMs = 1000

/**
 * Tracks whether a store responds at all, by the calls made to it. `ask` is a cheap call; even an error counts as a response. No timer
 * keeps the process alive.
 */
export function createStoreWatch(ask: () => Promise<unknown>) {
  let away = false
  let asking = false
  let calls = new AbortController()

  const answered = async (): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), answerMs).unref()
    const isThere = (): void => resolve(true)
    Promise.resolve().then(ask).then(isThere, isThere)
    return promise.finally(() => clearTimeout(timer))
  }
  const probe = async (): Promise<void> => {
    if (asking) return
    asking = true
    away = !(await answered())
    asking = false
    if (!away) return
    calls.abort()
    calls = new AbortController()
    setTimeout(() => void probe(), againMs).unref()
  }
  return {
    isAway: (): boolean => away,
    /** Runs a call. Its signal aborts when the store turns out to be unavailable. */
    during: async <Value>(call: (signal: AbortSignal) => Promise<Value>): Promise<Value> => {
      const timer = setTimeout(() => void probe(), slowMs).unref()
      try {
        return await call(calls.signal)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** Interval of automatic retries after the store was unavailable: another process may need the pending writes. */
const saveAgainMs = 1000

/** Repeats an action until it succeeds. The timer does not keep the process alive. */
export function createRetry(act: () => Promise<boolean>): { readonly start: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const start = (): void => {
    if (timer !== undefined || isStopped) return
    timer = setTimeout(() => void again(), saveAgainMs).unref()
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
