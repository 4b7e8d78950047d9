import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { AdminDeps } from "./admin-deps.ts"
import type { StatusAnswer, ToldProblem } from "./answers.ts"
import { tellProblem } from "./refusal.ts"
import type { WindowMarks } from "./session-profile.ts"

/** What this process saw of a session and no log says. */
export type SessionActivity = {
  /** Model calls on their way. */
  readonly inFlight: number
  /** The program that calls, by the name that it gives itself. */
  readonly client?: string
  /** The window as the last request knew it. */
  readonly window?: WindowMarks
  /** The store does not have all of it, and what it said. */
  readonly unsaved?: ToldProblem
}

export type Activity = {
  readonly of: (session: string) => SessionActivity
  /** How many sessions have something that the store does not, and what the store said last. */
  readonly durability: () => StatusAnswer["durability"]
  readonly stop: () => void
}

type Sources = Pick<AdminDeps, "holdfast" | "recentExchanges">

/** As many sessions as a gateway holds in memory, and more. */
const maxSessions = 10_000

const idle: SessionActivity = { inFlight: 0 }

/** Keeps in mind who calls, what is on its way, and which sessions wait for the store. */
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

/** Put it last; the one that was put first gives way where there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  const [first] = map.keys()
  if (map.size > maxSessions && first !== undefined) map.delete(first)
}
