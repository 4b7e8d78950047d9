import type { Format } from "../message/message.ts"
import { runInSteps, runSteps, type Steps } from "../message/steps.ts"
import type { SseEvent } from "../wire/sse.ts"
import { indexOf, listOf, type PartStart, type StreamEvent } from "../wire/stream.ts"
import { decodeEnd, decodeStep, encodeEnd, encodeStep, startDecode, startEncode } from "../wire/stream-steps.ts"
import { mayBeginCall } from "./calls-in-text.ts"
import { callKey, isHarmless, isStray, readingsOf } from "./find-call.ts"
import type { Guard, Verdict } from "./guard.ts"
import {
  enqueued,
  forget,
  type GuardOutput,
  type GuardState,
  maxHeldBytes,
  maxHeldCalls,
  maxQueueBytes,
  refuseStream,
  releaseQueue,
  spokenCalls,
  type WatchedPart,
} from "./guard-queue.ts"
import { decisionRanks } from "./join-guards.ts"
import {
  approvedVerdict,
  checkGuardNames,
  checkGuardUse,
  costOf,
  type GuardUse,
  type JudgedCall,
  judgedCall,
  nobodyToAsk,
  spentWith,
  unapproved,
  unreadVerdict,
  verdictOn,
  withheldText,
  withSpent,
} from "./judge-call.ts"

type Step = readonly [GuardState, GuardOutput]

export function startGuard(format: Format, guard: Guard, use: GuardUse = {}): GuardState {
  checkGuardUse(use)
  const counts = { released: 0, withheld: 0, queuedBytes: 0, spentMinor: 0 }
  const open = {
    parts: new Map(),
    asked: new Map(),
    queue: undefined,
    first: undefined,
    allowed: new Set<string>(),
    texts: new Map(),
  }
  return { format, guard, use, ...open, ...counts, stopped: false, closed: false }
}

/**
 * Processes one event. Text is sent at once; a call is held from its first event to its last, with everything behind it, then judged and
 * sent unchanged or replaced by a text. A call that the provider runs is not held, because it cannot be stopped. An event that carries a
 * call where none is read is replaced by an error, and the stream ends there.
 */
export const guardStep = (state: GuardState, event: StreamEvent): Step => runSteps(guardEventSteps(state, event))

/** Same as `guardStep`, judging a call step by step. */
function* guardEventSteps(state: GuardState, event: StreamEvent): Steps<Step> {
  if (state.closed) return [state, nothing]
  if (state.use.mode === "observe") return yield* observe(state, event)
  const index = indexOf(event)
  const part = index === undefined ? undefined : state.parts.get(index)
  if (event.type === "error") return takeError(state, event)
  if (event.wire?.sse.type === "cut")
    return event.wire.sse.data.trim() === "[DONE]" ? queued(state, event) : [state, nothing]
  if (isStray(state.format, event, part !== undefined)) return refused(state, event)
  if (event.type === "part-start") return begin(state, event)
  if (event.type === "response-stop" || event.type === "response-end") {
    const [cut, judged] = cutParts(state, "the answer ended before it did")
    return queued({ ...cut, stopped: true }, event, judged)
  }
  if (event.type === "text-delta" && part === undefined) return takeText(state, event)
  if (index === undefined || part === undefined) return queued(state, event)
  if (part.outcome === "withheld") return [over(state, event, index), nothing]
  return yield* takePart(state, index, part, event)
}

/** Ends the stream: a part that has not ended is never sent. */
export function guardEnd(state: GuardState): Step {
  if (state.closed) return [state, nothing]
  const [cut, judged] = cutParts(state, "the stream ended before it did")
  const [next, events] = releaseQueue(cut)
  return [next, { events, judged, asks: [] }]
}

/** Applies a person's decision on a call that was asked about. */
export function settleAsk(state: GuardState, index: number, said: Verdict | "approved"): Step {
  const asked = state.asked.get(index)
  const part = state.parts.get(index)
  if (asked === undefined || part === undefined) return [state, nothing]
  const rest = new Map(state.asked)
  rest.delete(index)
  const found = { callId: asked.callId, tool: asked.tool, providerRun: false }
  const judged =
    said === "approved" ? judgedCall(found, asked.verdict, state.use, true) : judgedCall(found, said, state.use, false)
  return flushed(decide({ ...state, asked: rest }, index, part, judged), [judged])
}

/** Forgets a withheld part at its end, unless its replacement is still in the queue. */
const over = (state: GuardState, { type }: StreamEvent, index: number): GuardState =>
  type === "part-end" && state.queue === undefined ? forget(state, [index]) : state

const nothing: GuardOutput = { events: [], judged: [], asks: [] }

