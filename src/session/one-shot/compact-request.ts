import { compact } from "../../compact/compact.ts"
import { isHeld } from "../../compact/held.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import { seekRules } from "../../compact/seek-rules.ts"
import { rejoin } from "../../compact/stack/rejoin.ts"
import { type Separation, separate, separateMade } from "../../compact/stack/separate.ts"
import { applyEdits, isEdit } from "../../compact/stages/edit.ts"
import { ownMessage } from "../../compact/standing.ts"
import { flush } from "../../compact/state/flush.ts"
import { userTexts } from "../../compact/state/user-texts.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type CheckOptions, checkTranscript } from "../../message/group.ts"
import type { Format, Message, ModelRequest, Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { type RepairEvent, type Repaired, repair, replayRepair } from "../../message/repair.ts"
import { runSteps } from "../../message/steps.ts"
import { kindOfRule } from "../../rules/find-rules.ts"
import { carryPins, type Pin, type PinnedRule, type PinPlace, readHeading } from "../../rules/pin.ts"
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
  const said = rulesOf(messages, before, limits.targetTokens * ruleShare, (text) => meter.text(text))
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

/**
 * The rules in a single request: those in the pins message of an earlier compaction, and those that were stated since, found as in a
 * session. Only what the user wrote ends or replaces one.
 */
function rulesOf(
  messages: Transcript,
  { infrastructure }: Separation,
  budgetTokens: number,
  count: (text: string) => number,
): readonly PinnedRule[] {
  const lifted = new Set(infrastructure.documents.flatMap(({ part }) => (part.type === "text" ? [part.text] : [])))
  const around = { before: [], lifted }
  let pins: readonly Pin[] = messages.filter((message) => ownMessage(message) === "pins").flatMap(carriedRules)
  const written = userTexts(messages, around)
  const found = runSteps(seekRules(messages, around))
  for (const [n, message] of messages.entries()) {
    // What a client's summary retells is part of the conversation and no rule of its own here.
    const stated = (found[n] ?? [])
      .filter(({ channel }) => channel !== "memory")
      .map(({ at, ...rule }) => pinOf(rule, { entry: message.id, ...at }))
    for (const { part, text: said, shift } of written[n] ?? []) {
      const changed = readReplacements(said, pins).filter(({ start }) => start >= shift)
      const gone = new Set([
        ...readWithdrawals(said).flatMap((withdrawal) => withdrawnBy(withdrawal, pins)),
        ...changed.map(({ pin }) => pin),
      ])
      const own = stated.filter(({ place }) => place !== undefined && "part" in place && place.part === part)
      const replacing = changed.filter(({ text }) => !own.some((rule) => rule.text.includes(text)))
      pins = [
        ...pins.filter((pin) => !gone.has(pin)),
        ...own,
        ...replacing.map(({ text, start }) =>
          pinOf({ ...users, text }, { entry: message.id, part, start: start - shift }),
        ),
      ]
    }
    pins = [...pins, ...stated.filter((rule) => !pins.includes(rule))]
  }
  const standing = pinLedger(pins).filter(({ state }) => state === "in-force")
  return carryPins(standing, { budgetTokens, count }).carried
}

type Stated = Pick<Pin, "text" | "channel" | "source" | "context" | "explicitness">
const users = { channel: "user", explicitness: "stated" } as const

const pinOf = (rule: Stated, place: PinPlace): Pin => ({
  ...rule,
  id: JSON.stringify([place, rule.text]),
  hash: "",
  by: "found",
  kind: kindOfRule(rule.text),
  scope: "session",
  place,
})

/** The rules in a generated pins message, verbatim, each with the channel and source that its heading names. */
function carriedRules({ parts }: Message): readonly Pin[] {
  const pins: Pin[] = []
  let heading: ReturnType<typeof readHeading>
  let lines: string[] | undefined
  const end = (): void => {
    const text = lines?.join("\n").trimEnd()
    if (text !== undefined && heading !== undefined)
      pins.push(pinOf({ explicitness: "stated", ...heading, text }, { document: String(pins.length) }))
    lines = undefined
  }
  for (const line of parts.flatMap((part) => (part.type === "text" ? part.text.split("\n") : []))) {
    const next = readHeading(line)
    if (next !== undefined || line.startsWith("- ") || line.startsWith("</")) end()
    if (next !== undefined) heading = next
    else if (line.startsWith("- ")) lines = [line.slice(2)]
    else lines?.push(line)
  }
  end()
  return pins
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
