import { compact } from "../../compact/compact.ts"
import { isHeld } from "../../compact/held.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import { rejoin } from "../../compact/stack/rejoin.ts"
import { separate, separateMade } from "../../compact/stack/separate.ts"
import { applyEdits, isEdit } from "../../compact/stages/edit.ts"
import { ownMessage } from "../../compact/standing.ts"
import { flush } from "../../compact/state/flush.ts"
import { userTexts } from "../../compact/state/user-texts.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type CheckOptions, checkTranscript } from "../../message/group.ts"
import type { Format, Message, ModelRequest, Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { type RepairEvent, type Repaired, repair, replayRepair } from "../../message/repair.ts"
import { kindOfRule, rulesInText } from "../../rules/find-rules.ts"
import { carryPins, type Pin, type PinnedRule, type PinPlace, pinsHeading } from "../../rules/pin.ts"
import { pinLedger } from "../../rules/pin-ledger.ts"
import { readReplacements } from "../../rules/read-replacements.ts"
import { readWithdrawals, withdrawnBy } from "../../rules/read-withdrawals.ts"
import type { Meter } from "../../tokens/meter.ts"
import { adjacencyOf } from "../../wire/codecs.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import type { Trace, TraceEvent } from "../log/event.ts"
import { type StackedRequest, stackRequest } from "../stack/stack-options.ts"
import { type CompactOptions, checkCompactNames, checkOptions } from "./options.ts"
import { choicesOf, meterFor, planRequest, weighCompaction } from "./plan-request.ts"
import { type Report, type RequestOutcome, type RequestTask, reportOf } from "./report.ts"
import { checkPrompty } from "./summarizer.ts"

export type CompactResult<Body> = { readonly body: Body; readonly trace: Trace; readonly report: Report }

/**
 * Compacts one request so that it fits, in the same wire format, with a trace of every change. A body that fits is returned unchanged; one
 * that cannot be made to fit is a Problem. A string gives a string, an object gives an object.
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
  const repaired = isBroken(request) ? repairRequest(request) : unchanged(request)
  const separation = separate(request)
  const fit = { ...request, messages: repaired.messages }
  const planned = planRequest(fit, separateMade(separation, fit), meter, options)
  const task = { request, separation, meter, planned, options }
  const performed = await perform(task, repaired, stacked.documents)
  const { wire, compacted } = performed
  const trace = [...stacked.events, ...performed.trace]
  const flushed = options.flush === true && (compacted?.memory ?? []).length === 0
  const written = typeof body === "string" ? wire : JSON.parse(wire)
  return {
    body: wire === came.wire ? body : written,
    trace,
    report: reportOf({
      ...task,
      ...performed,
      trace,
      ...present({ stack: stacked.stack }),
      memory: flushed ? flush(separation.conversation).entries : (compacted?.memory ?? []),
    }),
  }
}

type WithStack = Pick<StackedRequest, "request" | "events"> & Partial<Pick<StackedRequest, "stack" | "documents">>

/** The request with the stack of the options, fitted to the window. */
function withOwnStack(came: ModelRequest, meter: Meter, options: CompactOptions): WithStack | Promise<WithStack> {
  if (options.stack === undefined) return { request: came, events: [] }
  return stackRequest(came, options.stack, { meter, windowTokens: options.windowTokens ?? meter.model.windowTokens })
}

async function perform(
  { request, separation: before, meter, planned, options }: RequestTask,
  repaired: Repaired,
  documents: StackedRequest["documents"] | undefined,
): Promise<RequestOutcome> {
  const { plan, sizes, limits } = planned
  const made: PlanEvent = { type: "plan-made", plan, sizes }
  if (plan.type !== "compact" && planned.pinsStand) {
    return { wire: encodeRequest(request, { messages: repaired.messages }), trace: [made, ...repaired.events] }
  }
  const { messages, events } = repairRequest(request)
  const own = choicesOf(options, meter)
  const said = rulesOf(messages, limits.targetTokens * ruleShare, (text) => meter.text(text))
  const pins = [...own.pins, ...said.filter(({ text }) => !own.pins.some((pin) => pin.text === text))]
  const choices = { ...own, pins, ...present({ documents }) }
  const separation = separateMade(before, { ...request, messages })
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

const unchanged = ({ messages }: ModelRequest): Repaired => ({ messages, events: [] })

/**
 * Repairs a request for sending: its last calls will get no results any more. A request that continues history at the provider is left
 * unchanged, because the provider has the other half.
 */
const repairRequest = (request: ModelRequest): Repaired =>
  isHeld(request) ? unchanged(request) : repair(request.messages, { ended: true, ...adjacencyFor(request) })

/** True if a provider would refuse the request. Its last calls may still wait for their results. */
const isBroken = (request: ModelRequest): boolean => checkTranscript(request.messages, adjacencyFor(request)).length > 0

function textOfBody(body: object): string {
  try {
    return JSON.stringify(body)
  } catch {
    throw new HoldfastError({
      code: "request-invalid",
      path: "the body",
      expected: "a JSON value",
      found: "a value that JSON cannot represent",
    })
  }
}

/** Share of the target size for rules found in the request. */
const ruleShare = 0.25

/** The rules in a single request: those in the pins message of an earlier compaction, and those that the user stated since. */
function rulesOf(messages: Transcript, budgetTokens: number, count: (text: string) => number): readonly PinnedRule[] {
  let pins: readonly Pin[] = messages.filter((message) => ownMessage(message) === "pins").flatMap(carriedRules)
  const written = userTexts(messages, { before: [], lifted: new Set() })
  for (const [n, message] of messages.entries())
    for (const { part, text: said } of written[n] ?? []) {
      const changed = readReplacements(said, pins)
      const gone = new Set([
        ...readWithdrawals(said).flatMap((withdrawal) => withdrawnBy(withdrawal, pins)),
        ...changed.map(({ pin }) => pin),
      ])
      const found = rulesInText(said, { channel: "user" })
      const stated = changed.filter(({ text }) => !found.some((rule) => rule.text.includes(text)))
      pins = [
        ...pins.filter((pin) => !gone.has(pin)),
        ...[...found, ...stated].map(({ text, start }) => pinnedAt(text, { entry: message.id, part, start })),
      ]
    }
  const standing = pinLedger(pins).filter(({ state }) => state === "in-force")
  return carryPins(standing, { budgetTokens, count }).carried
}

const pinnedAt = (text: string, place: PinPlace): Pin => ({
  id: JSON.stringify([place, text]),
  text,
  hash: "",
  channel: "user",
  by: "found",
  kind: kindOfRule(text),
  scope: "session",
  explicitness: "stated",
  place,
})

/** The user's rules in a generated pins message, verbatim. */
function carriedRules({ parts }: Message): readonly Pin[] {
  const lines = parts.flatMap((part) => (part.type === "text" ? part.text.split("\n") : []))
  const start = lines.indexOf(pinsHeading) + 1
  if (start === 0) return []
  const end = lines.findIndex((line, n) => n >= start && /^(?:<\/|\S.*:$)/.test(line) && !line.startsWith("- "))
  const rules = lines
    .slice(start, end < 0 ? lines.length : end)
    .join("\n")
    .split(/^- /m)
    .slice(1)
  return rules.map((rule, n) => pinnedAt(rule.trimEnd(), { document: String(n) }))
}

const isRepair = (event: TraceEvent): event is RepairEvent => "step" in event

/** Applies a trace again: the same body gives the same result, without a model, a meter or a decision. */
export function replayTrace(body: string, trace: Trace, { format }: { readonly format: Format }): string {
  const request = decodeRequest(format, body)
  const messages = replayRepair(request.messages, trace.filter(isRepair))
  const separation = separate({ system: request.system, tools: request.tools, messages })
  const rejoined = rejoin(separation, applyEdits(separation.conversation, trace.filter(isEdit)))
  return encodeRequest(request, { messages: rejoined.messages })
}
