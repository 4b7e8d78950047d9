import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Meter, Tracer } from "@opentelemetry/api"
import { HoldfastError, loadOptional, refuseOption } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import type { Upstream } from "../settings/upstream.ts"
import instruments from "./instruments.json" with { type: "json" }
import { type Attributes, type GenAiCall, modelCallOf, serversOf } from "./model-call.ts"
import { createLabelValues } from "./registry.ts"

export type OpenTelemetryOptions = {
  /** The OTLP endpoint over HTTP, without `/v1/traces`. Without it nothing is exported. */
  readonly endpoint?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly serviceName?: string
  readonly serviceVersion?: string
  /** Distinguishes this process from others of the same name; random by default. */
  readonly instanceId?: string
  /** Used for server addresses. */
  readonly upstreams?: readonly Pick<Upstream, "name" | "baseUrl">[]
  /** Time limit for sending; after it the data is dropped. */
  readonly sendLimitMs?: number
  readonly now?: () => number
  /** Called when data could not be sent: at once, and then at most once a minute. */
  readonly onFault: (error: unknown) => void
}

/** Spans and metrics of model calls, sent in the background. No content of a conversation is in them. */
export type Telemetry = {
  /** Never throws and never waits. */
  readonly observe: (record: ExchangeRecord) => void
  /** Sends pending data, for at most three seconds. Never throws. */
  readonly close: () => Promise<void>
}

const nothing = (): void => {}

const defaultSendLimitMs = 5000
/** Time limit for the last data of a process that ends. */
const closeLimitMs = 3000

/** Exports according to OpenTelemetry's GenAI conventions. The packages are loaded here; a missing one is a `package-missing` Problem. */
export async function openTelemetry(options: OpenTelemetryOptions): Promise<Telemetry | undefined> {
  const { endpoint, serviceName = "holdfast", serviceVersion = "0", instanceId = randomUUID() } = options
  if (endpoint === undefined || endpoint === "") return undefined
  const url = readEndpoint(endpoint)
  const packages = await loadOpenTelemetry()
  const onFault = limitReports(options.onFault, options.now)
  const onUnsent = (reason: string): void =>
    onFault(new HoldfastError({ code: "upstream-unreachable", host: url.host, reason }))
  const service = { "service.name": serviceName, "service.version": serviceVersion, "service.instance.id": instanceId }
  const { headers = {}, sendLimitMs = defaultSendLimitMs } = options
  const providers = openProviders(packages, { url, headers, service, sendLimitMs, onUnsent })
  const makeSpan = createSpanMaker(packages.api, providers.tracer)
  const measure = createCallInstruments(providers.meter)
  const [servers, modelNames] = [serversOf(options.upstreams ?? []), createLabelValues()]
  let closed: Promise<void> | undefined
  return {
    observe: (record) => {
      if (closed !== undefined) return
      try {
        const call = modelCallOf(record, servers, modelNames)
        if (call === undefined) return
        makeSpan(call, record)
        measure(call, record)
      } catch (error) {
        onFault(error)
      }
    },
    close: () => {
      closed ??= Promise.race([providers.shutdown().then(nothing), sleep(closeLimitMs, undefined, { ref: false })])
      return closed
    },
  }
}

/** Parses the endpoint. The error does not quote it, because it may contain a password. */
function readEndpoint(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol === "http:" || url?.protocol === "https:") return url
  const expected = "an http or https URL"
  refuseOption("telemetry endpoint", expected, "another text")
}

/** Minimum interval between two reports. */
const silenceMs = 60_000

/** Reports the first fault at once, and later ones at most once a minute. Errors of the listener are ignored. */
export function limitReports(tell: (error: unknown) => void, now: () => number = Date.now): (error: unknown) => void {
  let toldMs = -Infinity
  return (error) => {
    const nowMs = now()
    if (Math.abs(nowMs - toldMs) < silenceMs) return
    toldMs = nowMs
    try {
      tell(error)
    } catch {
      // There is no one left to report to.
    }
  }
}

