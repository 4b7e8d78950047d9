import { randomBytes } from "node:crypto"
import { Hono } from "hono"
import { secureHeaders } from "hono/secure-headers"
import { present } from "../../message/present.ts"
import { addRoute } from "./add-route.ts"
import type { AdminDeps } from "./admin-deps.ts"
import { addBookRoutes } from "./book-routes.ts"
import { createDoor } from "./door.ts"
import { createDurability, type Durability } from "./durability.ts"
import { createEventStreams, type EventStreams } from "./event-streams.ts"
import { createFeed } from "./feed.ts"
import { addOperatorRoutes } from "./operator-routes.ts"
import { publishEvents } from "./publish-events.ts"
import { readText } from "./read-query.ts"
import { refusals, refuse, refuseError, tellProblem } from "./refusal.ts"
import { addSessionRoutes } from "./session-routes.ts"

/** The admin API: a function from request to answer. Closing it ends its event streams. */
export type Admin = ((request: Request) => Promise<Response>) & { readonly close: () => void }

/** Shorter than the silence after which anyone on the way takes a connection for dead. */
const usualKeepAliveMs = 15_000

const randomName = (): string => randomBytes(6).toString("hex")

/** What there is, for who looks at it for the first time. `{id}` is percent-encoded. */
const links = {
  status: "/admin/status",
  sessions: "/admin/sessions?agent=&limit=&before=",
  session: "/admin/sessions/{id}",
  history: "/admin/sessions/{id}/history?from=&limit=&full=1",
  entry: "/admin/sessions/{id}/entries/{entry}?full=1",
  sessionPins: "/admin/sessions/{id}/pins?all=1&limit=",
  compactions: "/admin/sessions/{id}/compactions?before=&limit=",
  verify: "/admin/sessions/{id}/verify",
  traces: "/admin/traces?session=&limit=",
  trace: "/admin/traces/{id}",
  pins: "/admin/pins",
  audit: "/admin/audit?from=&limit=",
  approvals: "/admin/approvals",
  upstreams: "/admin/upstreams",
  events: "/admin/events?session= (text/event-stream; read it with fetch, which can send the token)",
  commands: 'POST /admin/commands {"command": "hf1.…"}',
}

/** Tells everything and changes nothing but by a signed command. Whether the Host is one of ours is for the server to ask before. */
export function createAdmin(deps: AdminDeps): Admin {
  const feed = createFeed((deps.newId ?? randomName)())
  const durability = createDurability()
  const streams = createEventStreams(feed, deps.keepAliveMs ?? usualKeepAliveMs)
  const stopHearing = publishEvents(deps, feed, durability)
  const madeMs = deps.now()
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
  app.use(createDoor(deps))
  addRoute(app, "GET", "/admin", (c) => c.json({ name: "holdfast", version: deps.version, links }))
  addRoute(app, "GET", "/admin/status", async (c) => c.json(tellStatus(deps, { durability, streams, madeMs })))
  addSessionRoutes(app, deps)
  addBookRoutes(app, deps)
  addOperatorRoutes(app, deps)
  addEvents(app, streams)
  app.notFound(() => refuse(refusals.path))
  app.onError((error) => refuseError(error, deps.onFault ?? (() => {})))
  const close = (): void => {
    stopHearing()
    streams.close()
  }
  return Object.assign(async (request: Request): Promise<Response> => app.fetch(request), { close })
}

type Told = { readonly durability: Durability; readonly streams: EventStreams; readonly madeMs: number }

function tellStatus(deps: AdminDeps, { durability, streams, madeMs }: Told) {
  const { status, store, operator, approvals, version, now } = deps
  const { requestsInFlight, closing, startedMs = madeMs, openSessions } = status()
  const nowMs = now()
  const problem = operator?.problem()
  return {
    version,
    nowMs,
    startedMs,
    uptimeMs: Math.max(0, nowMs - startedMs),
    closing,
    requestsInFlight,
    ...present({ openSessions }),
    store: store.kind,
    durability: durability.tell(),
    operator:
      operator === undefined
        ? null
        : { audience: operator.audience, ...present({ problem: problem && tellProblem(problem) }) },
    approvals: approvals.pending().length,
    streams: streams.count(),
  }
}

function addEvents(app: Hono, streams: EventStreams): void {
  addRoute(app, "GET", "/admin/events", (c) => {
    const session = readText(c, "session")
    const lastId = c.req.header("last-event-id")
    const stream = streams.open({ signal: c.req.raw.signal, ...present({ session, lastId }) })
    if (stream === undefined) return refuse(refusals.busy)
    return new Response(stream, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    })
  })
}
