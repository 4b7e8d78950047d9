import type { AliasCache, Bearer } from "./alias-cache.ts"

/** Looks a name up without waiting: what is not at hand is noted as missing, and the question is asked again once it was fetched. */
export type Look = (name: string) => Bearer | undefined

export type Lookup = {
  readonly look: Look
  /** Looks at what is at hand, and notes nothing as missing. */
  readonly peek: Look
  readonly missing: ReadonlySet<string>
}

/** What was fetched for one question: who bears a name, or nobody. */
export type Fetched = ReadonlyMap<string, Bearer | undefined>

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
