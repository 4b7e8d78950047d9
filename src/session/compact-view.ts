import type { Compacted } from "../compact/attempt.ts"
import { compact, shortenResults } from "../compact/compact.ts"
import { isTripped, noteCompaction } from "../compact/plan/breaker.ts"
import type { PlanEvent } from "../compact/plan/event.ts"
import { separateMade } from "../compact/stack/separate.ts"
import { applyEdits, isEdit, isShortening } from "../compact/stages/edit.ts"
import { writeExtractive } from "../compact/state/extractive.ts"
import type { Summary, SummarySection } from "../compact/summary/summary.ts"
import type { CompactChoices, CompactTask, Summarizer, SummaryQuestion } from "../compact/task.ts"
import { ignoreCodes } from "../message/errors.ts"
import type { CallId, Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Pin } from "../rules/pin.ts"
import { createPause } from "../store/pace.ts"
import { predict } from "../tokens/calibrate.ts"
import { beginSummary, currentSpeculation, readSummary } from "./background.ts"
import { readInherited } from "./history/own-compaction.ts"
import { carriedPins, type PrepareState, pinOptions, type ViewBudget } from "./history/prepared.ts"
import { type AssembledView, assemble, standingEntries } from "./history/view.ts"
import { askBeforeCompact, askBeforeInstall, tellAfterCompact } from "./hooks.ts"
import { type CheckpointBody, entryId, handleFor, type Item, rangeHandleFor, seqOf } from "./log/entry.ts"
import type { LogEvent, Trace } from "./log/event.ts"
import { choicesOf, weighCompaction } from "./one-shot/plan-request.ts"
import { createSummarizer, isSessionSummarizer } from "./one-shot/summarizer.ts"
import { readSecret } from "./recall.ts"
import { favoredCalls, removedLookups } from "./rereads.ts"
import { operatorTexts } from "./rules/pins.ts"
import type { Live } from "./state/live.ts"

/** The result of a compaction: installed in the log, sent only this once, or not done. */
type Compaction =
  | { readonly type: "installed"; readonly trace: Trace }
  | { readonly type: "sent"; readonly wire: string; readonly messages: Transcript; readonly trace: Trace }
  | { readonly type: "held"; readonly trace: Trace }

const held = (reason: Extract<LogEvent, { type: "compaction-held" }>["reason"], trace: Trace = []): Compaction => ({
  type: "held",
  trace: [...trace, { type: "compaction-held", reason }],
})

/**
 * Compacts a view: asks the hooks, tries the remedies, compares the cost of losing the prompt cache, asks the hooks again, writes the log.
 * A context that fits may be left unchanged; one that does not is compacted in any case.
 */
export async function compactView(
  preparing: PrepareState,
  budgeted: ViewBudget,
  assembled: AssembledView,
): Promise<Compaction> {
  const { live, options } = preparing
  const { plan, sizes, fits } = budgeted
  const startMs = clockOf(live)
  const mustAdd = !budgeted.pinsStand
  const asked = options.occasion?.asked !== undefined
  const free = fits && !mustAdd && !asked
  if (free && isFresh(preparing)) return held("nothing-new")
  if (free && isTripped(live.breaker, sizes.contextTokens)) return held("no-progress")
  const before = plan.type === "compact" ? await askBeforeCompact(live, budgeted, options) : { events: [] }
  if (before.cancelled === true && !mustAdd) return held("cancelled", before.events)
  const { carried, leftOut } = carriedPins(preparing.pins, assembled, pinOptions(preparing, budgeted))
  const begun: Trace = [...(leftOut.length > 0 ? [noRoom(leftOut, budgeted)] : []), ...before.events]
  const task = await taskFor(preparing, budgeted, carried, before)
  const compacted =
    (before.cancelled === true ? undefined : await perform(task, budgeted)) ??
    (mustAdd ? await addRules(task) : undefined)
  if (compacted === undefined) {
    live.breaker = noteCompaction(sizes.contextTokens, sizes.contextTokens)
    return held("no-progress", begun)
  }
  const made: PlanEvent = {
    type: "plan-made",
    plan,
    sizes,
    weighing: weighCompaction(compacted, budgeted, preparing.meter),
  }
  const optional = plan.type === "compact" && !plan.forced && fits && !mustAdd
  if (optional && made.weighing?.pays === false) {
    live.breaker = noteCompaction(sizes.contextTokens, sizes.contextTokens)
    return held("costs-more", [made, ...begun])
  }
  const reported = withContextSizes(compacted, budgeted)
  const install = await askBeforeInstall(live, reported, { mustFit: !fits || mustAdd })
  if (install.vetoed === true) return held("vetoed", [made, ...begun, ...install.events])
  const trace: Trace = [made, ...begun, ...task.repairs, ...reported.events, ...install.events]
  if (preparing.call.kind === "held") {
    return { type: "sent", wire: compacted.wire, messages: compacted.context.messages, trace }
  }
  await task.pause?.()
  const body = checkpointOf(preparing, task, reported, { trace, tookMs: clockOf(live) - startMs })
  const installed = await commitCheckpoint(preparing, body, reported, trace)
  live.breaker = noteCompaction(compacted.beforeTokens, compacted.afterTokens)
  return installed
}

