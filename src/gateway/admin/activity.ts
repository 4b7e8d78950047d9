import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { setNewest } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import type { AdminDeps } from "./admin-deps.ts"
import type { StatusAnswer, ToldProblem, WindowMarks } from "./answers.ts"
import { exchangeName } from "./exchange-routes.ts"
import { describeProblem } from "./refusal.ts"
import type { Replicas } from "./replicas.ts"

/** What this process and its replicas know of a session besides its log. */
export type SessionActivity = {
  /** Model calls in progress. */
  readonly inFlight: number
  /** The client program, from its user agent. */
  readonly client?: string
  /** The folder that the client works in, as its first request said. */
  readonly project?: string
  /** The window of the last request. */
  readonly window?: WindowMarks
  /** The store's problem, if it does not have all entries of the session. */
  readonly unsaved?: ToldProblem
}

type Sources = Pick<AdminDeps, "holdfast" | "recentExchanges" | "now"> & { readonly replicas: Replicas }

/** Limit on sessions and calls remembered; a gateway keeps fewer sessions in memory. */
const maxSessions = 10_000

/** Time after which a call of another replica no longer counts as in progress: a killed replica does not report that its calls ended. */
const longestMs = 10 * 60_000

function windowIn(receipt: unknown): WindowMarks | undefined {
  const { windowTokens, compactAtTokens, compactUnreadAtTokens } = isObject(receipt) ? receipt : {}
  if (typeof windowTokens !== "number" || typeof compactAtTokens !== "number") return undefined
  const unread = typeof compactUnreadAtTokens === "number" ? { compactUnreadAtTokens } : {}
  return { windowTokens, compactAtTokens, ...unread }
}

export type Activity = ReturnType<typeof watchActivity>

/** Keeps track of clients, calls in progress, and sessions with entries that the store does not have. */
export function watchActivity({ holdfast, recentExchanges, replicas, now }: Sources) {
  const details = new Map<string, Pick<SessionActivity, "client" | "project" | "window">>()
  const callsHere = new Map<string, string>()
  const callsElsewhere = new Map<string, { readonly session: string; readonly atMs: number }>()
  const unsaved = new Map<string, Problem>()
  const noteDetails = (session: string, { client, project, receipt }: Readonly<Record<string, unknown>>): void => {
    const before = details.get(session)
    const window = receipt === undefined ? undefined : windowIn(receipt)
    const told = {
      ...(typeof client === "string" ? { client } : {}),
      ...(before?.project === undefined && typeof project === "string" ? { project } : {}),
      ...(window === undefined ? {} : { window }),
    }
    setNewest(details, session, { ...before, ...told }, maxSessions)
  }
  replicas.subscribe(({ atMs, name, session, value }) => {
    const { id, type } = value
    if (typeof id !== "string" || (type !== "exchange-begun" && name !== exchangeName)) return
    if (name === exchangeName) callsElsewhere.delete(id)
    if (session === undefined) return
    if (type === "exchange-begun") setNewest(callsElsewhere, id, { session, atMs }, maxSessions)
    noteDetails(session, value)
  })
  const stops = [
    recentExchanges.subscribeBegun((call) => {
      if (call.session === undefined) return
      setNewest(callsHere, call.id, call.session, maxSessions)
      noteDetails(call.session, call)
    }),
    recentExchanges.subscribe((record) => {
      callsHere.delete(record.id)
      if (record.session !== undefined) noteDetails(record.session, record)
    }),
    holdfast.subscribe((event) => {
      if (event.type === "durability-restored") unsaved.delete(event.session)
      if (event.type === "durability-degraded") setNewest(unsaved, event.session, event.problem, maxSessions)
    }),
  ]
  return {
    of: (session: string): SessionActivity => {
      const problem = unsaved.get(session)
      const others = [...callsElsewhere.values()].filter(
        (one) => one.session === session && now() - one.atMs < longestMs,
      )
      const inFlight = [...callsHere.values()].filter((one) => one === session).length + others.length
      return { inFlight, ...details.get(session), ...present({ unsaved: problem && describeProblem(problem) }) }
    },
    /** The number of sessions with entries that the store does not have, and the store's last problem. */
    durability: (): StatusAnswer["durability"] => {
      const problem = [...unsaved.values()].at(-1)
      return {
        durable: unsaved.size === 0,
        sessions: unsaved.size,
        ...present({ problem: problem && describeProblem(problem) }),
      }
    },
    stop: (): void => {
      for (const stop of stops) stop()
    },
  }
}
