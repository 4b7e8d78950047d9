/** Which sessions wait for an answer. */
export type Flights = {
  readonly begin: (session: string) => void
  readonly end: (session: string) => void
  readonly has: (session: string) => boolean
}

/** Longer than any answer takes: whoever did not say by then how it ended never will. */
const maxMs = 30 * 60_000

export function createFlights(now: () => number): Flights {
  const open = new Map<string, { readonly count: number; readonly sinceMs: number }>()
  const lived = (session: string) => {
    const flight = open.get(session)
    return flight !== undefined && now() - flight.sinceMs < maxMs ? flight : undefined
  }
  return {
    begin: (session) => {
      const count = (lived(session)?.count ?? 0) + 1
      open.delete(session)
      open.set(session, { count, sinceMs: now() })
      for (const oldest of open.keys()) {
        if (lived(oldest) !== undefined) break
        open.delete(oldest)
      }
    },
    end: (session) => {
      const flight = open.get(session)
      if (flight === undefined || flight.count <= 1) open.delete(session)
      else open.set(session, { ...flight, count: flight.count - 1 })
    },
    has: (session) => lived(session) !== undefined,
  }
}
