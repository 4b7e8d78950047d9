import type { Problem } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { setNewest } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import type { AdminDeps } from "./admin-deps.ts"
import type { StatusAnswer, ToldProblem, WindowMarks } from "./answers.ts"
import { exchangeName } from "./exchange-routes.ts"
import { tellProblem } from "./refusal.ts"
import type { Replicas } from "./replicas.ts"

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

type Sources = Pick<AdminDeps, "holdfast" | "recentExchanges" | "now"> & { readonly replicas: Replicas }

/** Limit on sessions; a gateway keeps fewer in memory. */
const maxSessions = 10_000

/** A replica that was killed does not say that its calls ended. */
const longestMs = 10 * 60_000

function windowIn(receipt: unknown): WindowMarks | undefined {
  const { windowTokens, compactAtTokens, compactUnreadAtTokens } = isObject(receipt) ? receipt : {}
  if (typeof windowTokens !== "number" || typeof compactAtTokens !== "number") return undefined
  const unread = typeof compactUnreadAtTokens === "number" ? { compactUnreadAtTokens } : {}
  return { windowTokens, compactAtTokens, ...unread }
}

export type Activity = ReturnType<typeof watchActivity>

/** Keeps in mind who calls, what is on its way, and which sessions wait for the store. */
export function watchActivity({ holdfast, recentExchanges, replicas, now }: Sources) {
  const heard = new Map<string, Pick<SessionActivity, "client" | "project" | "window">>()
  const begun = new Map<string, string>()
  const elsewhere = new Map<string, { readonly session: string; readonly atMs: number }>()
  const unsaved = new Map<string, Problem>()
  const hear = (session: string, { client, project, receipt }: Readonly<Record<string, unknown>>): void => {
    const before = heard.get(session)
    const window = receipt === undefined ? undefined : windowIn(receipt)
    const told = {
      ...(typeof client === "string" ? { client } : {}),
      ...(before?.project === undefined && typeof project === "string" ? { project } : {}),
      ...(window === undefined ? {} : { window }),
    }
    setNewest(heard, session, { ...before, ...told }, maxSessions)
  }
  replicas.subscribe(({ atMs, name, session, value }) => {
    const { id, type } = value
    if (typeof id !== "string" || (type !== "exchange-begun" && name !== exchangeName)) return
    if (name === exchangeName) elsewhere.delete(id)
    if (session === undefined) return
    if (type === "exchange-begun") setNewest(elsewhere, id, { session, atMs }, maxSessions)
    hear(session, value)
  })
  const stops = [
    recentExchanges.subscribeBegun((call) => {
      if (call.session === undefined) return
      setNewest(begun, call.id, call.session, maxSessions)
      hear(call.session, call)
    }),
    recentExchanges.subscribe((record) => {
      begun.delete(record.id)
      if (record.session !== undefined) hear(record.session, record)
    }),
    holdfast.subscribe((event) => {
      if (event.type === "durability-restored") unsaved.delete(event.session)
      if (event.type === "durability-degraded") setNewest(unsaved, event.session, event.problem, maxSessions)
    }),
  ]
  return {
    of: (session: string): SessionActivity => {
      const problem = unsaved.get(session)
      const others = [...elsewhere.values()].filter((one) => one.session === session && now() - one.atMs < longestMs)
      const inFlight = [...begun.values()].filter((one) => one === session).length + others.length
      return { inFlight, ...heard.get(session), ...present({ unsaved: problem && tellProblem(problem) }) }
    },
    /** How many sessions have something that the store does not, and what the store said last. */
    durability: (): StatusAnswer["durability"] => {
      const problem = [...unsaved.values()].at(-1)
      return {
        durable: unsaved.size === 0,
        sessions: unsaved.size,
        ...present({ problem: problem && tellProblem(problem) }),
      }
    },
    stop: (): void => {
      for (const stop of stops) stop()
    },
  }
}
