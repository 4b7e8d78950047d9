/** Looks up a name synchronously. A name that is not cached is noted as missing; the question is asked again once it was fetched. */
export type Look = (name: string) => Bearer | undefined

type Lookup = {
  readonly look: Look
  /** Looks only at cached names, and notes nothing as missing. */
  readonly peek: Look
  readonly missing: ReadonlySet<string>
}

/** The names fetched for one question; undefined if no session has the name. */
type FetchedNames = ReadonlyMap<string, Bearer | undefined>

export function lookup(cache: AliasCache, fetched: FetchedNames, isFresh: (name: string) => boolean): Lookup {
  const missing = new Set<string>()
  const look: Look = (name) => {
    const found = isFresh(name) || fetched.has(name) ? cache.get(name) : undefined
    if (found !== undefined || fetched.has(name)) return found ?? fetched.get(name)
    missing.add(name)
    return undefined
  }
  return { look, peek: (name) => cache.get(name) ?? fetched.get(name), missing }
}

/** The first of these names whose session `counts` accepts. All names that are not cached are noted, so that they are fetched together. */
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

/** The session that has a name, and the entry stored with the name. */
export type Bearer = { readonly session: string; readonly entry?: string | undefined }

/** A cache of recently used names. The least recently used one is dropped first; the store still has it. */
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
