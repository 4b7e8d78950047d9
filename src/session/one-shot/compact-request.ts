import type { Compacted } from "../../compact/attempt.ts"
import { compact } from "../../compact/compact.ts"
import { isHeld } from "../../compact/held.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import { type Separation, separate, separateMade } from "../../compact/stack/separate.ts"
import { flush } from "../../compact/state/flush.ts"
import { type CheckOptions, checkTranscript } from "../../message/check.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { ModelRequest, Wire } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { type Repaired, repair } from "../../message/repair.ts"
import type { Meter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { adjacencyOf } from "../../wire/order.ts"
import type { Trace } from "../log/trace.ts"
import { type StackedRequest, stackRequest } from "../stack/stack-options.ts"
import { choicesOf } from "./choices.ts"
import { meterFor } from "./meter-for.ts"
import { type CompactOptions, checkCompactNames, checkOptions } from "./options.ts"
import { type Planned, planRequest } from "./plan-request.ts"
import { type Report, reportOf } from "./report.ts"
import { checkPrompty } from "./summarizer.ts"
import { weighCompaction } from "./weigh.ts"

export type CompactResult<Body> = { readonly body: Body; readonly trace: Trace; readonly report: Report }

/**
 * One request in, one that fits out, in the same wire format, with an account of every change. A body that fits comes back as it
 * was; one that cannot be made to fit is a Problem. Text gives text, a parsed body gives a parsed body.
 */
export async function compactRequest(body: string, options: CompactOptions): Promise<CompactResult<string>>
export async function compactRequest<Body extends object>(
  body: Body,
  options: CompactOptions,
): Promise<CompactResult<Body>>
export async function compactRequest(
  body: string | object,
  options: CompactOptions,
): Promise<CompactResult<string | object>> {
  checkCompactNames(options)
  checkOptions(options)
  await checkPrompty(options.summarizer)
  const came = decodeRequest(options.format, typeof body === "string" ? body : textOfBody(body))
  const meter = meterFor(came, options)
  const stacked = await withOwnStack(came, meter, options)
  const { request } = stacked
  const repaired = isBroken(request) ? repairRequest(request) : asItCame(request)
  const separation = separate(request)
  const fit = { ...request, messages: repaired.messages }
  const planned = planRequest(fit, separateMade(separation, fit), meter, options)
  const { documents } = stacked
  const performed = await perform({ request, separation, repaired, meter, planned, options, ...present({ documents }) })
  const { wire, compacted } = performed
  const trace = [...stacked.events, ...performed.trace]
  const flushed = options.flush === true && (compacted?.memory ?? []).length === 0
  const written = typeof body === "string" ? wire : JSON.parse(wire)
  return {
    body: wire === came.wire ? body : written,
    trace,
    report: reportOf({
      request,
      separation,
      meter,
      planned,
      options,
      ...performed,
      trace,
      ...present({ stack: stacked.stack }),
      memory: flushed ? flush(separation.conversation).entries : (compacted?.memory ?? []),
    }),
  }
}

type Stacked = Pick<StackedRequest, "request" | "events"> & Partial<Pick<StackedRequest, "stack" | "documents">>

/** The request with the stack that the options name, made to fit. */
function withOwnStack(came: ModelRequest, meter: Meter, options: CompactOptions): Stacked | Promise<Stacked> {
  if (options.stack === undefined) return { request: came, events: [] }
  return stackRequest(came, options.stack, { meter, windowTokens: options.windowTokens ?? meter.model.windowTokens })
}

type Performed = { readonly wire: Wire; readonly trace: Trace; readonly compacted?: Compacted }

type Performing = {
  readonly request: ModelRequest
  readonly separation: Separation
  readonly repaired: Repaired
  readonly meter: Meter
  readonly planned: Planned
  readonly options: CompactOptions
  readonly documents?: StackedRequest["documents"]
}

async function perform(performing: Performing): Promise<Performed> {
  const { request, repaired, meter, planned, options, documents } = performing
  const { plan, sizes, limits } = planned
  const made: PlanEvent = { type: "plan-made", plan, sizes }
  if (plan.type !== "compact" && planned.pinsStand) {
    return { wire: encodeRequest(request, { messages: repaired.messages }), trace: [made, ...repaired.events] }
  }
  const { messages, events } = repairRequest(request)
  const choices = { ...choicesOf(options, meter), ...present({ documents }) }
  const separation = separateMade(performing.separation, { ...request, messages })
  const compacted = await compact({ format: request.format, request, messages, separation, meter, limits, choices })
  const decided: PlanEvent = { ...made, weighing: weighCompaction(compacted, planned, meter) }
  if (plan.type === "compact" && !plan.forced && decided.weighing?.pays === false) {
    return { wire: request.wire, trace: [decided] }
  }
  return { wire: compacted.wire, trace: [decided, ...events, ...compacted.events], compacted }
}

const adjacencyFor = ({ format }: ModelRequest): CheckOptions => {
  const adjacent = adjacencyOf[format]
  return adjacent === undefined ? {} : { adjacent }
}

const asItCame = ({ messages }: ModelRequest): Repaired => ({ messages, events: [] })

/** Fit to send: nobody will answer its last calls any more. What the provider holds the other half of is whole as it is. */
const repairRequest = (request: ModelRequest): Repaired =>
  isHeld(request) ? asItCame(request) : repair(request.messages, { ended: true, ...adjacencyFor(request) })

/** Would a provider refuse it? Its last calls may still be waiting for their results. */
const isBroken = (request: ModelRequest): boolean => checkTranscript(request.messages, adjacencyFor(request)).length > 0

function textOfBody(body: object): string {
  try {
    return JSON.stringify(body)
  } catch {
    throw new HoldfastError({
      code: "request-invalid",
      path: "the body",
      expected: "a JSON value",
      found: "one that JSON cannot hold",
    })
  }
}
