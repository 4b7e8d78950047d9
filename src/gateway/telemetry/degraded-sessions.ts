import type { SessionEvent } from "../../session/events.ts"

/** So many are told apart; an outage with more of them is an outage all the same. */
const maxSessions = 10_000

export type DegradedSessions = { readonly take: (event: SessionEvent) => void; readonly count: () => number }

/** The sessions of which the store has not everything. */
export function createDegradedSessions(limit: number = maxSessions): DegradedSessions {
  const degraded = new Set<string>()
  return {
    take: (event) => {
      if (event.type === "durability-degraded" && degraded.size < limit) degraded.add(event.session)
      const saved = event.type === "entries-appended" && event.durable
      if (saved || event.type === "durability-restored") degraded.delete(event.session)
    },
    count: () => degraded.size,
  }
}
