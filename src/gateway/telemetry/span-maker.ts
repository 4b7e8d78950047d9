import type { Tracer } from "@opentelemetry/api"
import type { ExchangeRecord } from "../exchange-record.ts"
import type { OpenTelemetryPackages } from "./load-open-telemetry.ts"
import type { ModelCall } from "./model-call.ts"
import { parseTraceparent } from "./parse-traceparent.ts"
import { spanEventsOf } from "./span-events.ts"

export type SpanMaker = (call: ModelCall, record: ExchangeRecord, traceparent: string | undefined) => void

/** One span for each model call, as long as the client waited for it, below the client's own where that is known. */
export function createSpanMaker(api: OpenTelemetryPackages["api"], tracer: Tracer): SpanMaker {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api
  return ({ name, attributes, sent, errorType }, record, traceparent) => {
    const parent = parseTraceparent(traceparent)
    const above =
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
    const endMs = record.atMs + Math.max(0, record.totalMs)
    // The gateway is a client of the model; where no model was asked it served the request itself.
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
