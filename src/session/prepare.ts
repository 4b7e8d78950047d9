import { readingAhead } from "../compact/knowledge.ts"
import type { PlanEvent } from "../compact/plan/event.ts"
import { documentsIn, markMessages } from "../compact/stack/place-stack.ts"
import { separate } from "../compact/stack/separate.ts"
import { flushSteps } from "../compact/state/flush.ts"
import { assert } from "../message/assert.ts"
import { HoldfastError, ignoreCodes, problemOrThrow } from "../message/errors.ts"
import { isSpoken } from "../message/fence.ts"
import { type Message, type ModelRequest, messageId, type Transcript, textOfMessage } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Steps } from "../message/steps.ts"
import type { Pin } from "../rules/pin.ts"
import { othersServed, runPaced } from "../store/pace.ts"
import { predict } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import { encodeRequest } from "../wire/encode.ts"
import { beginSummary, currentSpeculation } from "./background.ts"
import { compactView, longBody } from "./compact-view.ts"
import { withHandoff } from "./handoff.ts"
import { type Call, openCall, requireRules, withNewView, withOtherStack } from "./history/open-call.ts"
import {
  budgetOf,
  type Prepared,
  type PrepareOptions,
  type PrepareState,
  type Receipt,
  type ViewBudget,
} from "./history/prepared.ts"
import { type CallStack, installStack, receiptOf } from "./history/session-stack.ts"
import { type AssembledView, assemble, readMessages, release, type View } from "./history/view.ts"
import { entryId } from "./log/entry.ts"
import type { LogEvent, Trace } from "./log/event.ts"
import { retrieve } from "./memory/retrieve.ts"
import { isSessionSummarizer } from "./one-shot/summarizer.ts"
import { noteRereads } from "./rereads.ts"
import { isInForce, knownPins, operatorRules, operatorTexts, rulesIn, standingPins } from "./rules/pins.ts"
import { affordsSummary, expectedTokens } from "./session-summary.ts"
import type { Live } from "./state/live.ts"

/** The request to send, and how it was decided. */
type Outcome = {
  readonly assembled: AssembledView
  readonly wire: string
  readonly trace: Trace
  readonly budgeted: ViewBudget
  /** The new view, if it changed. */
  readonly view?: View
  /** A compaction was due but was not done. */
  readonly isHeld?: true
  /** The prompt stack, if it changed since the call was opened. */
  readonly stack?: CallStack
}

/**
 * Prepares the next model call of a session: the log's view at the current message, with all rules in force, within the window. Earlier
 * decisions are kept as they are; something new is decided only if the plan requires it.
 */
export async function prepare(live: Live, options: PrepareOptions): Promise<Prepared> {
  await live.options.operator?.refresh()
  const refuses = options.whenStoreIsAway === "refuse"
  if (refuses) await requireRules(live)
  const opened = await openCall(live, options, await knownPins(live))
  if (refuses) requireSavedRules(live)
  const { moves } = live
  const { call, events } = await retrieveFor(live, opened)
  if (call.frame.wire.length > longBody) await othersServed()
  const meter = live.meterFor(options.model ?? call.frame.model ?? live.options.model, call.frame.format)
  const pins = await standingPins(live)
  const rereads = await noteRereads(live, call.view, call.frame.messages)
  const preparing = await withHandoff({
    ...{ live, call, meter, pins, options, notes: [...rereads.events] },
    rereads: rereads.count,
  })
  // Count each message once, in slices; later counts are cached.
  await runPaced(countEach(meter, call.frame.messages))
  const outcome = await decide(preparing).catch((error: unknown) => decideWithoutFound(preparing, error))
  // The entries that the call refers to have moved: the store came back during the call, and others had written to it. Start again.
  if (live.moves !== moves && call.kind !== "held") return prepare(live, options)
  await expectSummary(live, outcome.budgeted)
  startBackgroundWork(preparing, outcome)
  if (outcome.view !== undefined) release(live, outcome.view)
  const trace: Trace = [...call.events, ...events, ...preparing.notes, ...outcome.trace, ...durability(live)]
  return finish(preparing, { ...outcome, trace })
}

