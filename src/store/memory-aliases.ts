import type { FoundAlias, SessionId, Store } from "./store.ts"

/** The aliases of a memory store, by name and by session. */
export type MemoryAliases = Pick<Store, "putAliases" | "findAliases"> & {
  /** False if the session had none. */
  readonly removeAll: (session: SessionId) => boolean
}

export function createMemoryAliases(call: <Value>(work: () => Value) => Promise<Value>): MemoryAliases {
  const bearers = new Map<string, FoundAlias>()
  const namesOf = new Map<SessionId, Set<string>>()
  const release = (name: string): void => {
    const session = bearers.get(name)?.session
    const names = session === undefined ? undefined : namesOf.get(session)
    names?.delete(name)
    if (session !== undefined && names?.size === 0) namesOf.delete(session)
  }
  return {
    putAliases: (session, aliases) =>
      call(() => {
        for (const alias of aliases) {
          release(alias.name)
          bearers.set(alias.name, { ...alias, session })
          const names = namesOf.get(session) ?? new Set()
          namesOf.set(session, names.add(alias.name))
        }
      }),
    findAliases: (names) => call(() => names.flatMap((name) => bearers.get(name) ?? [])),
    removeAll: (session) => {
      for (const name of namesOf.get(session) ?? []) bearers.delete(name)
      return namesOf.delete(session)
    },
  }
}