const clockOf = ({ options }: Live): number => (options.now ?? Date.now)()

/** A compaction with its sizes for reports: of the whole context, in the provider's tokens, as in a receipt. */
function withContextSizes(compacted: Compacted, { contextTokens, stackTokens, calibration }: ViewBudget): Compacted {
  const afterTokens = predict(calibration, stackTokens + compacted.afterTokens)
  const sizes = { beforeTokens: contextTokens, afterTokens }
  const events = compacted.events.map((event) => (event.type === "remedy-installed" ? { ...event, ...sizes } : event))
  return { ...compacted, ...sizes, events }
}

const noRoom = (leftOut: readonly Pin[], { sizes, policy }: ViewBudget): LogEvent => ({
  type: "pins-left-out",
  pins: leftOut.map(({ id }) => id),
  budgetTokens: Math.floor(sizes.windowTokens * policy.pinShare),
})

/** True if no message followed the last compaction: compacting again would gain nothing. */
const isFresh = ({ live, call }: PrepareState): boolean =>
  call.view.checkpoint !== 0 && live.journal.outline().nodeOf(call.view.checkpoint) === call.view.at

/** For a request body with more characters, others are served before and after each step that cannot be split, such as parsing. */
export const longBody = 100_000

type ViewTask = CompactTask & {
  readonly known: ReturnType<typeof assemble>["known"]
  readonly repairs: ReturnType<typeof assemble>["events"]
}

/** The compaction task. Tool results are always shortened from the original, never from a shortened text. */
async function taskFor(
  preparing: PrepareState,
  { limits }: ViewBudget,
  pins: readonly Pin[],
  before: { readonly focus?: string; readonly summary?: string },
): Promise<ViewTask> {
  const { call, meter } = preparing
  const { messages, separation, known, events } = assemble(call, "whole")
  // A copy, because the frame's text does not contain the log's messages.
  const copied = { ...call.frame, messages: [...messages] }
  return {
    format: call.frame.format,
    request: call.frame,
    messages: copied.messages,
    separation: separateMade(separation, copied),
    meter,
    limits,
    choices: await choicesFor(preparing, messages, pins, before),
    pause: createPause(),
    known,
    repairs: events,
  }
}

/** Runs the compaction. If the context fits already, failing to make it smaller is not a problem. */
async function perform(task: CompactTask, { plan, policy, fits }: ViewBudget): Promise<Compacted | undefined> {
  if (plan.type === "compact" && plan.depth === "micro") {
    const rounds = plan.reasons.some(({ trigger }) => trigger === "tool-rounds") ? policy.toolRounds : undefined
    return shortenResults(task, {
      largestTokens: policy.toolOutputTokens ?? Number.POSITIVE_INFINITY,
      keepRounds: rounds ?? Number.POSITIVE_INFINITY,
    })
  }
  return fits ? compact(task).catch(ignoreCodes("budget-impossible")) : compact(task)
}

/** Only adds the missing rules; does not make anything smaller. */
const addRules = (task: CompactTask): Promise<Compacted> =>
  compact({ ...task, limits: { ...task.limits, targetTokens: task.limits.hardTokens } })

