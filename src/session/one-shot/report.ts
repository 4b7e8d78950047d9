import type { Compacted, Remedy } from "../../compact/attempt.ts"
import type { Weighing } from "../../compact/plan/economics.ts"
import type { Plan } from "../../compact/plan/plan.ts"
import { type Separation, separate } from "../../compact/stack/separate.ts"
import type { Stack } from "../../compact/stack/stack.ts"
import type { MemoryEntry } from "../../compact/state/flush.ts"
import type { Digest } from "../../compact/summary/summary.ts"
import type { ModelRequest, Wire } from "../../message/message.ts"
import { present, sumOf } from "../../message/present.ts"
import type { Meter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import type { Trace } from "../log/event.ts"
import { type StackVersions, versionsOf } from "../stack/stack-options.ts"
import type { CompactOptions } from "./options.ts"
import { measure, type RequestPlan, type RequestSizes } from "./plan-request.ts"

/** The size of a request. `stack` is system and tools, `outside` everything else. */
export type Measure = {
  readonly messages: number
  readonly stackTokens: number
  readonly outsideTokens: number
  readonly totalTokens: number
}

/** The result of a compaction in figures. */
export type Report = {
  readonly changed: boolean
  /** The remedy used; `repair` if only broken pairs were fixed. */
  readonly remedy: Remedy | "none" | "repair"
  readonly model: { readonly id: string; readonly known: boolean }
  /** How tokens were counted: with the model's own vocabulary, or a conservative estimate. */
  readonly counting: "exact" | "estimated"
  readonly limit: { readonly by: "budget" | "window"; readonly tokens: number; readonly targetTokens: number }
  readonly before: Measure
  readonly after: Measure
  /** The hashes of the prompt stack that was added. */
  readonly stack?: StackVersions
  readonly plan: Plan
  /** What the rewrite costs in cache, and saves over later calls, at the model's prices. */
  readonly weighing?: Weighing
  readonly strategy: string
  readonly writer: "extractive" | "model" | "custom" | "none"
  readonly droppedMessages: number
  readonly shortenedResults: number
  readonly digest?: Digest
  /** Memory entries, found before anything was left out. */
  readonly memory: readonly MemoryEntry[]
}

/** The input of a compaction of one request. */
export type RequestTask = {
  readonly request: ModelRequest
  readonly separation: Separation
  readonly meter: Meter
  readonly planned: RequestPlan
  readonly options: CompactOptions
}
/** The result of a compaction of one request. */
export type RequestOutcome = { readonly wire: Wire; readonly trace: Trace; readonly compacted?: Compacted }

type ReportInput = RequestTask & RequestOutcome & { readonly stack?: Stack; readonly memory: Report["memory"] }

/** The report of a compaction, or of why there was none. */
export function reportOf(input: ReportInput): Report {
  const { request, separation, meter, planned, options, wire, trace, compacted, memory } = input
  const { plan, by, limits, stackTokens } = planned
  const { model } = meter
  const changed = wire !== request.wire
  const sent = changed ? decodeRequest(request.format, wire) : request
  const after =
    compacted === undefined
      ? measure(sent, changed ? separate(sent) : separation, meter)
      : { stackTokens, outsideTokens: compacted.afterTokens }
  const weighing = trace.flatMap((event) => (event.type === "plan-made" ? (event.weighing ?? []) : []))[0]
  return {
    changed,
    remedy: compacted?.remedy ?? (changed ? "repair" : "none"),
    model: { id: model.id, known: model.known },
    counting: model.vocabulary === "o200k" ? "exact" : "estimated",
    limit: { by, tokens: limits.hardTokens, targetTokens: limits.targetTokens },
    before: measureOf(request, measure(request, separation, meter)),
    after: measureOf(sent, after),
    plan,
    strategy: typeof options.strategy === "function" ? "custom" : (options.strategy ?? "staged"),
    writer: compacted?.writer ?? "none",
    droppedMessages: sumOf(trace, (event) => (event.type === "messages-dropped" ? event.messageIds.length : 0)),
    shortenedResults: trace.filter(({ type }) => type === "result-shortened").length,
    memory,
    ...present({
      weighing,
      digest: compacted?.digest,
      stack: input.stack === undefined ? undefined : versionsOf(input.stack),
    }),
  }
}

const measureOf = (
  { messages }: ModelRequest,
  { stackTokens, outsideTokens }: Omit<RequestSizes, "overheadTokens">,
): Measure => ({
  messages: messages.length,
  stackTokens,
  outsideTokens,
  totalTokens: stackTokens + outsideTokens,
})
