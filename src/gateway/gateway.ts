import { randomBytes, randomUUID } from "node:crypto"
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { lazy } from "../language/lazy.ts"
import type { Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { rulesInText } from "../rules/find-rules.ts"
import { limitStore } from "../session/limit-store.ts"
import { createSpending } from "../session/state/spending.ts"
import { createMeter } from "../tokens/meter.ts"
import { createAdmin } from "./admin/admin.ts"
import { approvalsFromOperator, createApprovals } from "./admin/approvals.ts"
import { compactCall } from "./compact-call.ts"
import { answerProblem, answerRefusal, busy, type Exchange, type ExchangeDeps, problemOf } from "./exchange.ts"
import { createFastPaths } from "./fast-path/fast-path.ts"
import { createWorkLines } from "./fast-path/work-lines.ts"
import { isLoopback, refuseEntry } from "./http/admission.ts"
import { createInspectorFiles } from "./http/inspector-files.ts"
import { type Listening, listen } from "./http/listen.ts"
import { createBodies } from "./http/read-body.ts"
import { type Route, routeOf } from "./http/route.ts"
import { createTransport } from "./http/transport.ts"
import { saidOf, wireError } from "./http/wire-error.ts"
import { createLineages } from "./identity/lineages.ts"
import { tenantOf } from "./identity/names.ts"
import { createNewSessions } from "./locate.ts"
import { modelCall } from "./model-call.ts"
import { passThrough } from "./pass-through.ts"
import { createServerState } from "./server-state/held.ts"
import type { Gateway, GatewayOptions } from "./settings/gateway-options.ts"
import { hasOwnKey } from "./settings/upstream.ts"
import { createHealth } from "./telemetry/health.ts"
import { createMetrics, watchProcess } from "./telemetry/metrics.ts"
import { createRecentExchanges, openRequestLog } from "./telemetry/recent-exchanges.ts"
import { expositionType } from "./telemetry/registry.ts"

/** Starts a gateway. It accepts requests once the promise resolves. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  warmUp()
  const runtime = openRuntime(options)
  const { deps, state } = runtime
  const serving = new Set<Promise<void>>()
  const server = await listen(options, (incoming, response) => {
    const served = serve(runtime, incoming, response)
      .catch((error: unknown) => {
        options.onFault(error)
        response.destroy()
      })
      .finally(() => serving.delete(served))
    serving.add(served)
  })
  return {
    url: server.url,
    port: server.port,
    close: async () => {
      state.closing = true
      runtime.closeAdmin()
      await server.close()
      // Requests that `server.close` cut off still have to write their exchange records.
      await Promise.race([Promise.all(serving), sleep(closeGraceMs, undefined, { ref: false })])
      await deps.lines.allIdle()
      await deps.lineages.saved()
      await deps.transport.close()
      runtime.end()
    },
  }
}

/** Time limit for open exchanges when the gateway closes; one whose client has gone, or whose store is unavailable, ends at once. */
const closeGraceMs = 10_000

type State = {
  closing: boolean
  inFlight: number
  /** Requests whose body has arrived completely. Only these count against `limits.requests`, so a slow upload occupies no slot. */
  readonly working: Set<IncomingMessage>
}

type Runtime = ReturnType<typeof openRuntime>

/** Memory limit for the bodies of all requests being received at the same time: enough for 200 agents that send 5 MB each. */
const bodiesBytes = 1024 * 1024 * 1024

function openDeps(options: GatewayOptions, shared: Pick<ExchangeDeps, "recentExchanges" | "approvals">): ExchangeDeps {
  const { store, now, onFault } = options
  const limited = limitStore(store)
  return {
    ...options,
    store: limited,
    ...shared,
    bodies: createBodies(Math.max(bodiesBytes, options.limits.bodyBytes)),
    transport: createTransport(),
    fastPaths: createFastPaths(),
    lines: createWorkLines(onFault),
    newSessions: createNewSessions(options.limits.newSessions, now),
    lineages: createLineages({
      find: limited.findAliases,
      put: limited.putAliases,
      newId: randomUUID,
      now,
      isShared: store.isShared,
      guesses: options.whenStoreIsAway === "pass",
      onFault,
    }),
    uncopied: new Map(),
    windows: new Map(),
    countsAnswer: new Set(),
    waiting: new Map(),
    spending: createSpending({ store: limited, now }),
    held: createServerState({ store: limited, onFault }),
  }
}

function openRuntime(options: GatewayOptions) {
  const { store, holdfast, operator, now } = options
  const state: State = { closing: false, inFlight: 0, working: new Set() }
  const recentExchanges = createRecentExchanges()
  const approvals = createApprovals({ now })
  const watched = watchProcess()
  const metrics = createMetrics({ now, version: options.version, readProcess: watched.read })
  const deps = openDeps(options, { recentExchanges, approvals })
  const health = createHealth({
    store,
    version: options.version,
    closing: () => state.closing,
    onStore: metrics.storeUp,
    ...present({ operator }),
  })
  const ends = [
    recentExchanges.subscribe((record) => {
      metrics.observe(record)
      if (record.problem?.code === "store-corrupt") health.noteDamage()
      options.onRecord?.(record)
    }),
    holdfast.subscribe(metrics.sessionEvent),
    ...(operator === undefined ? [] : [approvalsFromOperator(operator, approvals)]),
    watched.stop,
  ]
  const { token: _forClients, ...rest } = deps
  const startedMs = now()
  const admin = createAdmin({
    ...rest,
    ...options.admin,
    status: () => ({ requestsInFlight: state.inFlight, closing: state.closing, startedMs }),
  })
  // Imported at the first admin request: it loads `fetch`, which a gateway without admin requests never needs.
  const listener = lazy(async () => (await import("@hono/node-server")).getRequestListener(admin))
  return {
    deps,
    access: { loopback: isLoopback(options.host), ownKeys: options.upstreams.every(hasOwnKey) },
    state,
    metrics,
    health,
    admin: async (incoming: IncomingMessage, response: ServerResponse): Promise<void> =>
      void (await listener())(incoming, response),
    closeAdmin: admin.close,
    inspector: createInspectorFiles(options.inspector),
    end: (): void => {
      for (const end of ends) end()
    },
  }
}

/** Serves one request. An error in it never stops the gateway from serving the next one. */
async function serve(runtime: Runtime, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { deps, state } = runtime
  const { method = "GET", url: target = "/" } = incoming
  const route = routeOf(method, target, incoming.headers)
  const refusal = refuseEntry(deps, incoming.headers, { ...runtime.access, route, raw: incoming.rawHeaders })
  if (route.type === "health" || route.type === "ready" || route.type === "metrics") {
    return refusal === undefined ? answerProbe(runtime, route.type, response) : refuseProbe(refusal, response)
  }
  if (route.type === "admin" && refusal === undefined) return runtime.admin(incoming, response)
  if (route.type === "inspector" && refusal === undefined) return runtime.inspector(incoming, response, route.path)
  const isBusy = (): boolean => state.closing || state.working.size >= deps.limits.requests
  const arrived = (): boolean => !isBusy() && state.working.add(incoming).has(incoming)
  const exchange = openExchange(runtime, { incoming, response, arrived }, route)
  state.inFlight++
  try {
    if (refusal !== undefined) return answerProblem(exchange, refusal, formatOf(route))
    if (isBusy()) return answerProblem(exchange, busy(deps), formatOf(route))
    await dispatch(exchange, route)
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault), formatOf(route))
  } finally {
    state.inFlight--
    state.working.delete(incoming)
  }
}

