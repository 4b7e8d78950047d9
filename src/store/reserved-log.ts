import { HoldfastError } from "../message/errors.ts"
import { checkAliases, checkNames } from "./check-aliases.ts"
import type { SessionId, Store } from "./store.ts"

/** The log of the operator's channel. Its name has a blank, which no session's name may have, so that nobody can open one of that name. */
export const operatorLog: SessionId = "operator log"
/** The log of the rules that hold for more than one session. */
export const sharedRulesLog: SessionId = "shared rules"

const reserved: ReadonlySet<SessionId> = new Set([operatorLog, sharedRulesLog])

/** Refuse what would be done to such a log under the name of a session. */
export function refuseReserved(session: SessionId): void {
  if (!reserved.has(session)) return
  const expected = "a name that is not one of our own logs'"
  throw new HoldfastError({ code: "option-invalid", option: "session", expected, found: JSON.stringify(session) })
}

/**
 * The same store, in which our own logs are no sessions: they are read and appended to by name, and never listed, described, copied,
 * deleted, pruned or found by an alias. Every store is made through this one door, so aliases are checked here.
 */
export function reserveLog(store: Store): Store {
  return {
    ...store,
    session: async (session) => (reserved.has(session) ? undefined : store.session(session)),
    holdings: async (session) =>
      reserved.has(session) ? { payloads: [], summaries: [], memory: [] } : store.holdings(session),
    sessions: async (filter) => {
      const limit = filter?.limit
      // More than asked for: those that are left out must not take the place of others.
      const more = limit === undefined || limit < 1 ? filter : { ...filter, limit: limit + reserved.size }
      const rows = await store.sessions(more)
      const others = rows.filter(({ id }) => !reserved.has(id))
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
    putAliases: async (session, aliases) => {
      refuseReserved(session)
      return store.putAliases(session, checkAliases(aliases))
    },
    findAliases: async (names) => store.findAliases(checkNames(names)),
  }
}
