/** Sessions whose last answer has ended and is not written down yet, by tenant. */
export type Endings = {
  /** An answer has ended; it is written down when the work that this begins is over. */
  readonly ending: (tenant: string, session: string, work: () => Promise<void>) => Promise<void>
  readonly ended: (tenant: string) => readonly string[]
}

export function createEndings(): Endings {
  const counts = new Map<string, Map<string, number>>()
  const add = (tenant: string, session: string, by: number): void => {
    const sessions = counts.get(tenant) ?? new Map<string, number>()
    const count = (sessions.get(session) ?? 0) + by
    if (count > 0) sessions.set(session, count)
    else sessions.delete(session)
    if (sessions.size > 0) counts.set(tenant, sessions)
    else counts.delete(tenant)
  }
  return {
    ending: async (tenant, session, work) => {
      add(tenant, session, 1)
      await work().finally(() => add(tenant, session, -1))
    },
    ended: (tenant) => [...(counts.get(tenant)?.keys() ?? [])],
  }
}