async function dispatch(exchange: Exchange, route: Route): Promise<void> {
  if (route.type === "model-call" || route.type === "compact") {
    const refusal = await operatorRefusal(exchange.deps)
    if (refusal !== undefined) return answerProblem(exchange, refusal, formatOf(route))
  }
  switch (route.type) {
    case "model-call":
      return modelCall(exchange, route)
    case "pass":
      return passThrough(exchange, route.family, route.path)
    case "compact":
      return compactCall(exchange, route)
    case "refused":
      return answerRefusal(exchange, route)
    default:
      return answerProblem(exchange, { code: "path-unknown", reason: "the gateway does not serve it" })
  }
}

/** The problem if model calls must be refused, because operator rules in force cannot be read, not even after a refresh. */
async function operatorRefusal({ operator }: ExchangeDeps): Promise<Problem | undefined> {
  if (operator?.refusal() === undefined) return undefined
  await operator.refresh()
  return operator.refusal()
}

const formatOf = (route: Route) => (route.type === "model-call" ? route.format : undefined)

type IncomingExchange = Pick<Exchange, "incoming" | "response" | "arrived">

function flatOf(headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> {
  const flat: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(headers)) flat[name] = Array.isArray(value) ? value.join(", ") : value
  return flat
}

function openExchange(runtime: Runtime, { incoming, response, arrived }: IncomingExchange, route: Route): Exchange {
  const { deps } = runtime
  const { method = "GET", url = "/" } = incoming
  const id = `hx-${randomBytes(9).toString("base64url")}`
  // An absolute URL in place of a path may contain a password, so it is not logged.
  const path = url.startsWith("/") ? (url.split("?", 1)[0]?.slice(0, 200) ?? "/") : "(no path)"
  const requestLog = openRequestLog(deps.recentExchanges, deps.now(), id, method, path)
  const gone = new AbortController()
  response.on("close", () => {
    if (!response.writableFinished) gone.abort()
  })
  response.on("error", () => gone.abort())
  const headers = flatOf(incoming.headers)
  const tenant = deps.tenants === "one" ? "one" : tenantOf(headers, keyIn(route), isPersonal(runtime))
  return { deps, incoming, headers, response, arrived, requestLog, tenant, gone: gone.signal }
}

