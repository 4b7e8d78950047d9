import type { Compacted } from "../../compact/attempt.ts"
import { compact } from "../../compact/compact.ts"
import { isHeld } from "../../compact/held.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import { separate } from "../../compact/stack/separate.ts"
import { flush } from "../../compact/state/flush.ts"
import { type CheckOptions, checkTranscript } from "../../message/check.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { ModelRequest, Wire } from "../../message/message.ts"
import { type Repaired, repair } from "../../message/repair.ts"
import type { Meter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { adjacencyOf } from "../../wire/order.ts"
import type { Trace } from "../log/trace.ts"
import { choicesOf } from "./choices.ts"
import { meterFor } from "./meter-for.ts"
import { type CompactOptions, checkCompactNames, checkOptions } from "./options.ts"
import { type Planned, planRequest } from "./plan-request.ts"
import { type Report, reportOf } from "./report.ts"
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
  const request = decodeRequest(options.format, typeof body === "string" ? body : textOfBody(body))
  const meter = meterFor(request, options)
  const repaired = isBroken(request) ? repairRequest(request) : asItCame(request)
  const planned = planRequest({ ...request, messages: repaired.messages }, meter, options)
  const performed = await perform(request, repaired, meter, planned, options)
  const { wire, trace, compacted } = performed
  const flushed = options.flush === true && (compacted?.memory ?? []).length === 0
  const written = typeof body === "string" ? wire : JSON.parse(wire)
  return {
    body: wire === request.wire ? body : written,
    trace,
    report: reportOf({
      request,
      meter,
      planned,
      options,
      ...performed,
      memory: flushed ? flush(separate(request).conversation).entries : (compacted?.memory ?? []),
    }),
  }
}

type Performed = { readonly wire: Wire; readonly trace: Trace; readonly compacted?: Compacted }

async function perform(
  request: ModelRequest,
  repaired: Repaired,
  meter: Meter,
  planned: Planned,
  options: CompactOptions,
): Promise<Performed> {
  const { plan, sizes, limits } = planned
  const made: PlanEvent = { type: "plan-made", plan, sizes }
  if (plan.type !== "compact" && planned.pinsStand) {
    return { wire: encodeRequest(request, { messages: repaired.messages }), trace: [made, ...repaired.events] }
  }
  const { messages, events } = repairRequest(request)
  const choices = choicesOf(options, meter)
  const compacted = await compact({ format: request.format, request, messages, meter, limits, choices })
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
