import { monitorEventLoopDelay } from "node:perf_hooks"
import type { SessionEvent } from "../../session/events.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import { createLabelValues, createRegistry, type Registry } from "./registry.ts"

type MetricsOptions = {
  readonly now?: () => number
  readonly version?: string
  /** Reads process figures (`watchProcess().read`); omitted if not given. */
  readonly readProcess?: () => ProcessFigures
}

/** The Prometheus metrics of the gateway: numbers, and names of models, tools and upstreams. */
export type Metrics = {
  readonly observe: (record: ExchangeRecord) => void
  readonly sessionEvent: (event: SessionEvent) => void
  readonly requestsInFlight: (count: number) => void
  readonly openSessions: (count: number) => void
  readonly pendingApprovals: (count: number) => void
  readonly storeUp: (up: boolean) => void
  /** All metrics in the Prometheus text format (`expositionType`). */
  readonly render: () => string
}

export function createMetrics({ now = Date.now, version = "0", readProcess }: MetricsOptions = {}): Metrics {
  const registry = createRegistry()
  const startedMs = now()
  registry
    .gauge("holdfast_build_info", "The version of the gateway.", ["version", "node"])
    .set(1, version, process.version)
  registry.measured("holdfast_uptime_seconds", "Since the gateway was started.", () =>
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
  const inFlight = gauge("holdfast_requests_in_flight", "Requests in progress.")
  const sessions = gauge("holdfast_open_sessions", "Sessions that are held in memory.")
  const approvals = gauge("holdfast_approvals_pending", "Tool calls that wait for a person.")
  const store = gauge("holdfast_store_up", "Whether the store could be read and written when it was last tried.")
  return {
    requestsInFlight: (count) => inFlight.set(count),
    openSessions: (count) => sessions.set(count),
    pendingApprovals: (count) => approvals.set(count),
    storeUp: (up) => store.set(up ? 1 : 0),
  }
}

function processGauges({ gauge }: Registry, read: () => ProcessFigures): () => void {
  const memory = gauge("holdfast_memory_bytes", "Memory of the process.", ["kind"])
  const lag = gauge("holdfast_event_loop_lag_seconds", "Event loop delay since the last scrape.", ["quantile"])
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
function countEvents(registry: Registry): (event: SessionEvent) => void {
  const compacted = countCompactions(registry)
  const { counter, measured } = registry
  const rules = counter("holdfast_rules_found_total", "Standing rules that were found and pinned.")
  const summaries = counter("holdfast_summaries_total", "Background summaries, by outcome.", ["outcome"])
  const failures = counter("holdfast_background_failures_total", "Work in the background that failed, by its kind.", [
    "work",
  ])
  const rereads = counter("holdfast_rereads_total", "Lookups right after a compaction that repeat what it removed.")
  const [degraded, works] = [createDegradedSessions(), createLabelValues()]
  measured(
    "holdfast_store_durability_degraded",
    "Whether entries wait in memory because the store did not accept them.",
    () => (degraded.count() > 0 ? 1 : 0),
  )
  measured("holdfast_sessions_unsaved", "Sessions with entries that the store does not have yet.", degraded.count)
  return (event) => {
    degraded.take(event)
    switch (event.type) {
      case "compaction-installed":
      case "compaction-undone":
        return compacted(event)
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

type CompactionEvent = Extract<SessionEvent, { type: "compaction-installed" | "compaction-undone" }>

function countCompactions({ counter }: Registry): (event: CompactionEvent) => void {
  const compactions = counter("holdfast_compactions_total", "Compactions that were installed, by remedy.", ["remedy"])
  const removed = counter("holdfast_compaction_tokens_removed_total", "Tokens removed from contexts by compactions.")
  const undone = counter("holdfast_compactions_undone_total", "Compactions that were undone.")
  const remedies = createLabelValues()
  return (event) => {
    if (event.type === "compaction-undone") return undone.add(1)
    compactions.add(1, remedies(event.remedy))
    removed.add(Math.max(0, event.beforeTokens - event.afterTokens))
  }
}

/** Limit on the sessions counted; an outage with more is an outage all the same. */
const maxSessions = 10_000

type DegradedSessions = { readonly take: (event: SessionEvent) => void; readonly count: () => number }

/** The sessions with entries that the store does not have yet. */
export function createDegradedSessions(limit: number = maxSessions): DegradedSessions {
  const degraded = new Set<string>()
  return {
    take: (event) => {
      if (event.type === "durability-degraded" && degraded.size < limit) degraded.add(event.session)
      const saved = event.type === "entries-appended" && event.durable
      if (saved || event.type === "durability-restored") degraded.delete(event.session)
    },
    count: () => degraded.size,
  }
}

/** Buckets for requests: model calls end within minutes, others within milliseconds. */
const requestSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** Buckets for preparation: milliseconds, unless it waits for a summary. */
const prepareSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
/** Buckets from a short question to the largest window. */
const contextSizes = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000, 2_000_000]

const statusClasses = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const
const statusClass = (status: number): string => statusClasses[Math.trunc(status / 100)] ?? "none"

/** Counts exchange records. Sessions, tenants and paths are never labels, because their number is unlimited. */
function countExchanges(registry: Registry): (record: ExchangeRecord) => void {
  const parts = [countRequests(registry), countTokens(registry), countGuard(registry)]
  return (record) => {
    for (const count of parts) count(record)
  }
}

function countRequests({ counter, histogram }: Registry): (record: ExchangeRecord) => void {
  const requests = counter(
    "holdfast_requests_total",
    "Requests, by wire format, how they were handled, how they ended, and the status class that the client got.",
    ["format", "how", "ending", "status_class"],
  )
  const duration = histogram(
    "holdfast_request_duration_seconds",
    "Time from a request to the end of its response.",
    requestSeconds,
  )
  const prepare = histogram(
    "holdfast_prepare_seconds",
    "Time from a request until it was sent upstream.",
    prepareSeconds,
  )
  const firstByte = histogram(
    "holdfast_time_to_first_byte_seconds",
    "Time from a request to the first byte of its response.",
    requestSeconds,
  )
  const attempts = counter("holdfast_upstream_attempts_total", "Requests sent upstream, including retries.", [
    "upstream",
  ])
  const bytes = counter(
    "holdfast_bytes_total",
    "Bytes of bodies: received from clients, sent upstream, sent to clients.",
    ["direction"],
  )
  const recalls = counter("holdfast_recalls_total", "Recalls of removed text by a model.")
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

function countTokens({ counter, histogram, measured }: Registry): (record: ExchangeRecord) => void {
  const used = counter(
    "holdfast_tokens_total",
    "Tokens as the providers report them; input has all that was read, cached or not.",
    ["kind", "model"],
  )
  const context = histogram(
    "holdfast_context_tokens",
    "Sizes of the contexts that were sent, by our count.",
    contextSizes,
  )
  const [sums, modelNames] = [{ input: 0, cacheRead: 0 }, createLabelValues()]
  measured(
    "holdfast_cache_read_share",
    "Share of all input tokens so far that was read from the providers' caches.",
    () => (sums.input > 0 ? sums.cacheRead / sums.input : undefined),
  )
  return ({ usage, receipt, model }) => {
    if (receipt !== undefined) context.observe(receipt.contextTokens)
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

function countGuard({ counter }: Registry): (record: ExchangeRecord) => void {
  const judged = counter(
    "holdfast_guard_calls_total",
    "Tool calls that were judged, by decision, whether it was enforced, and tool.",
    ["decision", "enforced", "tool"],
  )
  const approvals = counter("holdfast_approvals_total", "Tool calls that a person was asked about, by outcome.", [
    "outcome",
  ])
  const reasserted = counter(
    "holdfast_pins_reasserted_total",
    "Rules added back to a request because its history no longer had them.",
  )
  const toolNames = createLabelValues()
  return (record) => {
    for (const { verdict, enforced, tool, approved } of record.judged) {
      judged.add(1, verdict.decision, enforced ? "true" : "false", toolNames(tool))
      if (approved !== undefined) approvals.add(1, approved ? "approved" : "refused")
    }
    for (const event of record.trace) if (event.type === "pins-reasserted") reasserted.add(event.pins.length)
  }
}

/** Memory use of the process, and its event loop delay. */
type ProcessFigures = {
  readonly residentBytes: number
  readonly heapUsedBytes: number
  readonly externalBytes: number
  /** Delay since the last read. */
  readonly lagMedianSeconds: number
  readonly lagP99Seconds: number
  readonly lagMaxSeconds: number
}

type ProcessWatch = { readonly read: () => ProcessFigures; readonly stop: () => void }

/** Interval of the delay measurement: fifty timers a second are no load. */
const resolutionMs = 20

/** Watch this process. The timer's own period is subtracted from the measured delay. */
export function watchProcess(): ProcessWatch {
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
