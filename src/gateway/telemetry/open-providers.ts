import type { Meter, Tracer } from "@opentelemetry/api"
import type { SpanExporter } from "@opentelemetry/sdk-trace"
import type { OpenTelemetryPackages } from "./load-open-telemetry.ts"
import type { Attributes } from "./model-call.ts"

export type ProviderOptions = {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly service: Attributes
  readonly sendLimitMs: number
  readonly onUnsent: (reason: string) => void
}

export type Providers = { readonly tracer: Tracer; readonly meter: Meter; readonly shutdown: () => Promise<unknown> }

/** Some megabytes of spans while an endpoint is away; more are dropped. */
const maxWaitingSpans = 2048
/** They are written out in one go, and nothing else runs meanwhile: about 3 ms for so many, measured on one slow core. */
const batchSpans = 64
const spanDelayMs = 5000
const metricIntervalMs = 30_000
/** No name is longer; what is, is cut. */
const maxValueLength = 256
const maxSpanEvents = 32
/** Of each instrument so many series; the rest is counted together. */
const maxSeries = 1000

/** Our own providers: nothing global is set, so that a program around us keeps its own. */
export function openProviders(packages: OpenTelemetryPackages, options: ProviderOptions): Providers {
  const { trace, resources } = packages
  const resource = resources.defaultResource().merge(resources.resourceFromAttributes(options.service))
  const processor = new trace.BatchSpanProcessor({
    exporter: openSpanExporter(packages, options),
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
  const reader = openMetricReader(packages, options)
  const meters = new packages.metrics.MeterProvider({ resource, readers: [reader] })
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

/** Only what a failure is called: an answer of the endpoint's may have anything in it. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "it failed"
  const code = "code" in error && (typeof error.code === "string" || typeof error.code === "number") ? error.code : ""
  return `${error.name} ${code}`.trim().slice(0, 100)
}

function openSpanExporter({ traceExporter }: OpenTelemetryPackages, options: ProviderOptions): SpanExporter {
  const exporter = new traceExporter.OTLPTraceExporter(exporterOptions(options, "traces"))
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0) options.onUnsent(reasonOf(result.error))
        done(result)
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}

const exporterOptions = ({ url, headers, sendLimitMs }: ProviderOptions, signal: string) => ({
  url: pathOf(url, signal),
  headers: { ...headers },
  timeoutMillis: sendLimitMs,
  // As many as a full queue makes when it is flushed at the end.
  concurrencyLimit: maxWaitingSpans / batchSpans + 1,
})

function openMetricReader({ metrics, metricExporter }: OpenTelemetryPackages, options: ProviderOptions) {
  const exporter = new metricExporter.OTLPMetricExporter(exporterOptions(options, "metrics"))
  return new metrics.PeriodicExportingMetricReader({
    exporter: {
      export: (figures, done) =>
        exporter.export(figures, (result) => {
          if (result.code !== 0) options.onUnsent(reasonOf(result.error))
          done(result)
        }),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
      selectAggregationTemporality: (type) => exporter.selectAggregationTemporality(type),
      selectAggregation: (type) => exporter.selectAggregation(type),
    },
    exportIntervalMillis: metricIntervalMs,
    exportTimeoutMillis: Math.min(options.sendLimitMs, metricIntervalMs),
    cardinalityLimits: { default: maxSeries },
  })
}
