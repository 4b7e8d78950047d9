import { HoldfastError } from "../errors.ts"
import type { SessionId, Store } from "./store.ts"

/** The log of the operator's channel. Its name has a blank, which no session's name may have, so that nobody can open one of that name. */
export const operatorLog: SessionId = "operator log"

/** Refuse what would be done to the operator's log under the name of a session. */
export function refuseReserved(session: SessionId): void {
  if (session !== operatorLog) return
  const expected = "a name that is not the operator log's"
  throw new HoldfastError({ code: "option-invalid", option: "session", expected, found: JSON.stringify(session) })
}

/**
 * The same store, in which the operator's log is no session: it is read and appended to by its name, and never listed, described, copied,
 * deleted or pruned. Every store is made through this one door.
 */
export function reserveLog(store: Store): Store {
  return {
    ...store,
    session: async (session) => (session === operatorLog ? undefined : store.session(session)),
    holdings: async (session) =>
      session === operatorLog ? { payloads: [], summaries: [], memory: [] } : store.holdings(session),
    sessions: async (filter) => {
      const limit = filter?.limit
      // One more than asked for: the one that is left out must not take the place of another.
      const rows = await store.sessions(limit === undefined || limit < 1 ? filter : { ...filter, limit: limit + 1 })
      const others = rows.filter(({ id }) => id !== operatorLog)
      return limit === undefined ? others : others.slice(0, Math.max(0, Math.trunc(limit)))
    },
    copy: async (from, to, upTo) => {
      refuseReserved(from)
      refuseReserved(to)
      return store.copy(from, to, upTo)
    },
    remove: async (session) => {
      refuseReserved(session)
      return store.remove(session)
    },
    putSummary: async (session, key, json) => {
      refuseReserved(session)
      return store.putSummary(session, key, json)
    },
  }
}