/** One span for each model call, from the client's request to the end of the response, below the client's span if that is known. */
function createSpanMaker(api: OpenTelemetryPackages["api"], tracer: Tracer) {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api
  return ({ name, attributes, sent, errorType }: GenAiCall, record: ExchangeRecord): void => {
    const parent = parseTraceparent(record.traceparent)
    const above =
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
    const endMs = record.atMs + Math.max(0, record.totalMs)
    // The gateway is a client of the model; if no model was called, it served the request itself.
    const kind = sent ? SpanKind.CLIENT : SpanKind.SERVER
    const span = tracer.startSpan(name, { kind, attributes, startTime: new Date(record.atMs) }, above)
    const preparedMs = record.atMs + Math.min(record.preparedMs, record.totalMs)
    for (const event of spanEventsOf(record)) {
      const atMs = event.name === "holdfast.compaction" ? preparedMs : endMs
      span.addEvent(event.name, event.attributes, new Date(atMs))
    }
    if (errorType !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(new Date(endMs))
  }
}

/** The client's trace context. */
type RemoteParent = { readonly traceId: string; readonly spanId: string; readonly traceFlags: number }

/** Limit on the header; later versions of the standard may add fields. */
const maxLength = 512
const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const allZero = /^0+$/

/** Parse a W3C `traceparent`; an invalid one is ignored. */
export function parseTraceparent(header: string | undefined): RemoteParent | undefined {
  if (header === undefined || header.length > maxLength) return undefined
  const [, version, traceId = "", spanId = "", flags = "", more] = pattern.exec(header.trim()) ?? []
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined
  if (allZero.test(traceId) || allZero.test(spanId)) return undefined
  // Only the first flag is defined: the client records its trace.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 }
}

type SpanEvent = { readonly name: string; readonly attributes: Attributes }

/** Limit on span events of one kind; a model may make hundreds of calls in one response. */
const maxOfKind = 16

/** Events shown on the span: compactions and denied calls, with tools and policies by name, without their text. */
function spanEventsOf({ trace, judged }: ExchangeRecord): readonly SpanEvent[] {
  const events: SpanEvent[] = []
  for (const event of trace) {
    if (event.type !== "remedy-installed" || events.length >= maxOfKind) continue
    const { remedy, beforeTokens, afterTokens } = event
    const attributes = {
      "holdfast.compaction.remedy": remedy,
      "holdfast.compaction.before_tokens": beforeTokens,
      "holdfast.compaction.after_tokens": afterTokens,
    }
    events.push({ name: "holdfast.compaction", attributes })
  }
  const denied = judged.filter(({ verdict }) => verdict.decision === "deny").slice(0, maxOfKind)
  return [...events, ...denied.map(deniedEvent)]
}

function deniedEvent({ callId, tool, enforced, verdict }: ExchangeRecord["judged"][number]): SpanEvent {
  const policy = verdict.reasons.find(({ decision }) => decision === "deny")?.policy
  const attributes = {
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
    "holdfast.guard.enforced": enforced,
    ...present({ "holdfast.guard.policy": policy }),
  }
  return { name: "holdfast.call-denied", attributes }
}

/** Bucket boundaries of the GenAI conventions: tokens by factors of four, seconds by factors of two. */
const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power)
const secondBounds = Array.from({ length: 14 }, (_, power) => 2 ** power / 100)

type InstrumentName = keyof typeof instruments

/** Records model calls in a meter: the instruments of the conventions, and our own. */
function createCallInstruments(meter: Meter): (call: GenAiCall, record: ExchangeRecord) => void {
  const counter = (name: InstrumentName) => meter.createCounter(name, instruments[name])
  const histogram = (name: InstrumentName, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { ...instruments[name], advice: { explicitBucketBoundaries } })
  const used = histogram("gen_ai.client.token.usage", tokenBounds)
  const duration = histogram("gen_ai.client.operation.duration", secondBounds)
  const firstChunk = histogram("gen_ai.client.operation.time_to_first_chunk", secondBounds)
  const context = histogram("holdfast.context.tokens", tokenBounds)
  const prepare = histogram("holdfast.prepare.duration", [0.0005, 0.001, 0.0025, 0.005, ...secondBounds])
  const requests = counter("holdfast.requests")
  const cached = counter("holdfast.cache.tokens")
  const compactions = counter("holdfast.compactions")
  const judged = counter("holdfast.guard.calls")
  const toolNames = createLabelValues()
  return ({ dimensions, errorType, sent }, record) => {
    const { usage, receipt, trace, firstByteMs } = record
    if (sent) {
      duration.record(record.totalMs / 1000, { ...dimensions, ...present({ "error.type": errorType }) })
      if (record.stream && firstByteMs !== undefined) firstChunk.record(firstByteMs / 1000, dimensions)
      if (usage !== undefined) used.record(usage.inputTokens, { ...dimensions, "gen_ai.token.type": "input" })
      if (usage !== undefined) used.record(usage.outputTokens, { ...dimensions, "gen_ai.token.type": "output" })
      prepare.record(record.preparedMs / 1000)
    }
    requests.add(1, { "holdfast.how": record.how, "holdfast.ending": record.ending })
    if (receipt !== undefined) context.record(receipt.contextTokens)
    if (usage !== undefined) cached.add(usage.cacheReadTokens, { kind: "read" })
    if (usage !== undefined) cached.add(usage.cacheWriteTokens, { kind: "write" })
    for (const event of trace)
      if (event.type === "remedy-installed") compactions.add(1, { "holdfast.compaction.remedy": event.remedy })
    for (const { verdict, enforced, tool } of record.judged)
      judged.add(1, { decision: verdict.decision, enforced, "gen_ai.tool.name": toolNames(tool) })
  }
}

