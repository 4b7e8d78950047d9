import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { AdminDeps } from "./admin-deps.ts"
import { type Told, tellProblem } from "./refusal.ts"
import type { WindowMarks } from "./session-profile.ts"

/** What this process knows about a session besides its log. */
export type SessionActivity = {
  /** Model calls in progress. */
  readonly inFlight: number
  /** The client program, from its user agent. */
  readonly client?: string
  /** The window of the last request. */
  readonly window?: WindowMarks
  /** The store's problem, if it does not have all entries. */
  readonly unsaved?: Told
}

export type Activity = {
  readonly of: (session: string) => SessionActivity
  /** The number of sessions with unsaved entries, and the store's last problem. */
  readonly durability: () => { readonly durable: boolean; readonly sessions: number; readonly problem?: Told }
  readonly stop: () => void
}

type Sources = Pick<AdminDeps, "holdfast" | "recentExchanges">

/** Limit on sessions; a gateway keeps fewer in memory. */
const maxSessions = 10_000

const idle: SessionActivity = { inFlight: 0 }

/** Tracks clients, calls in progress, and sessions that wait for the store. */
export function watchActivity({ holdfast, recentExchanges }: Sources): Activity {
  const clients = new Map<string, string>()
  const windows = new Map<string, WindowMarks>()
  const begun = new Map<string, string>()
  const unsaved = new Map<string, Problem>()
  const stops = [
    recentExchanges.subscribeBegun(({ id, session, client }) => {
      if (session === undefined) return
      keep(begun, id, session)
      if (client !== undefined) keep(clients, session, client)
    }),
    recentExchanges.subscribe(({ id, session, client, receipt }) => {
      begun.delete(id)
      if (session === undefined) return
      if (client !== undefined) keep(clients, session, client)
      if (receipt !== undefined) {
        const { windowTokens, compactAtTokens } = receipt
        keep(windows, session, { windowTokens, compactAtTokens })
      }
    }),
    holdfast.subscribe((event) => {
      if (event.type === "durability-restored") unsaved.delete(event.session)
      if (event.type === "durability-degraded") keep(unsaved, event.session, event.problem)
    }),
  ]
  return {
    of: (session) => {
      const problem = unsaved.get(session)
      const inFlight = [...begun.values()].filter((one) => one === session).length
      const seen = present({
        client: clients.get(session),
        window: windows.get(session),
        unsaved: problem && tellProblem(problem),
      })
      return { ...idle, inFlight, ...seen }
    },
    durability: () => {
      const problem = [...unsaved.values()].at(-1)
      return {
        durable: unsaved.size === 0,
        sessions: unsaved.size,
        ...present({ problem: problem && tellProblem(problem) }),
      }
    },
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}

/** Add an entry as the newest; the oldest is removed if there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  const [first] = map.keys()
  if (map.size > maxSessions && first !== undefined) map.delete(first)
}
