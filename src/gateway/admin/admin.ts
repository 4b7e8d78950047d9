import { randomBytes } from "node:crypto"
import { Hono, type MiddlewareHandler } from "hono"
import { secureHeaders } from "hono/secure-headers"
import type { GuardPolicy } from "../../guard/policy/condition.ts"
import { present } from "../../message/present.ts"
import { type Admission, refuseOrigin, refuseToken } from "../http/admission.ts"
import { type Activity, watchActivity } from "./activity.ts"
import { type AdminDeps, addRoute, readTextParameter } from "./admin-deps.ts"
import type { StatusAnswer } from "./answers.ts"
import { type ApprovalDesk, openApprovalDesk } from "./approval-desk.ts"
import { boundObject } from "./bound-value.ts"
import { createEventStreams, createFeed, type EventStreams, type Feed } from "./event-streams.ts"
import { addExchangeRoutes, exchangeLine, exchangeName, sharedExchange } from "./exchange-routes.ts"
import { addInspectionRoutes, summarize } from "./inspection-routes.ts"
import links from "./links.json" with { type: "json" }
import { addOperatorRoutes } from "./operator-routes.ts"
import { describeProblem, refusalResponse, refusals, refuseError } from "./refusal.ts"
import { joinReplicas, type Replicas } from "./replicas.ts"
import { createProfiles } from "./session-profile.ts"
import { addSessionRoutes, createFind } from "./session-routes.ts"
import { addChangeRoutes, cookieIn, createSignIns, proofHeader, type SignIn, type SignIns } from "./sign-in.ts"

/** The admin API: a function from request to response. Closing it ends its event streams. */
export type Admin = ((request: Request) => Promise<Response>) & { readonly close: () => void }

/** Shorter than the idle timeout of proxies. */
const defaultKeepAliveMs = 15_000

const randomName = (): string => randomBytes(6).toString("hex")

/** Creates the admin API. It changes something only by a signed command. The server checks the Host header before. */
export function createAdmin(deps: AdminDeps): Admin {
  const feed = createFeed((deps.newId ?? randomName)())
  const { store, operator, onFault } = deps
  // Without a token the admin API is off, so no events are exchanged with other replicas.
  const replicas = joinReplicas({ events: deps.token ? store.events : undefined, ...present({ operator, onFault }) })
  const activity = watchActivity({ ...deps, replicas })
  const streams = createEventStreams(feed, deps.keepAliveMs ?? defaultKeepAliveMs)
  const stopHearing = publishEvents({ ...deps, replicas }, feed)
  const signIns = createSignIns(deps.now)
  const signedIn = new WeakMap<Request, SignIn>()
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    c.res.headers.set("cache-control", "no-store")
  })
  app.use(
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      xFrameOptions: "DENY",
      strictTransportSecurity: false,
    }),
  )
  app.use(createDoor(deps, signIns, (request, who) => signedIn.set(request, who)))
  // In the list of routes, `{id}` is percent-encoded.
  addRoute(app, "GET", "/admin", () => ({ name: "holdfast", version: deps.version, links }))
  const find = createFind(deps)
  const profiles = createProfiles(deps.store)
  const inspection = { ...deps, find, activity, profiles }
  const placeOf = (policy: string): Pick<GuardPolicy, "source" | "line"> | undefined => {
    const found = deps.operator?.standing().guard?.policies.find(({ id }) => id === policy)
    return found && { source: found.source, line: found.line }
  }
  const desk = openApprovalDesk({ ...deps, profiles, replicas, placeOf })
  addRoute(app, "GET", "/admin/status", () => describeStatus(deps, activity, streams, desk))
  addSessionRoutes(app, { ...deps, find, summarize: (row) => summarize(inspection, row) })
  addInspectionRoutes(app, inspection)
  addChangeRoutes(app, { signIns, find, signedInOf: (c) => signedIn.get(c.req.raw) })
  addExchangeRoutes(app, { ...deps, replicas })
  addOperatorRoutes(app, { ...deps, desk })
  addEvents(app, streams)
  app.notFound(() => refusalResponse(refusals.path))
  app.onError((error) => refuseError(error, deps.onFault ?? (() => {})))
  const close = (): void => {
    stopHearing()
    activity.stop()
    replicas.stop()
    desk.stop()
    streams.close()
  }
  return Object.assign(async (request: Request): Promise<Response> => app.fetch(request), { close })
}

function describeStatus(deps: AdminDeps, activity: Activity, streams: EventStreams, desk: ApprovalDesk): StatusAnswer {
  const { status, store, operator, version, now } = deps
  const { requestsInFlight, closing, startedMs } = status()
  const nowMs = now()
  const problem = operator?.problem()
  return {
    version,
    nowMs,
    startedMs,
    uptimeMs: Math.max(0, nowMs - startedMs),
    closing,
    requestsInFlight,
    store: store.kind,
    durability: activity.durability(),
    operator:
      operator === undefined
        ? null
        : { audience: operator.audience, ...present({ problem: problem && describeProblem(problem) }) },
    approvals: desk.count(),
    streams: streams.count(),
  }
}

