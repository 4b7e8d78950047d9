import type { Hono } from "hono"
import type { JudgedCall } from "../../guard/judge-call.ts"
import { present } from "../../message/present.ts"
import { setNewest } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import type { Upstream } from "../settings/upstream.ts"
import { type AdminDeps, addRoute, pathName, readLimit, readTextParameter } from "./admin-deps.ts"
import { type Bounds, boundObject } from "./bound-value.ts"
import { describeProblem, refusalResponse, refusals } from "./refusal.ts"
import type { RemoteEvent, Replicas } from "./replicas.ts"

type Fields = Readonly<Record<string, unknown>>

const tracePage = { usual: 50, most: 1000 } as const

type Deps = Pick<AdminDeps, "recentExchanges" | "upstreams"> & { readonly replicas: Replicas }

/** Routes for the recent exchanges of the gateway and its replicas, and for the upstreams. */
export function addExchangeRoutes(app: Hono, { recentExchanges, upstreams, replicas }: Deps): void {
  const remoteExchanges = keepRemote(replicas)
  addRoute(app, "GET", "/admin/traces", (c) => {
    const limit = readLimit(c, tracePage)
    const session = readTextParameter(c, "session")
    const here = recentExchanges.newest(limit, session).map(describeExchange)
    const others = [...remoteExchanges.values()].filter((told) => session === undefined || told.session === session)
    const newest = [...here, ...others].toSorted((one, other) => Number(other.atMs) - Number(one.atMs))
    return { traces: newest.slice(0, limit).map(exchangeLine) }
  })
  addRoute(app, "GET", "/admin/traces/:id", (c) => {
    const id = pathName(c, "id")
    const record = recentExchanges.find(id)
    const trace = record === undefined ? remoteExchanges.get(id) : describeExchange(record)
    return trace === undefined ? refusalResponse(refusals.trace) : { trace }
  })
  addRoute(app, "GET", "/admin/upstreams", () => ({ upstreams: upstreams.map(describeUpstream) }))
}

/** The name of the event by which a replica sends an exchange that ended. */
export const exchangeName = "exchange-whole"

/** Limit on exchanges of other replicas: as many as each replica keeps of its own. */
const maxRemote = 1000

function keepRemote(replicas: Replicas): ReadonlyMap<string, Fields> {
  const kept = new Map<string, Fields>()
  replicas.subscribe(({ name, value }: RemoteEvent) => {
    if (name !== exchangeName || typeof value.id !== "string") return
    setNewest(kept, value.id, value, maxRemote)
  })
  return kept
}

/** An upstream without secrets: no key, no headers, and only the host of its address. */
function describeUpstream({ name, families, models, baseUrl, apiKey }: Upstream): Fields {
  const host = URL.parse(baseUrl)?.host
  return { name, families, key: apiKey === undefined ? "client's" : "own", ...present({ models, host }) }
}

/** Limits on an exchange in a list, by itself, and as sent to other replicas. */
const lineBounds: Bounds = { text: 500, items: 50, total: 8000 }
const wholeBounds: Bounds = { text: 4000, items: 500, total: 200_000 }
const sharedBounds: Bounds = { text: 2000, items: 200, total: 20_000 }

/** An exchange with all details: its trace, and the reasons of each verdict. */
function describeExchange({ trace, judged, problem, ...record }: ExchangeRecord): Fields {
  const told = {
    ...record,
    judged: judged.map(describeJudged),
    trace,
    ...present({ problem: problem && describeProblem(problem) }),
  }
  return boundObject(told, wholeBounds)
}

/** An exchange as it is sent to other replicas. */
export const sharedExchange = (record: ExchangeRecord): Fields => boundObject(describeExchange(record), sharedBounds)

/** An exchange for a list: the number of its trace events, and the decision on each call. */
export function exchangeLine({ trace, judged, ...rest }: Fields): Fields {
  const calls = Array.isArray(judged) ? judged.filter(isObject) : []
  const told = {
    ...rest,
    traceEvents: Array.isArray(trace) ? trace.length : 0,
    judged: calls.map(({ callId, tool, decision, enforced, approved }) => ({
      ...present({ callId }),
      tool,
      decision,
      enforced,
      ...present({ approved }),
    })),
  }
  return boundObject(told, lineBounds)
}

/** A judged call without its facts, which repeat the whole call. */
const describeJudged = ({ verdict, ...call }: JudgedCall): Fields => {
  const { decision, reasons, errors } = verdict
  return { ...call, decision, reasons, errors }
}
