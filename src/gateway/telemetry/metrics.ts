import type { SessionEvent } from "../../session/events.ts"
import type { ExchangeRecord } from "../exchange-record.ts"
import { countEvents } from "./count-events.ts"
import { countExchanges } from "./count-exchanges.ts"
import { createRegistry, type Registry } from "./registry.ts"
import type { ProcessFigures } from "./watch-process.ts"

export type MetricsOptions = {
  readonly now?: () => number
  readonly version?: string
  /** What is known of the process (`watchProcess().read`); left out unless given. */
  readonly readProcess?: () => ProcessFigures
}

/** What the gateway tells machines that ask: numbers only, and names of models, tools and upstreams. */
export type Metrics = {
  readonly observe: (record: ExchangeRecord) => void
  readonly sessionEvent: (event: SessionEvent) => void
  readonly requestsInFlight: (count: number) => void
  readonly openSessions: (count: number) => void
  readonly pendingApprovals: (count: number) => void
  readonly storeUp: (up: boolean) => void
  /** All of it in the Prometheus text format (`expositionType`). */
  readonly render: () => string
}

export function createMetrics({ now = Date.now, version = "0", readProcess }: MetricsOptions = {}): Metrics {
  const registry = createRegistry()
  const startedMs = now()
  registry
    .gauge({ name: "holdfast_build_info", help: "Which version this is.", labels: ["version", "node"] })
    .set(1, version, process.version)
  registry.measured({ name: "holdfast_uptime_seconds", help: "Since the gateway was started." }, () =>
    Math.max(0, (now() - startedMs) / 1000),
  )
  const levels = gaugesOf(registry)
  const observe = countExchanges(registry)
  const sessionEvent = countEvents(registry)
  const tellProcess = readProcess === undefined ? () => {} : processGauges(registry, readProcess)
  return {
    observe,
    sessionEvent,
    ...levels,
    render: () => {
      tellProcess()
      return registry.render()
    },
  }
}

function gaugesOf({
  gauge,
}: Registry): Pick<Metrics, "requestsInFlight" | "openSessions" | "pendingApprovals" | "storeUp"> {
  const inFlight = gauge({ name: "holdfast_requests_in_flight", help: "Requests that are being worked on." })
  const sessions = gauge({ name: "holdfast_open_sessions", help: "Sessions that are held in memory." })
  const approvals = gauge({ name: "holdfast_approvals_pending", help: "Tool calls that wait for a person." })
  const store = gauge({
    name: "holdfast_store_up",
    help: "Whether the store could be read and written when it was last tried.",
  })
  return {
    requestsInFlight: (count) => inFlight.set(count),
    openSessions: (count) => sessions.set(count),
    pendingApprovals: (count) => approvals.set(count),
    storeUp: (up) => store.set(up ? 1 : 0),
  }
}

function processGauges({ gauge }: Registry, read: () => ProcessFigures): () => void {
  const memory = gauge({ name: "holdfast_memory_bytes", help: "Memory of the process.", labels: ["kind"] })
  const lag = gauge({
    name: "holdfast_event_loop_lag_seconds",
    help: "How late the process was with its work since the last time it was asked.",
    labels: ["quantile"],
  })
  return () => {
    const figures = read()
    memory.set(figures.residentBytes, "resident")
    memory.set(figures.heapUsedBytes, "heap_used")
    memory.set(figures.externalBytes, "external")
    lag.set(figures.lagMedianSeconds, "0.5")
    lag.set(figures.lagP99Seconds, "0.99")
    lag.set(figures.lagMaxSeconds, "1")
  }
}