function addEvents(app: Hono, streams: EventStreams): void {
  addRoute(app, "GET", "/admin/events", (c) => {
    const session = readTextParameter(c, "session")
    const lastId = c.req.header("last-event-id")
    const stream = streams.open({ signal: c.req.raw.signal, ...present({ session, lastId }) })
    if (stream === undefined) return refusalResponse(refusals.busy)
    return new Response(stream, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    })
  })
}

const preflight = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "authorization, content-type, last-event-id",
  "access-control-max-age": "600",
}

const signInPath = "/admin/sign-in"

/**
 * Refuses requests from pages of other origins that are not listed, and requests without the token, or without the cookie and proof of a
 * signed-in page. A browser states where a request comes from (Origin, Sec-Fetch-Site), and a page cannot change that; programs do not send
 * these headers.
 */
function createDoor(
  { token, origins }: Pick<AdminDeps, "token" | "origins">,
  signIns: SignIns,
  note: (request: Request, who: SignIn) => void,
): MiddlewareHandler {
  const admission: Admission = { loopback: false, hosts: [], origins, ...present({ token }) }
  return async (c, next) => {
    if (token === undefined || token === "") {
      c.res = refusalResponse(refusals.off)
      return
    }
    const { headers, url } = c.req.raw
    const origin = headers.get("origin")
    const own = origin !== null && origin === new URL(url).origin
    const listed = origin !== null && !own && refuseOrigin(origin, admission) === undefined
    const isForeign =
      (origin !== null && !own) || !/^(?:same-origin|none)$/.test(headers.get("sec-fetch-site") ?? "none")
    if (isForeign && !listed) c.res = refusalResponse(refusals.page)
    else if (listed && c.req.method === "OPTIONS") c.res = new Response(null, { status: 204, headers: preflight })
    else {
      const who = signIns.find(cookieIn(c), headers.get(proofHeader), new URL(url).origin)
      if (who !== undefined) note(c.req.raw, who)
      const isEntering = own && c.req.path === signInPath
      const isIn = who !== undefined || isEntering || refuseToken(headers.get("authorization"), admission) === undefined
      if (isIn) await next()
      else c.res = refusalResponse(refusals.token)
    }
    if (listed) c.res.headers.set("access-control-allow-origin", origin)
    c.res.headers.append("vary", "Origin")
  }
}

/** Limits on the copy of one event: some hundred events are kept, and sent to every reader. */
const eventBounds = { text: 2000, items: 100, total: 10_000 }

type Sources = Pick<AdminDeps, "holdfast" | "recentExchanges" | "approvals" | "operator" | "now"> & {
  readonly replicas: Replicas
}

/** Age from which events of other replicas are not published: the store also delivers those of the last minutes, for the accounts. */
const freshMs = 10_000

/**
 * Publishes the events of sessions, recent exchanges, approvals and the operator in the feed, from this process and from other replicas,
 * and sends those of this process to the replicas. Operator events are not sent, because each replica reads the operator's log itself. Call
 * the returned function to stop.
 */
function publishEvents(
  { holdfast, recentExchanges, approvals, operator, now, replicas }: Sources,
  feed: Feed,
): () => void {
  const publish = (name: string, session: string | undefined, value: object): Readonly<Record<string, unknown>> => {
    const told = boundObject(value, eventBounds)
    feed.publish(name, session, told)
    return told
  }
  const publishToAll = (name: string, session: string | undefined, value: object): void =>
    replicas.tell(name, session, publish(name, session, value))
  replicas.subscribe(({ atMs, name, session, value }) => {
    if (now() - atMs > freshMs) return
    if (name === exchangeName) publish("exchange", session, { type: "exchange-ended", ...exchangeLine(value) })
    else publish(name, session, value)
  })
  const stops = [
    holdfast.subscribe((event) => {
      const told = "problem" in event ? { ...event, problem: describeProblem(event.problem) } : event
      publishToAll("session", event.session, told)
    }),
    recentExchanges.subscribeBegun((begun) => {
      publishToAll("exchange", begun.session, { type: "exchange-begun", ...begun })
    }),
    recentExchanges.subscribe((record) => {
      const whole = sharedExchange(record)
      publish("exchange", record.session, { type: "exchange-ended", ...exchangeLine(whole) })
      replicas.tell(exchangeName, record.session, whole)
    }),
    approvals.subscribe((event) => {
      const session = event.type === "approval-asked" ? event.approval.session : event.session
      publish("approval", session, event)
      // Not shortened: a person decides on it there.
      replicas.tell("approval", session, event)
    }),
    operator?.subscribe((event) => {
      publish("operator", undefined, "problem" in event ? { ...event, problem: describeProblem(event.problem) } : event)
    }),
  ]
  return () => {
    for (const stop of stops) stop?.()
  }
}