/** True if only local clients can connect, and no other process writes to the store. */
const isPersonal = ({ access: { loopback }, deps: { token, allowedHosts, store } }: Runtime): boolean =>
  loopback && token === undefined && allowedHosts.length === 0 && !store.isShared

/** Gemini clients may send their API key as a query parameter. */
function keyIn(route: Route): string | undefined {
  return "path" in route ? /[?&]key=([^&]+)/.exec(route.path)?.[1] : undefined
}

async function answerProbe(
  { metrics, health, state, deps }: Runtime,
  what: "health" | "ready" | "metrics",
  response: ServerResponse,
): Promise<void> {
  if (what === "metrics") {
    // Probe the store first, so that the metrics report the same store state as the readiness check.
    await health.ready()
    metrics.requestsInFlight(state.inFlight)
    metrics.pendingApprovals(deps.approvals.pending().length)
    response.writeHead(200, { "content-type": expositionType }).end(metrics.render())
    return
  }
  const { status, body } = what === "health" ? health.live() : await health.ready()
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(body)
}

/** Refuses a health probe or metrics scraper, with the reason as plain text. */
function refuseProbe(refusal: Problem, response: ServerResponse): void {
  const { status, message } = saidOf(undefined, refusal)
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${message}\n`)
}

const sample = "Never push to main. Run the tests before each commit, and ask before anything is deleted."

/** Does the work that is slow the first time (compiling patterns, reading the vocabulary) before the first client needs it. */
function warmUp(): void {
  for (const channel of ["user", "tool", "document"] as const) rulesInText(sample, { channel })
  createMeter({}).text(sample)
}

type WaitingOptions = Pick<GatewayOptions, "host" | "port" | "limits" | "version" | "onFault"> & {
  readonly problem: Problem
}

/** Listens while the gateway's store is not available yet: reports alive but not ready, and tells every client to retry later. */
export const listenWithoutStore = (options: WaitingOptions): Promise<Listening> =>
  listen(options, (incoming, response) => answer(options, incoming, response))

function answer({ version, problem }: WaitingOptions, incoming: IncomingMessage, response: ServerResponse): void {
  const { method = "GET", url = "/", headers } = incoming
  // An unread request body would keep its connection open.
  incoming.resume()
  const route = routeOf(method, url, headers)
  const json = { "content-type": "application/json", "cache-control": "no-store" }
  if (route.type === "health") {
    response.writeHead(200, json).end(JSON.stringify({ status: "ok", version }))
  } else if (route.type === "ready") {
    const reasons = [{ part: "store", code: problem.code }]
    response.writeHead(503, json).end(JSON.stringify({ status: "unavailable", version, reasons }))
  } else if (route.type === "metrics") {
    response.writeHead(200, { "content-type": expositionType }).end("holdfast_store_up 0\n")
  } else {
    const refusal = wireError(route.type === "model-call" ? route.format : undefined, problem)
    response.writeHead(refusal.status, refusal.headers).end(refusal.body)
  }
}
