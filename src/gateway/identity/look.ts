/** Looks a name up without waiting: what is not at hand is noted as missing, and the question is asked again once it was fetched. */
export type Look = (name: string) => Bearer | undefined

type Lookup = {
  readonly look: Look
  /** Looks at what is at hand, and notes nothing as missing. */
  readonly peek: Look
  readonly missing: ReadonlySet<string>
}

/** What was fetched for one question: who bears a name, or nobody. */
type Fetched = ReadonlyMap<string, Bearer | undefined>

export function lookup(cache: AliasCache, fetched: Fetched, isFresh: (name: string) => boolean): Lookup {
  const missing = new Set<string>()
  const look: Look = (name) => {
    const found = isFresh(name) || fetched.has(name) ? cache.get(name) : undefined
    if (found !== undefined || fetched.has(name)) return found ?? fetched.get(name)
    missing.add(name)
    return undefined
  }
  return { look, peek: (name) => cache.get(name) ?? fetched.get(name), missing }
}

/** The first of these names that someone bears whom `counts` takes. All that are not at hand are asked for at once. */
export function lookFirst(
  look: Look,
  names: readonly string[],
  counts: (bearer: Bearer) => boolean,
): Bearer | undefined {
  let found: Bearer | undefined
  for (const name of names) {
    found = look(name)
    if (found !== undefined && counts(found)) return found
  }
  return undefined
}

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