type ProviderOptions = {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly service: Attributes
  readonly sendLimitMs: number
  readonly onUnsent: (reason: string) => void
}

/** Limit on buffered spans, some megabytes while an endpoint is unavailable; more are dropped. */
const maxWaitingSpans = 2048
/** Spans serialized at once, which blocks the event loop: about 3 ms for this many, measured on one slow core. */
const batchSpans = 64
const spanDelayMs = 5000
const metricIntervalMs = 30_000
/** Limit on attribute values; names are shorter. */
const maxValueLength = 256
const maxSpanEvents = 32
/** Limit on the series of each instrument; the rest is counted together. */
const maxSeries = 1000

/** Opens separate providers and sets nothing global, so that a program around the gateway keeps its own. */
function openProviders(packages: OpenTelemetryPackages, options: ProviderOptions) {
  const { trace, resources, metrics, traceExporter, metricExporter } = packages
  const resource = resources.defaultResource().merge(resources.resourceFromAttributes(options.service))
  const processor = new trace.BatchSpanProcessor({
    exporter: noting(new traceExporter.OTLPTraceExporter(exporterOptions(options, "traces")), options),
    maxQueueSize: maxWaitingSpans,
    maxExportBatchSize: batchSpans,
    scheduledDelayMillis: spanDelayMs,
    exportTimeoutMillis: options.sendLimitMs,
  })
  const tracers = new trace.TracerProvider({
    resource,
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: maxValueLength, eventCountLimit: maxSpanEvents },
  })
  const reader = new metrics.PeriodicExportingMetricReader({
    exporter: noting(new metricExporter.OTLPMetricExporter(exporterOptions(options, "metrics")), options),
    exportIntervalMillis: metricIntervalMs,
    exportTimeoutMillis: Math.min(options.sendLimitMs, metricIntervalMs),
    cardinalityLimits: { default: maxSeries },
  })
  const meters = new metrics.MeterProvider({ resource, readers: [reader] })
  return {
    tracer: tracers.getTracer("holdfast"),
    meter: meters.getMeter("holdfast"),
    shutdown: () => Promise.allSettled([tracers.shutdown(), meters.shutdown()]),
  }
}

const pathOf = (url: URL, signal: string): string => {
  const whole = new URL(url)
  whole.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${signal}`
  return whole.href
}

/** The name of a failure, without its message: the endpoint's response may contain anything. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "it failed"
  const code = "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? error.code : ""
  return `${error.name} ${code}`.trim().slice(0, 100)
}

type Exporter<Data> = {
  export: (data: Data, done: (result: { readonly code: number; readonly error?: Error }) => void) => void
}

/** Makes an exporter report data that could not be sent. */
function noting<Data, Kind extends Exporter<Data>>(
  exporter: Kind & Exporter<Data>,
  { onUnsent }: ProviderOptions,
): Kind {
  const send = exporter.export.bind(exporter)
  exporter.export = (data, done) =>
    send(data, (result) => {
      if (result.code !== 0) onUnsent(reasonOf(result.error))
      done(result)
    })
  return exporter
}

const exporterOptions = ({ url, headers, sendLimitMs }: ProviderOptions, signal: string) => ({
  url: pathOf(url, signal),
  headers: { ...headers },
  timeoutMillis: sendLimitMs,
  // As many batches as a full queue has when it is flushed at the end.
  concurrencyLimit: maxWaitingSpans / batchSpans + 1,
})

type OpenTelemetryPackages = Awaited<ReturnType<typeof importAll>>

async function importAll() {
  const [api, trace, metrics, resources, traceExporter, metricExporter] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/sdk-metrics"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/exporter-metrics-otlp-http"),
  ])
  return { api, trace, metrics, resources, traceExporter, metricExporter }
}

/** Loads the packages at first use: they are optional without export. */
const loadOpenTelemetry = (): Promise<OpenTelemetryPackages> =>
  loadOptional(
    importAll,
    "telemetry",
    (message) => /'(@opentelemetry\/[\w-]+)/.exec(message)?.[1] ?? "@opentelemetry/api",
  )
