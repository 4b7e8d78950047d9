import { randomUUID } from "node:crypto"
import { HoldfastError } from "../../message/errors.ts"
import type { ExchangeRecord } from "../exchange-record.ts"
import type { Upstream } from "../upstream.ts"
import { createCallInstruments } from "./call-instruments.ts"
import { createLabelValues } from "./label-values.ts"
import { loadOpenTelemetry } from "./load-open-telemetry.ts"
import { modelCallOf } from "./model-call.ts"
import { openProviders } from "./open-providers.ts"
import { serversOf } from "./servers-of.ts"
import { createSpanMaker } from "./span-maker.ts"
import { tellSeldom } from "./tell-seldom.ts"

export type OpenTelemetryOptions = {
  /** Where OTLP is taken over HTTP, without `/v1/traces`. Nothing is exported unless given. */
  readonly endpoint?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly serviceName?: string
  readonly serviceVersion?: string
  /** Tells this process from others of the same name; made up unless given. */
  readonly instanceId?: string
  /** For the addresses of the servers. */
  readonly upstreams?: readonly Pick<Upstream, "name" | "baseUrl">[]
  /** An endpoint that hangs is given up on after so long, and what was to be sent is let go. */
  readonly sendLimitMs?: number
  readonly now?: () => number
  /** What could not be sent: at once, and then no more than once in a minute. */
  readonly onFault: (error: unknown) => void
}

/** Spans and metrics of model calls, sent in the background. No content of a conversation is in them. */
export type Telemetry = {
  /** Never throws and never waits. `traceparent` is the header by which the client says where in its own trace the call stands. */
  readonly observe: (record: ExchangeRecord, context?: { readonly traceparent?: string }) => void
  /** Send what waits, for three seconds at most. Never throws. */
  readonly close: () => Promise<void>
}

const usualSendLimitMs = 5000
/** Nobody waits longer for the last figures of a process that ends. */
const closeLimitMs = 3000

/** Export by OpenTelemetry's GenAI conventions. The packages are loaded here; a missing one is `package-missing`. */
export async function openTelemetry(options: OpenTelemetryOptions): Promise<Telemetry | undefined> {
  const { endpoint, serviceName = "holdfast", serviceVersion = "0", instanceId = randomUUID() } = options
  if (endpoint === undefined || endpoint === "") return undefined
  const url = readEndpoint(endpoint)
  const packages = await loadOpenTelemetry()
  const onFault = tellSeldom(options.onFault, options.now)
  const onUnsent = (reason: string): void =>
    onFault(new HoldfastError({ code: "upstream-unreachable", host: url.host, reason }))
  const service = { "service.name": serviceName, "service.version": serviceVersion, "service.instance.id": instanceId }
  const { headers = {}, sendLimitMs = usualSendLimitMs } = options
  const providers = openProviders(packages, { url, headers, service, sendLimitMs, onUnsent })
  const makeSpan = createSpanMaker(packages.api, providers.tracer)
  const measure = createCallInstruments(providers.meter)
  const [servers, modelNames] = [serversOf(options.upstreams ?? []), createLabelValues()]
  let closed: Promise<void> | undefined
  return {
    observe: (record, { traceparent } = {}) => {
      if (closed !== undefined) return
      try {
        const call = modelCallOf(record, servers, modelNames)
        if (call === undefined) return
        makeSpan(call, record, traceparent)
        measure(call, record)
      } catch (error) {
        onFault(error)
      }
    },
    close: () => {
      closed ??= endWithin(closeLimitMs, providers.shutdown())
      return closed
    },
  }
}

/** An address may have a password in it, so none is quoted. */
function readEndpoint(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol === "http:" || url?.protocol === "https:") return url
  const expected = "an http or https URL"
  throw new HoldfastError({ code: "option-invalid", option: "telemetry endpoint", expected, found: "another text" })
}

async function endWithin(limitMs: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, limitMs)
  await Promise.race([work.catch(() => {}), late.promise])
  clearTimeout(timer)
}