/** Throws while a shared store lacks a rule that only this process has, because the rule could be lost. */
function requireSavedRules({ journal, store }: Live): void {
  const problem = journal.problem()
  if (problem === undefined || !store.isShared) return
  const newest = journal.outline().ofType("rule-pinned").at(-1)
  if (newest !== undefined && !journal.isSaved(newest)) throw new HoldfastError(problem)
}

function* countEach(meter: Meter, messages: Transcript): Steps<void> {
  for (const message of messages) {
    yield* meter.messageSteps(message)
    yield
  }
}

/** Durability events since the last call; they are also emitted to listeners. */
export function durability({ journal, emit }: Live): Trace {
  const events = journal.takeEvents()
  for (const event of events) {
    if (event.type === "durability-degraded" || event.type === "durability-restored") emit(event)
  }
  return events
}

/** If required content does not fit together with the rules found in messages, leaves those rules out; the trace lists them. */
function decideWithoutFound(preparing: PrepareState, error: unknown): Promise<Outcome> {
  const found = preparing.pins.some((pin) => pin.by === "found" && isInForce(pin))
  const isImpossible = error instanceof HoldfastError && error.problem.code === "budget-impossible"
  if (!found || !isImpossible) throw error
  return decide({ ...preparing, withoutFound: true })
}

/** Limit on attempts, repeated if another process compacted the same view. That happens now and then; this often in a row it is a bug. */
const maxDecisions = 5

/** Leaves the view unchanged, or compacts it. The resulting view must contain the rules and fit, even if another process compacted it. */
async function decide(preparing: PrepareState, decisions = 1): Promise<Outcome> {
  const { live, call } = preparing
  const assembled = assemble(call)
  const budgeted = budgetOf(preparing, assembled)
  const made: PlanEvent = { type: "plan-made", plan: budgeted.plan, sizes: budgeted.sizes }
  if (budgeted.plan.type !== "compact" && budgeted.pinsStand) {
    const isLeft = preparing.options.repair === "when-changed" && call.kind === "client" && assembled.showsAll
    const [wire, events] = isLeft ? [call.frame.wire, []] : [encodeView(preparing, assembled), assembled.events]
    return { assembled, wire, budgeted, trace: [made, ...checkpointEvents(call), ...events] }
  }
  const swapped = await decideWithNewStack(preparing, decisions)
  if (swapped !== undefined && swapped.isHeld !== true) return swapped
  if (swapped !== undefined && budgeted.fits && budgeted.pinsStand)
    return { assembled, wire: encodeView(preparing, assembled), budgeted, trace: swapped.trace, isHeld: true }
  if (budgeted.check.missing.length > 0) preparing.notes.push(reassertedEvent(budgeted.check.missing))
  const compaction = await compactView(preparing, budgeted, assembled)
  if (compaction.type === "held") {
    const trace = [made, ...compaction.trace, ...checkpointEvents(call), ...assembled.events]
    return { assembled, wire: encodeView(preparing, assembled), budgeted, trace, isHeld: true }
  }
  if (compaction.type === "sent") {
    // History at the provider has no view here, so send the compacted text itself.
    const sent = { ...assembled, messages: compaction.messages }
    return { assembled: sent, wire: compaction.wire, budgeted: budgetOf(preparing, sent), trace: compaction.trace }
  }
  if (call.frame.wire.length > longBody) await othersServed()
  const changed = await withNewView(live, call)
  const again = assemble(changed)
  const after = budgetOf(preparing, again)
  if (!after.pinsStand || !after.fits) {
    assert(decisions < maxDecisions, "a compaction in force that lacks a rule or does not fit")
    return decide({ ...preparing, call: changed }, decisions + 1)
  }
  const trace = [...compaction.trace, ...again.events]
  return { assembled: again, wire: encodeView(preparing, again), budgeted: after, trace, view: changed.view }
}

