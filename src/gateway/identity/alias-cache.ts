/** Who bears a name: a session, and what else is kept with the name. */
export type Bearer = { readonly session: string; readonly entry?: string }

/** Names that were used lately. The one unused for longest is let go; the store still has it. */
export type AliasCache = {
  readonly get: (name: string) => Bearer | undefined
  readonly set: (name: string, bearer: Bearer) => void
}

export function createAliasCache(limit: number): AliasCache {
  const bearers = new Map<string, Bearer>()
  const set = (name: string, bearer: Bearer): void => {
    bearers.delete(name)
    bearers.set(name, bearer)
    for (const oldest of bearers.keys()) {
      if (bearers.size <= limit) break
      bearers.delete(oldest)
    }
  }
  return {
    get: (name) => {
      const bearer = bearers.get(name)
      if (bearer !== undefined) set(name, bearer)
      return bearer
    },
    set,
  }
}