function flushed(state: GuardState, judged: readonly JudgedCall[]): Step {
  const [next, events] = releaseQueue(state)
  return [next, { events, judged, asks: [] }]
}

function queued(state: GuardState, event: StreamEvent, judged: readonly JudgedCall[] = []): Step {
  const next = enqueued(state, event)
  if (next.queuedBytes <= maxQueueBytes) return flushed(next, judged)
  const [cut, more] = cutParts(next, "too much waits behind it")
  return flushed(cut, [...judged, ...more])
}

/** Passes an error on unchanged if it holds nothing else; otherwise replaces it with our own error and ends the stream. */
function takeError(state: GuardState, event: StreamEvent): Step {
  const [cut, judged] = cutParts(state, "the stream broke off before it ended")
  // The error already says what happened, so the calls that it cut off get no text.
  if (isHarmless(event)) return queued(withoutReplacements(state, cut), event, judged)
  return refused(cut, event, judged)
}

function refused(state: GuardState, event: StreamEvent, before: readonly JudgedCall[] = []): Step {
  const [cut, judged] = cutParts(state, "the stream carried a call where none can be judged")
  const [flushedState, events] = releaseQueue(cut)
  const [closed, error] = refuseStream(flushedState, event)
  return [closed, { events: [...events, error], judged: [...before, ...judged], asks: [] }]
}

// Parts

const isWatched = ({ part }: PartStart): boolean => part === "tool-call" || part === "other"

/** Starts tracking a part at its first event. */
const watch = (start: WatchedPart["start"], event: StreamEvent, held: boolean, input = ""): WatchedPart => ({
  start,
  held,
  events: { item: event, before: undefined },
  input,
  bytes: bytesOf(event),
  outcome: "open",
})

const withPart = (state: GuardState, index: number, part: WatchedPart): GuardState => ({
  ...state,
  parts: new Map(state.parts).set(index, part),
})

function begin(state: GuardState, event: StreamEvent & PartStart): Step {
  if (!isWatched(event)) {
    const parts = new Map(state.parts)
    parts.delete(event.index)
    return queued({ ...state, parts }, event)
  }
  const held = !(event.part === "tool-call" && event.kind === "provider")
  const next = enqueued(withPart(state, event.index, watch(event, event, held)), event)
  if (!held) return flushed(next, [])
  const open = [...next.parts.values()].filter(({ outcome }) => outcome === "open").length
  if (state.stopped) return withhold(next, event.index, "it came after the answer had ended")
  return open > maxHeldCalls
    ? withhold(next, event.index, `more than ${maxHeldCalls} calls at a time`)
    : flushed(next, [])
}

/** Number of characters before a text delta in which a call that continues in it may have begun. */
const lookBack = 300

/** Sends text as it comes until a call could begin in it; from there on it is held to its end. */
function takeText(state: GuardState, event: StreamEvent & { readonly type: "text-delta" }): Step {
  const { index } = event
  const before = state.texts.get(index) ?? { said: "", tail: "" }
  // `said` is only appended to: searching it would copy the whole string at every event.
  const said = before.said + event.text
  const recent = before.tail + event.text
  state.texts.set(index, { said, tail: recent.slice(-lookBack) })
  if (!mayBeginCall(recent)) return queued(state, event)
  const part = watch({ type: "part-start", index, part: "text" }, event, true, said)
  return flushed(enqueued(withPart(state, index, part), event), [])
}

const bytesOf = ({ wire }: StreamEvent): number =>
  wire === undefined ? 0 : Math.ceil(wire.sse.raw.length / Math.max(1, wire.pieces))

function* takePart(state: GuardState, index: number, part: WatchedPart, event: StreamEvent): Steps<Step> {
  const grown = grow(part, event)
  const next = enqueued(withPart(state, index, grown), event)
  if (grown.bytes > maxHeldBytes) return withhold(next, index, `it takes more than ${maxHeldBytes} bytes`)
  if (next.queuedBytes > maxQueueBytes) return withhold(next, index, "too much waits behind it")
  return event.type === "part-end" ? yield* endPart(next, index, grown) : flushed(next, [])
}

function grow(part: WatchedPart, event: StreamEvent): WatchedPart {
  const isPiece = event.type === (part.start.part === "text" ? "text-delta" : "input-delta")
  const input = isPiece && "text" in event ? part.input + event.text : part.input
  return { ...part, input, bytes: part.bytes + bytesOf(event), events: { item: event, before: part.events } }
}

