import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { setNewest } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import type { AdminDeps } from "./admin-deps.ts"
import type { StatusAnswer, ToldProblem } from "./answers.ts"
import { exchangeName } from "./exchange-routes.ts"
import { tellProblem } from "./refusal.ts"
import type { Replicas } from "./replicas.ts"
import type { WindowMarks } from "./session-summary.ts"

/** What this process and its replicas saw of a session and no log says. */
export type SessionActivity = {
  /** Model calls in progress. */
  readonly inFlight: number
  /** The client program, from its user agent. */
  readonly client?: string
  /** The folder that the client works in, as its first request said. */
  readonly project?: string
  /** The window of the last request. */
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

type Sources = Pick<AdminDeps, "holdfast" | "recentExchanges" | "now"> & { readonly replicas: Replicas }

/** Limit on sessions; a gateway keeps fewer in memory. */
const maxSessions = 10_000

/** A replica that was killed does not say that its calls ended. */
const longestMs = 10 * 60_000

const idle: SessionActivity = { inFlight: 0 }

/** Keeps in mind who calls, what is on its way, and which sessions wait for the store. */
export function watchActivity({ holdfast, recentExchanges, replicas, now }: Sources): Activity {
  const clients = new Map<string, string>()
  const projects = new Map<string, string>()
  const windows = new Map<string, WindowMarks>()
  const begun = new Map<string, string>()
  const elsewhere = new Map<string, { readonly session: string; readonly atMs: number }>()
  const unsaved = new Map<string, Problem>()
  const hearCaller = (session: string, client: unknown, project: unknown): void => {
    if (typeof client === "string") setNewest(clients, session, client, maxSessions)
    if (typeof project === "string" && !projects.has(session)) setNewest(projects, session, project, maxSessions)
  }
  const hearWindow = (session: string, receipt: unknown): void => {
    const { windowTokens, compactAtTokens, compactUnreadAtTokens } = isObject(receipt) ? receipt : {}
    if (typeof windowTokens !== "number" || typeof compactAtTokens !== "number") return
    const unread = typeof compactUnreadAtTokens === "number" ? { compactUnreadAtTokens } : {}
    setNewest(windows, session, { windowTokens, compactAtTokens, ...unread }, maxSessions)
  }
  replicas.subscribe(({ atMs, name, session, value }) => {
    const { id, type, client, project, receipt } = value
    if (typeof id === "string" && name === exchangeName) elsewhere.delete(id)
    if (session === undefined || typeof id !== "string") return
    if (type === "exchange-begun") setNewest(elsewhere, id, { session, atMs }, maxSessions)
    if (type === "exchange-begun" || name === exchangeName) hearCaller(session, client, project)
    if (receipt !== undefined) hearWindow(session, receipt)
  })
  const stops = [
    recentExchanges.subscribeBegun(({ id, session, client, project }) => {
      if (session === undefined) return
      setNewest(begun, id, session, maxSessions)
      hearCaller(session, client, project)
    }),
    recentExchanges.subscribe(({ id, session, client, project, receipt }) => {
      begun.delete(id)
      if (session === undefined) return
      hearCaller(session, client, project)
      if (receipt !== undefined) hearWindow(session, receipt)
    }),
    holdfast.subscribe((event) => {
      if (event.type === "durability-restored") unsaved.delete(event.session)
      if (event.type === "durability-degraded") setNewest(unsaved, event.session, event.problem, maxSessions)
    }),
  ]
  return {
    of: (session) => {
      const problem = unsaved.get(session)
      const others = [...elsewhere.values()].filter((one) => one.session === session && now() - one.atMs < longestMs)
      const inFlight = [...begun.values()].filter((one) => one === session).length + others.length
      const seen = present({
        client: clients.get(session),
        project: projects.get(session),
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