/** Writes the checkpoint, unless another process compacted the same view meanwhile: then that one is in force. */
async function commitCheckpoint(
  { live, call }: PrepareState,
  body: CheckpointBody,
  compacted: Compacted,
  trace: Trace,
): Promise<Compaction> {
  const { entries } = await live.journal.commit((outline) =>
    outline.checkpointAt(call.view.at) === call.view.checkpoint ? [body] : [],
  )
  const seq = entries.find((entry) => entry.body.type === "checkpoint-installed")?.seq
  const checkpoint = entryId(seq ?? live.journal.outline().checkpointAt(call.view.at))
  delete live.undoneAt
  const { remedy, beforeTokens, afterTokens } = compacted
  live.emit({ type: "compaction-installed", checkpoint, remedy, beforeTokens, afterTokens })
  const reported = await tellAfterCompact(live, compacted, checkpoint)
  return { type: "installed", trace: [...trace, ...reported, { type: "checkpoint-installed", checkpoint }] }
}

/** The choices for a compaction: the session's options, rules and inherited facts, and recall handles if the store has the originals. */
async function choicesFor(
  preparing: PrepareState,
  messages: Transcript,
  pins: readonly Pin[],
  before: { readonly focus?: string; readonly summary?: string },
): Promise<CompactChoices> {
  const { live, call, meter, options } = preparing
  const focus = before.focus ?? options.focus ?? options.occasion?.asked?.focus
  const { strategy, strategyOptions, schema, language, toolBudgets, summarizer: wanted } = live.options
  const none = wanted === "none" ? wanted : undefined
  const { summarizer: _, ...choices } = choicesOf(
    {
      format: call.frame.format,
      ...present({ strategy, strategyOptions, schema, language, toolBudgets, focus, summarizer: none }),
    },
    meter,
  )
  const { summary } = before
  const summarizer =
    summary === undefined
      ? await readySummarizer(preparing)
      : createSummarizer({ format: call.frame.format, summarizer: async () => summary }, meter)
  const earlier = await readInherited(live)
  const recallable = live.options.recall === true && live.journal.isDurable() ? await handles(preparing, messages) : {}
  const favored = await favoredCalls(live, messages)
  const rules = [...operatorTexts(live), ...pins.map(({ text }) => text)]
  const { documents } = call.stack.inForce ?? {}
  return {
    ...choices,
    pins,
    ownPins: true,
    rules,
    favored,
    ...present({ earlier, summarizer, documents }),
    ...recallable,
  }
}

/** Creates recall handles: for a tool result, by the entry that has it in full; for the messages of a digest, by the last of them. */
async function handles(
  { live }: PrepareState,
  messages: Transcript,
): Promise<Pick<CompactChoices, "handleOf" | "rangeHandleOf">> {
  const secret = await readSecret(live)
  if (secret === undefined) return {}
  const places = new Map<CallId, number>()
  for (const { id, parts } of messages) {
    const seq = seqOf(id)
    if (seq !== undefined) for (const part of parts) if (part.type === "tool-result") places.set(part.callId, seq)
  }
  return {
    handleOf: (callId) => {
      const seq = places.get(callId)
      return seq === undefined ? undefined : handleFor(secret, seq, callId)
    },
    rangeHandleOf: (covered) => {
      const last = covered.reduce((newest, { id }) => Math.max(newest, seqOf(id) ?? 0), 0)
      return last === 0 ? undefined : rangeHandleFor(secret, last)
    },
  }
}

/** Poll interval while waiting for a summary. */
const pollMs = 20

