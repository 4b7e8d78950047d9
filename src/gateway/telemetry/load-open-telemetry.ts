import { HoldfastError } from "../../message/errors.ts"

/** The packages of OpenTelemetry, as far as they are used here. */
export type OpenTelemetryPackages = {
  readonly api: typeof import("@opentelemetry/api")
  readonly trace: typeof import("@opentelemetry/sdk-trace")
  readonly metrics: typeof import("@opentelemetry/sdk-metrics")
  readonly resources: typeof import("@opentelemetry/resources")
  readonly traceExporter: typeof import("@opentelemetry/exporter-trace-otlp-http")
  readonly metricExporter: typeof import("@opentelemetry/exporter-metrics-otlp-http")
}

async function importAll(): Promise<OpenTelemetryPackages> {
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

/** Load them at first use: who exports nothing need not have them. */
export async function loadOpenTelemetry(): Promise<OpenTelemetryPackages> {
  try {
    return await importAll()
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error
    const name = /'(@opentelemetry\/[\w-]+)/.exec(error.message)?.[1] ?? "@opentelemetry/api"
    throw new HoldfastError({ code: "package-missing", package: name, purpose: "telemetry" }, { cause: error })
  }
}
