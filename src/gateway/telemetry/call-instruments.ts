import type { Meter } from "@opentelemetry/api"
import type { ExchangeRecord } from "../exchange-record.ts"
import { createLabelValues } from "./label-values.ts"
import type { ModelCall } from "./model-call.ts"

/** The boundaries that the GenAI conventions ask for: tokens by factors of four, seconds by factors of two. */
const tokenBounds = Array.from({ length: 14 }, (_, power) => 4 ** power)
const secondBounds = Array.from({ length: 14 }, (_, power) => 2 ** power / 100)

/** Tells a meter of model calls: the conventions' own instruments, and ours. */
export function createCallInstruments(meter: Meter): (call: ModelCall, record: ExchangeRecord) => void {
  const parts = [conventional(meter), ours(meter)]
  return (call, record) => {
    for (const tell of parts) tell(call, record)
  }
}

function conventional(meter: Meter): (call: ModelCall, record: ExchangeRecord) => void {
  const histogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } })
  const usage = histogram(
    "gen_ai.client.token.usage",
    "{token}",
    "Number of input and output tokens used.",
    tokenBounds,
  )
  const duration = histogram("gen_ai.client.operation.duration", "s", "GenAI operation duration.", secondBounds)
  const firstChunk = histogram(
    "gen_ai.client.operation.time_to_first_chunk",
    "s",
    "Time to receive the first chunk of a stream.",
    secondBounds,
  )
  return ({ dimensions, errorType, sent }, record) => {
    if (!sent) return
    const { totalMs, firstByteMs, stream, usage: used } = record
    duration.record(totalMs / 1000, errorType === undefined ? dimensions : { ...dimensions, "error.type": errorType })
    if (stream && firstByteMs !== undefined) firstChunk.record(firstByteMs / 1000, dimensions)
    if (used === undefined) return
    usage.record(used.inputTokens, { ...dimensions, "gen_ai.token.type": "input" })
    usage.record(used.outputTokens, { ...dimensions, "gen_ai.token.type": "output" })
  }
}

function ours(meter: Meter): (call: ModelCall, record: ExchangeRecord) => void {
  const counter = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description })
  const requests = counter("holdfast.requests", "{request}", "Model calls, by how they were dealt with and ended.")
  const cached = counter("holdfast.cache.tokens", "{token}", "Input tokens read from and written to providers' caches.")
  const compactions = counter("holdfast.compactions", "{compaction}", "Compactions, by remedy.")
  const judged = counter("holdfast.guard.calls", "{call}", "Tool calls that were judged, by decision.")
  const context = meter.createHistogram("holdfast.context.tokens", {
    unit: "{token}",
    description: "Sizes of the contexts that were sent.",
    advice: { explicitBucketBoundaries: tokenBounds },
  })
  const prepare = meter.createHistogram("holdfast.prepare.duration", {
    unit: "s",
    description: "From a request to when it was sent on.",
    advice: { explicitBucketBoundaries: [0.0005, 0.001, 0.0025, 0.005, ...secondBounds] },
  })
  const toolNames = createLabelValues()
  return ({ sent }, record) => {
    const { usage, receipt, trace } = record
    requests.add(1, { "holdfast.how": record.how, "holdfast.ending": record.ending })
    if (sent) prepare.record(record.preparedMs / 1000)
    if (receipt !== undefined) context.record(receipt.contextTokens)
    if (usage !== undefined) cached.add(usage.cacheReadTokens, { kind: "read" })
    if (usage !== undefined) cached.add(usage.cacheWriteTokens, { kind: "write" })
    for (const event of trace)
      if (event.type === "remedy-installed") compactions.add(1, { "holdfast.compaction.remedy": event.remedy })
    for (const { verdict, enforced, tool } of record.judged)
      judged.add(1, { decision: verdict.decision, enforced, "gen_ai.tool.name": toolNames(tool) })
  }
}