/** A summarizer that returns the finished background summary, completed without a model for messages that it does not cover. */
async function readySummarizer(preparing: PrepareState): Promise<Summarizer | undefined> {
  const { live, options } = preparing
  const { summarizer } = live.options
  if (summarizer === undefined || typeof summarizer === "string") return undefined
  const maxWaitMs = options.maxWaitMs ?? live.options.maxWaitMs ?? 0
  const begun = (await currentSpeculation(live)) ?? (maxWaitMs > 0 ? await beginSummary(preparing) : undefined)
  if (begun === undefined) return undefined
  const summary = await awaitSummary(live, begun.key, maxWaitMs)
  const writer = typeof summarizer === "function" ? "custom" : "model"
  if (summary === undefined) {
    if (maxWaitMs > 0) preparing.notes.push({ type: "summary-awaited", key: begun.key, outcome: "late" })
    return undefined
  }
  preparing.notes.push({ type: "summary-used", key: begun.key, covered: begun.covered.length })
  const covered = new Set(begun.covered.map(entryId))
  // The lines of the session's own model are added to those extracted without a model, and replace none of them.
  if (isSessionSummarizer(summarizer)) return { writer, adds: true, write: async () => ({ summary, events: [] }) }
  return { writer, write: async (question) => ({ summary: complete(summary, question, covered), events: [] }) }
}

async function awaitSummary({ store, id }: Live, key: string, maxWaitMs: number): Promise<Summary | undefined> {
  const untilMs = performance.now() + maxWaitMs
  for (;;) {
    const json = await store.getSummary(id, key).catch(() => undefined)
    if (json !== undefined) return readSummary(json)
    if (performance.now() >= untilMs) return undefined
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, maxWaitMs)))
  }
}

/** Adds lines about the messages that a summary does not cover, extracted without a model, to the same sections. */
function complete(written: Summary, { messages, schema }: SummaryQuestion, covered: ReadonlySet<string>): Summary {
  const rest = messages.filter(({ id }) => !covered.has(id))
  const extracted = rest.length === 0 ? [] : writeExtractive(rest, { schema }).sections
  const names = [...new Set([...written.sections, ...extracted].map(({ name }) => name))]
  const linesOf = (sections: readonly SummarySection[], name: string): SummarySection["lines"] =>
    sections.find((section) => section.name === name)?.lines ?? []
  const sections = names.map((name) => ({
    name,
    lines: [...linesOf(written.sections, name), ...linesOf(extracted, name)],
  }))
  return { schema: written.schema, sections }
}

/** A compaction as a log entry: what is shown from now on in place of everything up to one message. */
function checkpointOf(
  { call: { view }, options }: PrepareState,
  { separation, known }: ViewTask,
  compacted: Compacted,
  { trace, tookMs }: { readonly trace: Trace; readonly tookMs: number },
): CheckpointBody {
  const edits = compacted.events.filter(isEdit)
  const byMessage = Map.groupBy(edits.filter(isShortening), ({ messageId }) => messageId)
  const before = new Map(separation.conversation.map((message) => [message.id, message]))
  // A message translated from another format has the id of its entry but other content, so it is stored in the checkpoint.
  const carried = new Set(view.items.flatMap((item) => (item.type === "made" ? item.message.id : [])))
  const after = applyEdits(separation.conversation, edits)
  const removed = removedLookups(separation.conversation, after)
  const items = after.map((message): Item => {
    const entry = seqOf(message.id)
    const whole = before.get(message.id)
    const cameIn = known.get(message.id)
    const isOurs = entry === undefined || carried.has(message.id)
    if (isOurs || whole === undefined || cameIn === undefined || !saysSame(whole, cameIn))
      return { type: "made", message }
    return { type: "shown", entry, ...present({ edits: byMessage.get(message.id) }) }
  })
  return {
    type: "checkpoint-installed",
    node: view.at,
    base: view.checkpoint,
    items,
    standing: standingEntries(separation),
    remedy: compacted.remedy,
    beforeTokens: compacted.beforeTokens,
    afterTokens: compacted.afterTokens,
    trace: JSON.stringify(trace),
    tookMs: Math.max(0, tookMs),
    ...present({
      ahead: options.isSent,
      focus: options.focus ?? options.occasion?.asked?.focus,
      removed: removed.length === 0 ? undefined : removed,
      summary: compacted.digest === undefined ? undefined : JSON.stringify(compacted.digest.summary),
    }),
  }
}

/** True if two messages have the same parts. Separating a request creates a new message object if it removes a document from it. */
const saysSame = (one: Message, other: Message): boolean =>
  one === other ||
  (one.role === other.role &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, n) => part === other.parts[n] || JSON.stringify(part) === JSON.stringify(other.parts[n])))