/**
 * Installs a waiting prompt stack together with a compaction that is due: the provider's cache is reset once for both. If the compaction is
 * not done, or the new stack leaves no room, nothing changes. If the new stack is so much smaller that everything fits, no compaction is
 * needed.
 */
async function decideWithNewStack(preparing: PrepareState, decisions: number): Promise<Outcome | undefined> {
  const { live, call, meter } = preparing
  const { waiting } = call.stack
  if (waiting === undefined || call.kind === "held") return undefined
  const { stack, source } = waiting
  const inForce = { seq: 0, stack, source, ttl: call.stack.inForce?.ttl ?? "5m", documents: documentsIn(stack) }
  const next = await withOtherStack(live, call, inForce)
  const notes: LogEvent[] = []
  const noRoom = ignoreCodes("floor-exceeds-window", "budget-impossible")
  const outcome = await decide({ ...preparing, call: next, notes }, decisions).catch(noRoom)
  if (outcome === undefined || outcome.isHeld === true) return outcome
  const installed = await installStack(live, waiting, "compaction", { meter })
  live.frame = next.base
  preparing.notes.push(...notes)
  return { ...outcome, trace: [...installed.events, ...outcome.trace], stack: installed }
}

const reassertedEvent = (missing: readonly Pin[]): LogEvent => ({
  type: "pins-reasserted",
  pins: missing.map(({ id }) => id),
})

const checkpointEvents = ({ view }: Call): Trace =>
  view.checkpoint === 0 ? [] : [{ type: "checkpoint-applied", checkpoint: entryId(view.checkpoint) }]

/**
 * Encodes the view. Unchanged messages of a client keep their own bytes. Messages of the log are written into the frame, with cache markers
 * after a prompt stack, because no client sets them.
 */
function encodeView({ live, call }: PrepareState, { frame, messages }: AssembledView): string {
  const { inForce } = call.stack
  if (call.kind !== "log" || inForce === undefined)
    return encodeRequest(frame, { messages: messages === frame.messages && hasOwn(frame) ? messages : [...messages] })
  return encodeRequest(frame, {
    messages: [...markMessages(frame, messages, live.sent?.messages.at(-1)?.id, inForce.ttl)],
  })
}

/** True if the frame's text contains its messages. */
const hasOwn = ({ layout, messages }: ModelRequest): boolean => layout.messages?.elements.length === messages.length

function finish(preparing: PrepareState, { assembled, wire, trace, budgeted, ...outcome }: Outcome): Prepared {
  const { live, call, meter } = preparing
  const { frame, messages } = assembled
  const { format, system, tools } = frame
  const stable = stableTokens(live, assembled, budgeted.overheadTokens, meter)
  const receipt: Receipt = {
    session: live.id,
    entry: entryId(live.at),
    contextTokens: budgeted.contextTokens,
    stackTokens: budgeted.stackTokens,
    windowTokens: budgeted.windowTokens,
    compactAtTokens: budgeted.compactAtTokens,
    compactUnreadAtTokens: budgeted.compactUnreadAtTokens,
    stableTokens: Math.min(budgeted.contextTokens, predict(budgeted.calibration, stable)),
    changed: call.kind === "log" ? trace.some(({ type }) => type === "checkpoint-installed") : wire !== call.came,
    durable: live.journal.isDurable(),
    ...rulesIn([...operatorRules(live), ...preparing.pins]),
    ...present({
      checkpoint: checkpointOf(live),
      stack: receiptOf(outcome.stack ?? call.stack),
      rereads: outcome.view === undefined ? preparing.rereads : undefined,
      summaries: isSessionSummarizer(live.options.summarizer) ? live.summaries : undefined,
    }),
  }
  live.sent = {
    at: live.at,
    model: meter.model.id,
    tokens: budgeted.sizes.contextTokens,
    system: frame.system,
    messages,
    held: call.kind === "held",
  }
  live.emit({
    type: "context-prepared",
    contextTokens: receipt.contextTokens,
    windowTokens: receipt.windowTokens,
    changed: receipt.changed,
  })
  let parsed: object | undefined
  return {
    // Parsed on demand: callers that send the text do not need it.
    get body() {
      if (call.asText) return wire
      const read: object = parsed ?? JSON.parse(wire)
      parsed = read
      return read
    },
    wire,
    context: { format, system, tools, messages },
    trace,
    receipt,
    allLogged: call.separation.conversation.length === call.separation.request.messages.length,
    rules: [...operatorTexts(live), ...preparing.pins.filter(isInForce).map(({ text }) => text)],
  }
}

