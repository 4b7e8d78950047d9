import type { Live } from "./live.ts"

/** What is looked at to see whether a session may go. */
type Held = Pick<Live, "client" | "sent" | "judged"> & { readonly journal: Pick<Live["journal"], "isDurable"> }

/** The sessions that one process holds: those that were used last, for as many as there is room. */
export type OpenSessions<One> = {
  readonly take: (id: string, open: () => One) => One
  readonly forget: (id: string) => void
  readonly all: () => readonly One[]
}

/**
 * Characters of the requests that were last seen in them, beside those of the session in use. Read and counted, each takes about eight
 * bytes, so this is some 250 MB.
 */
const maxUnits = 32_000_000
/** Where tokens were counted and no text is at hand. */
const unitsPerToken = 4

const unitsOf = ({ client, sent }: Held): number => client?.wire.length ?? (sent?.tokens ?? 0) * unitsPerToken

export function createOpenSessions<One extends Held>(most: number, mostUnits = maxUnits): OpenSessions<One> {
  const lives = new Map<string, { readonly live: One; readonly units: number }>()
  let held = 0
  const forget = (id: string): void => {
    held -= lives.get(id)?.units ?? 0
    lives.delete(id)
  }
  /** The one unused for longest goes, unless it holds what the store does not have. */
  const evict = (used: string): void => {
    for (const [id, { live }] of lives) {
      if (lives.size <= Math.max(1, most) && held <= mostUnits) return
      if (id !== used && live.journal.isDurable() && live.judged.length === 0) forget(id)
    }
  }
  return {
    take: (id, open) => {
      const live = lives.get(id)?.live ?? open()
      const units = unitsOf(live)
      forget(id)
      lives.set(id, { live, units })
      held += units
      evict(id)
      return live
    },
    forget,
    all: () => [...lives.values()].map(({ live }) => live),
  }
}
