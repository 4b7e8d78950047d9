/** Who may begin how many sessions. */
export type NewSessions = {
  /** May the request go into this session? One that was begun goes on in any case. */
  readonly admit: (tenant: string, session: string, isNew: boolean) => boolean
}

type Count = { readonly sinceMs: number; begun: number }

const hourMs = 3_600_000
/** Tenants that are counted, and sessions that were not begun but may be asked for again; the oldest are let go. */
const maxKept = 10_000

/** Count the sessions that each tenant begins in an hour. */
export function createNewSessions(limit: number, now: () => number): NewSessions {
  const counts = new Map<string, Count>()
  const turnedAway = new Set<string>()
  const countOf = (tenant: string): Count => {
    const known = counts.get(tenant)
    const count = known !== undefined && now() - known.sinceMs < hourMs ? known : { sinceMs: now(), begun: 0 }
    counts.delete(tenant)
    counts.set(tenant, count)
    trim(counts)
    return count
  }
  return {
    admit: (tenant, session, isNew) => {
      if (!isNew && !turnedAway.has(session)) return true
      const count = countOf(tenant)
      if (count.begun >= limit) {
        turnedAway.add(session)
        trim(turnedAway)
        return false
      }
      turnedAway.delete(session)
      count.begun++
      return true
    },
  }
}

function trim(kept: Pick<Map<string, unknown>, "size" | "delete"> & { keys: () => Iterable<string> }): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) return
    kept.delete(oldest)
  }
}
