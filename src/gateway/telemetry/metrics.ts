import { monitorEventLoopDelay } from "node:perf_hooks"
import type { SessionEvent } from "../../session/state/events.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import catalog from "./metrics.json" with { type: "json" }
import { createLabelValues, createRegistry, type Registry } from "./registry.ts"

type MetricName = keyof typeof catalog

type MetricsOptions = {
  readonly now?: () => number
  readonly version?: string
  readonly readProcess?: () => ProcessFigures
}

export type Metrics = ReturnType<typeof createMetrics>

/** The Prometheus metrics of the gateway: numbers, and names of models, tools and upstreams. */
export function createMetrics({ now = Date.now, version = "0", readProcess }: MetricsOptions = {}) {
  const registry = createRegistry()
  const named = registerBy(registry)
  const startedMs = now()
  named.gauge("holdfast_build_info").set(1, version, process.version)
  named.measured("holdfast_uptime_seconds", () => Math.max(0, (now() - startedMs) / 1000))
  const inFlight = named.gauge("holdfast_requests_in_flight")
  const approvals = named.gauge("holdfast_approvals_pending")
  const store = named.gauge("holdfast_store_up")
  // Sessions, tenants and paths are never labels, because their number is unlimited.
  const counts = [countRequests(named), countTokens(named), countGuard(named)]
  const sessionEvent = countEvents(named)
  const tellProcess = readProcess === undefined ? () => {} : processGauges(named, readProcess)
  return {
    observe: (record: ExchangeRecord): void => {
      for (const count of counts) count(record)
    },
    sessionEvent,
    requestsInFlight: (count: number): void => inFlight.set(count),
    pendingApprovals: (count: number): void => approvals.set(count),
    storeUp: (up: boolean): void => store.set(up ? 1 : 0),
    /** All metrics in the Prometheus text format (`expositionType`). */
    render: (): string => {
      tellProcess()
      return registry.render()
    },
  }
}

type Named = ReturnType<typeof registerBy>

/** Creates metrics by name; `metrics.json` has the help text and the labels of each. */
const registerBy = (registry: Registry) => ({
  counter: (name: MetricName) => registry.counter(name, catalog[name].help, catalog[name].labels),
  gauge: (name: MetricName) => registry.gauge(name, catalog[name].help, catalog[name].labels),
  measured: (name: MetricName, read: () => number | undefined) => registry.measured(name, catalog[name].help, read),
  histogram: (name: MetricName, bounds: readonly number[]) => registry.histogram(name, catalog[name].help, bounds),
})

function processGauges({ gauge }: Named, read: () => ProcessFigures): () => void {
  const memory = gauge("holdfast_memory_bytes")
  const lag = gauge("holdfast_event_loop_lag_seconds")
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

/** Counts session events. Events that exchange records contain too are counted only once, there or here. */
function countEvents({ counter, measured }: Named): (event: SessionEvent) => void {
  const compactions = counter("holdfast_compactions_total")
  const removed = counter("holdfast_compaction_tokens_removed_total")
  const undone = counter("holdfast_compactions_undone_total")
  const rules = counter("holdfast_rules_found_total")
  const summaries = counter("holdfast_summaries_total")
  const failures = counter("holdfast_background_failures_total")
  const rereads = counter("holdfast_rereads_total")
  const [degraded, works, remedies] = [createDegradedSessions(), createLabelValues(), createLabelValues()]
  measured("holdfast_store_durability_degraded", () => (degraded.count() > 0 ? 1 : 0))
  measured("holdfast_sessions_unsaved", degraded.count)
  return (event) => {
    degraded.take(event)
    switch (event.type) {
      case "compaction-installed":
        compactions.add(1, remedies(event.remedy))
        return removed.add(Math.max(0, event.beforeTokens - event.afterTokens))
      case "compaction-undone":
        return undone.add(1)
      case "rules-found":
        return rules.add(event.pins.length)
      case "lookups-repeated":
        return rereads.add(event.lookups.length)
      case "summary-ready":
        return summaries.add(1, "ready")
      case "summary-failed":
        return summaries.add(1, "failed")
      case "summary-abandoned":
        return summaries.add(1, "abandoned")
      case "background-failed":
        return failures.add(1, works(event.work))
    }
  }
}

/** Limit on the sessions counted; more make no difference in an outage. */
const maxSessions = 10_000

/** The sessions with entries that the store does not have yet. */
export function createDegradedSessions(limit: number = maxSessions) {
  const degraded = new Set<string>()
  return {
    take: (event: SessionEvent): void => {
      if (event.type === "durability-degraded" && degraded.size < limit) degraded.add(event.session)
      const saved = event.type === "entries-appended" && event.durable
      if (saved || event.type === "durability-restored") degraded.delete(event.session)
    },
    count: (): number => degraded.size,
  }
}

/** Buckets for requests: model calls end within minutes, others within milliseconds. */
const requestSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** Buckets for preparation: milliseconds, unless it waits for a summary. */
const prepareSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
/** Buckets from a short question to the largest window. */
const contextSizes = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000, 2_000_000]