/** Judges every call that the part may be read as; the strictest verdict counts. */
function* endPart(state: GuardState, index: number, part: WatchedPart): Steps<Step> {
  const readings =
    part.start.part === "text"
      ? spokenCalls(part.input)
      : yield* readingsOf(state.format, { ...part, events: listOf(part.events) })
  const [first] = readings
  if (first === undefined)
    return flushed(withPart(state, index, { ...part, outcome: "released", events: undefined }), [])
  const use = withSpent(state.use, state.spentMinor)
  const verdicts: Verdict[] = []
  for (const reading of readings) {
    verdicts.push(yield* verdictOn(reading, state.guard, use))
    yield
  }
  const worst = strictestIndex(verdicts)
  const verdict = verdicts[worst] ?? unreadVerdict(first.tool, "it was not judged")
  const { callId, tool } = first
  // What the provider has already run can only be reported.
  const providerRun = !part.held || readings.every((reading) => reading.providerRun)
  const asks = verdict.decision === "ask" && !providerRun && state.use.mode !== "observe"
  if (asks && state.use.approve !== undefined) {
    const ask = { index, call: { tool, input: (readings[worst] ?? first).input }, verdict }
    const parts = new Map(state.parts).set(index, { ...part, outcome: "asked" })
    const asked = new Map(state.asked).set(index, { ...ask, callId, tool })
    return [
      { ...state, parts, asked },
      { events: [], judged: [], asks: [ask] },
    ]
  }
  const found = { callId, tool, providerRun }
  const judged = asks
    ? judgedCall(found, unapproved(verdict, nobodyToAsk), state.use, false)
    : judgedCall(found, verdict, state.use)
  if (judged.result === undefined && state.format === "openai-responses")
    for (const reading of readings) state.allowed.add(callKey(reading))
  return flushed(decide(state, index, part, judged), [judged])
}

/** Index of the strictest verdict; among equals, of the one that spends most, because a client may take any reading. */
function strictestIndex(verdicts: readonly Verdict[]): number {
  const weights = verdicts.map((verdict) => [decisionRanks[verdict.decision], costOf(verdict)] as const)
  return weights.reduce((worst, [rank, cost], n) => {
    const [most = 0, dearest = 0] = weights[worst] ?? []
    return rank > most || (rank === most && cost > dearest) ? n : worst
  }, 0)
}

/** Records the outcome of a part; its events are no longer needed for judging. */
function decide(state: GuardState, index: number, part: WatchedPart, judged: JudgedCall): GuardState {
  const withheld = judged.result !== undefined
  const signature = signatureIn(state, part)
  const takesOver =
    !withheld && signature === undefined && part.start.part === "tool-call" && part.start.kind === "function"
  const takenOver = takesOver ? state.seal : undefined
  const settled: WatchedPart = {
    ...part,
    events: undefined,
    outcome: withheld ? "withheld" : "released",
    ...(withheld ? { instead: withheldText(judged) } : {}),
    ...(takenOver === undefined ? {} : { seal: takenOver }),
  }
  const parts = new Map(state.parts).set(index, settled)
  const spentMinor = state.spentMinor + spentWith([judged])
  if (!judged.enforced) return { ...state, parts, spentMinor }
  return withheld
    ? { ...state, parts, withheld: state.withheld + 1, seal: state.seal ?? signature }
    : { ...state, parts, spentMinor, released: state.released + 1, seal: takesOver ? undefined : state.seal }
}

/**
 * Thought signature of a part: Gemini puts one on the first of its calls and rejects that call without it, see `withSignature` in
 * guard-response.ts.
 */
function signatureIn({ format }: GuardState, { events }: WatchedPart): string | undefined {
  if (format !== "gemini") return undefined
  const seal = listOf(events).find((event) => event.type === "signature-delta")
  return seal?.type === "signature-delta" ? seal.signature : undefined
}

function withhold(state: GuardState, index: number, why: string): Step {
  const [next, judged] = withholdOne(state, index, why)
  return flushed(next, judged)
}

function withholdOne(state: GuardState, index: number, why: string): readonly [GuardState, readonly JudgedCall[]] {
  const part = state.parts.get(index)
  if (part === undefined) return [state, []]
  const { start, held } = part
  if (start.part === "text" && spokenCalls(part.input).length === 0)
    return [withPart(state, index, { ...part, outcome: "released" }), []]
  const named = start.part === "tool-call" ? { callId: start.callId, tool: start.tool } : { callId: "", tool: "" }
  const judged = judgedCall({ ...named, providerRun: !held }, unreadVerdict(named.tool, why), state.use)
  return [decide(state, index, part, judged), [judged]]
}

