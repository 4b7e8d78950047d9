import type { Problem } from "../errors.ts"
import type { Store } from "../store/store.ts"
import { withinMs } from "../upstream/within-ms.ts"

/** Our own stores give up after ten seconds; one that took twice as long will not answer any more, and a turn hangs on it. */
export const storeMs = 20_000

type Act<Args extends readonly unknown[], Value> = (...args: Args) => Promise<Value>

/**
 * The same store, whose calls in the midst of a turn end one way or another: after so long it counts as out of reach. What it still
 * does after that is as if its answer had got lost, and whoever wrote writes the same again. Calls that are long by nature are let be.
 */
export function limitStore(store: Store, limitMs: number = storeMs): Store {
  const late = (): Problem => ({
    code: "store-unavailable",
    store: store.kind,
    reason: `it did not answer within ${limitMs} ms`,
  })
  const limit =
    <Args extends readonly unknown[], Value>(act: Act<Args, Value>): Act<Args, Value> =>
    (...args) =>
      withinMs(() => act(...args), limitMs, late)
  const { kind, jobs, memory } = store
  return {
    kind,
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
    vacuum: store.vacuum.bind(store),
    close: store.close.bind(store),
    memory: {
      write: limit(memory.write.bind(memory)),
      supersede: limit(memory.supersede.bind(memory)),
      search: limit(memory.search.bind(memory)),
      get: limit(memory.get.bind(memory)),
      days: limit(memory.days.bind(memory)),
    },
  }
}