/** Buckets from a session without rules to one with a long instruction file. */
const ruleCounts = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]

const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const
const statusClass = (status: number): string => statusClasses[Math.trunc(status / 100)] ?? "none"

function countRequests({ counter, histogram }: Named): (record: ExchangeRecord) => void {
  const requests = counter("holdfast_requests_total")
  const duration = histogram("holdfast_request_duration_seconds", requestSeconds)
  const prepare = histogram("holdfast_prepare_seconds", prepareSeconds)
  const firstByte = histogram("holdfast_time_to_first_byte_seconds", requestSeconds)
  const attempts = counter("holdfast_upstream_attempts_total")
  const bytes = counter("holdfast_bytes_total")
  const recalls = counter("holdfast_recalls_total")
  const upstreamNames = createLabelValues()
  return (record) => {
    const { format = "none", how, ending, upstream, firstByteMs } = record
    requests.add(1, format, how, ending, statusClass(record.status))
    duration.observe(record.totalMs / 1000)
    if (record.attempts > 0) prepare.observe(record.preparedMs / 1000)
    if (firstByteMs !== undefined) firstByte.observe(firstByteMs / 1000)
    if (upstream !== undefined) attempts.add(record.attempts, upstreamNames(upstream))
    bytes.add(record.requestBytes, "received")
    bytes.add(record.sentBytes, "upstream")
    bytes.add(record.responseBytes, "answered")
    recalls.add(record.recalls)
  }
}

function countTokens({ counter, histogram, measured }: Named): (record: ExchangeRecord) => void {
  const used = counter("holdfast_tokens_total")
  const context = histogram("holdfast_context_tokens", contextSizes)
  const rules = histogram("holdfast_rules_in_force", ruleCounts)
  const [sums, modelNames] = [{ input: 0, cacheRead: 0 }, createLabelValues()]
  measured("holdfast_cache_read_share", () => (sums.input > 0 ? sums.cacheRead / sums.input : undefined))
  return ({ usage, receipt, model }) => {
    if (receipt !== undefined) {
      context.observe(receipt.contextTokens)
      rules.observe(receipt.rules)
    }
    // A model name without usage is only client text: it gets no label value of its own.
    if (usage === undefined) return
    const name = model === undefined ? "none" : modelNames(model)
    used.add(usage.inputTokens, "input", name)
    used.add(usage.outputTokens, "output", name)
    used.add(usage.cacheReadTokens, "cache_read", name)
    used.add(usage.cacheWriteTokens, "cache_write", name)
    sums.input += usage.inputTokens
    sums.cacheRead += usage.cacheReadTokens
  }
}

function countGuard({ counter }: Named): (record: ExchangeRecord) => void {
  const judged = counter("holdfast_guard_calls_total")
  const approvals = counter("holdfast_approvals_total")
  const reasserted = counter("holdfast_pins_reasserted_total")
  const toolNames = createLabelValues()
  return (record) => {
    for (const { verdict, enforced, tool, approved } of record.judged) {
      judged.add(1, verdict.decision, enforced ? "true" : "false", toolNames(tool))
      if (approved !== undefined) approvals.add(1, approved ? "approved" : "refused")
    }
    for (const event of record.trace) if (event.type === "pins-reasserted") reasserted.add(event.pins.length)
  }
}

/** Memory use of the process, and its event loop delay since the last read. */
type ProcessFigures = ReturnType<ReturnType<typeof watchProcess>["read"]>

/** Interval of the delay measurement: fifty timers a second are no load. */
const resolutionMs = 20

/** Watches this process. The timer's own period is subtracted from the measured delay. */
export function watchProcess() {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const seconds = (nanoseconds: number): number =>
    delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000)
  return {
    read: () => {
      const { rss, heapUsed, external } = process.memoryUsage()
      const figures = {
        residentBytes: rss,
        heapUsedBytes: heapUsed,
        externalBytes: external,
        lagMedianSeconds: seconds(delay.percentile(50)),
        lagP99Seconds: seconds(delay.percentile(99)),
        lagMaxSeconds: seconds(delay.max),
      }
      delay.reset()
      return figures
    },
    stop: () => {
      delay.disable()
    },
  }
}