function checkpointOf({ journal, at }: Live): string | undefined {
  const seq = journal.outline().checkpointAt(at)
  return seq === 0 ? undefined : entryId(seq)
}

/** Tokens at the beginning that are the same as in the previous request, by our own count. */
function stableTokens(
  { sent }: Live,
  { frame, messages }: AssembledView,
  overheadTokens: number,
  meter: Meter,
): number {
  if (sent === undefined || sent.system.length !== frame.system.length) return 0
  if (!frame.system.every((part, n) => part === sent.system[n] || sameJson(part, sent.system[n]))) return 0
  let stable = overheadTokens
  for (const [n, message] of messages.entries()) {
    const before = sent.messages[n]
    const same =
      message === before ||
      (message.wire !== undefined && message.wire === before?.wire && message.parts.length === before.parts.length)
    if (!same) break
    stable += meter.message(message)
  }
  return stable
}

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Puts the expected size of a summary by the session's own model into the receipt before the model is asked. */
async function expectSummary(live: Live, { plan, contextTokens }: ViewBudget): Promise<void> {
  const isDue = plan.type === "leave" && plan.speculate && isSessionSummarizer(live.options.summarizer)
  if (!isDue || !affordsSummary(live, contextTokens) || (await currentSpeculation(live)) !== undefined) return
  live.summaries = { ...live.summaries, expectedTokens: expectedTokens(contextTokens) }
}

/** Starts the background work of a plan after the call: memory flush, reading ahead, and speculative summary. */
function startBackgroundWork(preparing: PrepareState, { budgeted, wire, view }: Outcome): void {
  const { live } = preparing
  const { plan, contextTokens } = budgeted
  const flushes = view !== undefined || plan.type === "compact" || (plan.type === "leave" && plan.flush)
  if (flushes && live.options.memory?.flush !== false) {
    live.later("memory", () => flushMemory(live, preparing.call))
  }
  const isWritten = (): boolean => live.queue !== undefined || isSessionSummarizer(live.options.summarizer)
  // A compaction is near: read the conversation for it now, while the model answers.
  if (plan.type === "leave" && plan.flush && preparing.call.kind !== "held")
    live.later("reading", async () => {
      await runPaced(readingAhead(assemble(preparing.call, "whole").separation.conversation))
    })
  if (plan.type === "leave" && plan.speculate && isWritten()) {
    live.later("speculation", async () => {
      await beginSummary(preparing, { wire, contextTokens })
    })
  }
}

/** Limit on the messages flushed to memory at once; older ones were flushed when they were new. */
const maxMessages = 5000
/** Number of entries after which the log notes that everything was flushed, even if there was nothing to remember. */
const maxUnnoted = 100

