import type { Compacted } from "../../compact/attempt.ts"
import type { Weighing } from "../../compact/plan/economics.ts"
import type { Plan } from "../../compact/plan/plan.ts"
import type { Remedy } from "../../compact/remedy.ts"
import { type Separation, separate } from "../../compact/stack/separate.ts"
import type { Stack } from "../../compact/stack/stack.ts"
import type { MemoryEntry } from "../../compact/state/flush.ts"
import type { Digest } from "../../compact/summary/summary.ts"
import type { ModelRequest, Wire } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { Meter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import type { Trace } from "../log/trace.ts"
import { type StackVersions, versionsOf } from "../stack/stack-options.ts"
import type { CompactOptions } from "./options.ts"
import { type Measured, measure, type Planned } from "./plan-request.ts"

/** What a request takes. `stack` is system and tools, `outside` everything else. */
export type Measure = {
  readonly messages: number
  readonly stackTokens: number
  readonly outsideTokens: number
  readonly totalTokens: number
}

/** What was done, in numbers and for people. */
export type Report = {
  readonly changed: boolean
  /** Which of the remedies it took; `repair` where only broken pairs were fixed. */
  readonly remedy: Remedy | "none" | "repair"
  readonly model: { readonly id: string; readonly known: boolean }
  /** How tokens were counted: by the model's own vocabulary, or estimated for it, on the safe side. */
  readonly counting: "exact" | "estimated"
  readonly limit: { readonly by: "budget" | "window"; readonly tokens: number; readonly targetTokens: number }
  readonly before: Measure
  readonly after: Measure
  /** The fingerprints of the prompt stack that was put in. */
  readonly stack?: StackVersions
  readonly plan: Plan
  /** What the rewrite costs in cache and saves over the calls to come, at the model's prices. */
  readonly weighing?: Weighing
  readonly strategy: string
  readonly writer: "extractive" | "model" | "custom" | "none"
  readonly droppedMessages: number
  readonly shortenedResults: number
  readonly digest?: Digest
  /** What is worth saving for good, found before anything was left out. */
  readonly memory: readonly MemoryEntry[]
}

type Reporting = {
  readonly request: ModelRequest
  readonly separation: Separation
  readonly meter: Meter
  readonly planned: Planned
  readonly options: CompactOptions
  readonly wire: Wire
  readonly trace: Trace
  readonly compacted?: Compacted
  readonly stack?: Stack
  readonly memory: Report["memory"]
}

/** The account of one compaction, or of why there was none. */
export function reportOf(reporting: Reporting): Report {
  const { request, separation, meter, planned, options, wire, trace, compacted, memory } = reporting
  const { plan, by, limits, stackTokens } = planned
  const { model } = meter
  const changed = wire !== request.wire
  const sent = changed ? decodeRequest(request.format, wire) : request
  const measured = (): Measured => measure(sent, changed ? separate(sent) : separation, meter)
  const after = compacted === undefined ? measured() : { stackTokens, outsideTokens: compacted.afterTokens }
  const weighing = trace.flatMap((event) => (event.type === "plan-made" ? (event.weighing ?? []) : []))[0]
  return {
    changed,
    remedy: compacted?.remedy ?? (changed ? "repair" : "none"),
    model: { id: model.id, known: model.known },
    counting: model.vocabulary === "o200k" ? "exact" : "estimated",
    limit: { by, tokens: limits.hardTokens, targetTokens: limits.targetTokens },
    before: inAll(request, measure(request, separation, meter)),
    after: inAll(sent, after),
    plan,
    strategy: typeof options.strategy === "function" ? "custom" : (options.strategy ?? "staged"),
    writer: compacted?.writer ?? "none",
    droppedMessages: trace.reduce(
      (sum, event) => sum + (event.type === "messages-dropped" ? event.messageIds.length : 0),
      0,
    ),
    shortenedResults: trace.filter(({ type }) => type === "result-shortened").length,
    memory,
    ...present({
      weighing,
      digest: compacted?.digest,
      stack: reporting.stack === undefined ? undefined : versionsOf(reporting.stack),
    }),
  }
}

const inAll = ({ messages }: ModelRequest, { stackTokens, outsideTokens }: Measured): Measure => ({
  messages: messages.length,
  stackTokens,
  outsideTokens,
  totalTokens: stackTokens + outsideTokens,
})