/** Withholds parts that did not end and calls that nobody has decided on. */
function cutParts(state: GuardState, why: string): readonly [GuardState, readonly JudgedCall[]] {
  const all: JudgedCall[] = []
  let next = state
  for (const [index, { outcome }] of state.parts) {
    if (outcome !== "open" && outcome !== "asked") continue
    const [cut, judged] = withholdOne(next, index, why)
    next = cut
    all.push(...judged)
  }
  return [{ ...next, asked: new Map() }, all]
}

/** Removes the replacement text of parts that were still open before. */
function withoutReplacements(before: GuardState, after: GuardState): GuardState {
  const parts = new Map(after.parts)
  for (const [index, part] of after.parts) {
    const { instead: _, ...rest } = part
    if (before.parts.get(index)?.outcome === "open") parts.set(index, rest)
  }
  return { ...after, parts }
}

/** Passes everything on unchanged and judges calls as they end. */
function* observe(state: GuardState, event: StreamEvent): Steps<Step> {
  const index = indexOf(event)
  const out: GuardOutput = { events: [event], judged: [], asks: [] }
  if (event.type === "part-start" && (isWatched(event) || event.part === "text"))
    return [withPart(state, event.index, { ...watch(event, event, false), bytes: 0 }), out]
  const part = index === undefined ? undefined : state.parts.get(index)
  if (index === undefined || part?.outcome !== "open") return [state, out]
  const grown = grow(part, event)
  const next = withPart(state, index, grown)
  const [told, { judged }] =
    grown.bytes > maxHeldBytes
      ? withhold(next, index, `it takes more than ${maxHeldBytes} bytes`)
      : event.type === "part-end"
        ? yield* endPart(next, index, grown)
        : ([next, nothing] as const)
  return [told, { ...out, judged }]
}

export type StreamGuardUse = GuardUse & {
  /** Called for every call once it is judged, before it is sent. If it throws, the stream ends. */
  readonly onJudged?: (judged: JudgedCall) => unknown
}

type Events<Event> = AsyncIterable<Event> | Iterable<Event>

/** Guards a decoded stream; the output may be read, collected or encoded. */
export function guardEvents(
  format: Format,
  events: Events<StreamEvent>,
  guard: Guard,
  use: StreamGuardUse = {},
): AsyncGenerator<StreamEvent, void, undefined> {
  checkGuardNames(use, "guardEvents")
  checkGuardUse(use)
  return guardedEvents(format, events, guard, use)
}

async function* guardedEvents(
  format: Format,
  events: Events<StreamEvent>,
  guard: Guard,
  use: StreamGuardUse,
): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startGuard(format, guard, use)
  for await (const event of events) {
    const step =
      event.type === "part-end" ? await runInSteps(guardEventSteps(state, event), use.pause) : guardStep(state, event)
    const [next, out] = await settleOutput(step, use)
    state = next
    yield* out
  }
  const [, { events: rest, judged }] = guardEnd(state)
  for (const one of judged) await use.onJudged?.(one)
  yield* rest
}

/** Asks for approval, one call after the other, and applies each decision. */
async function settleOutput(
  [state, output]: readonly [GuardState, GuardOutput],
  use: StreamGuardUse,
): Promise<readonly [GuardState, readonly StreamEvent[]]> {
  for (const one of output.judged) await use.onJudged?.(one)
  let next = state
  const events = [...output.events]
  for (const { index, call, verdict } of output.asks) {
    const [told, more] = settleAsk(next, index, await approvedVerdict(call, verdict, use))
    for (const one of more.judged) await use.onJudged?.(one)
    next = told
    events.push(...more.events)
  }
  return [next, events]
}

/** Guards a stream of SSE events. If nothing is refused, the bytes that go out are those that came in. */
export function guardSse(
  format: Format,
  wire: Events<SseEvent>,
  guard: Guard,
  use: StreamGuardUse = {},
): AsyncGenerator<SseEvent, void, undefined> {
  checkGuardNames(use, "guardSse")
  checkGuardUse(use)
  return guardedSse(format, wire, guard, use)
}

async function* guardedSse(
  format: Format,
  wire: Events<SseEvent>,
  guard: Guard,
  use: StreamGuardUse,
): AsyncGenerator<SseEvent, void, undefined> {
  let state = startEncode(format)
  for await (const event of guardedEvents(format, decoded(format, wire), guard, use)) {
    const [next, written] = encodeStep(state, event)
    state = next
    yield* written
  }
  yield* encodeEnd(state)[1]
}

async function* decoded(format: Format, wire: Events<SseEvent>): AsyncGenerator<StreamEvent, void, undefined> {
  let state = startDecode(format)
  for await (const sse of wire) {
    const [next, events] = decodeStep(state, sse)
    state = next
    yield* events
  }
  yield* decodeEnd(state)
}