/** Writes the messages since the last flush to memory before they are compacted, from the request if it has them, else from the log. */
async function flushMemory(live: Live, { frame, separation }: Call): Promise<void> {
  const { journal, at } = live
  const outline = journal.outline()
  const last = outline.ofType("memory-flushed").at(-1)
  const upTo = last === undefined ? 0 : (outline.reference(last) ?? 0)
  const path = outline.path(at, Math.max(upTo, live.flushed)) ?? outline.path(at, upTo) ?? outline.path(at) ?? []
  if (path.length === 0) return
  const newest = path.slice(-maxMessages)
  const byId = new Map<string, Message>(separation.conversation.map((message) => [message.id, message]))
  const isShown = newest.every((seq) => byId.has(entryId(seq)))
  // Keep them in memory: if the store becomes unavailable and the client leaves this branch, they are still known.
  const whole = new Map<string, Message>(isShown ? frame.messages.map((message) => [message.id, message]) : [])
  for (const seq of newest) {
    const message = whole.get(entryId(seq))
    if (message !== undefined) live.messages.set(seq, message)
  }
  const conversation = isShown
    ? newest.flatMap((seq) => byId.get(entryId(seq)) ?? [])
    : await readConversation(live, newest)
  const { entries, worthless } = await runPaced(flushSteps(conversation))
  const { written, known, leftOut, limit } = await live.memory.remember(live.id, live.redact(entries))
  live.flushed = at
  // Messages without anything new are not worth a write of their own: they are read again if the session is opened anew.
  if (written.length + leftOut > 0 || at - upTo > maxUnnoted)
    await journal.commit(() => [{ type: "memory-flushed", upTo: at, rows: written.length }])
  const skipped = Object.fromEntries(Object.entries({ worthless, known, leftOut }).filter(([, count]) => count > 0))
  live.emit({ type: "memory-flushed", rows: written.length, ...skipped, ...present({ limit }) })
}

async function readConversation(live: Live, seqs: readonly number[]): Promise<Transcript> {
  const messages = await readMessages(live, seqs)
  return separate({ system: [], tools: [], messages }, { standing: live.documents }).conversation
}

type RetrievalResult = { readonly call: Call; readonly events: readonly LogEvent[] }

/** The id of a message with retrieved memory contains the entry that it precedes. */
const retrievedId = /^r\d+$/

/**
 * Inserts rows of memory about the user's latest message before it, once. They stay there, so that later calls and the provider's cache
 * find them in the same place. Only if `memory.retrieve` is set.
 */
async function retrieveFor(live: Live, call: Call): Promise<RetrievalResult> {
  const wanted = live.options.memory?.retrieve
  const last = call.view.items.at(-1)
  const unchanged: RetrievalResult = { call, events: [] }
  if (wanted === undefined || call.kind === "held" || last?.type !== "shown") return unchanged
  const message = call.frame.messages.findLast(({ id }) => id === entryId(last.entry))
  const before = call.view.items.at(-2)
  if (message === undefined || !isSpoken(message) || (before?.type === "made" && retrievedId.test(before.message.id))) {
    return unchanged
  }
  const meter = live.meterFor(call.frame.model, call.frame.format)
  const shownTexts = call.frame.messages.map(textOfMessage)
  const found = await retrieve(live.memory, {
    text: textOfMessage(message),
    budgetTokens: wanted.budgetTokens,
    count: meter.text,
    exclude: (text) => shownTexts.some((said) => said.includes(text)),
    ...present({ trustedOnly: wanted.trustedOnly }),
  }).catch((error: unknown) => {
    // If memory is unavailable, report that and continue without it.
    live.emit({ type: "background-failed", work: "memory", problem: problemOrThrow(error) })
  })
  if (found === undefined) return unchanged
  const made: Message = {
    id: messageId(`r${last.entry}`),
    role: "user",
    parts: [{ type: "text", text: found.text, channel: "memory" }],
  }
  await live.journal.commit(() => [{ type: "memory-retrieved", before: last.entry, message: made }])
  return {
    call: await withNewView(live, call),
    events: [{ type: "memory-retrieved", rows: found.rows.length, leftOut: found.refused }],
  }
}
