import { setImmediate as nextTurn } from "node:timers/promises"
import type { Compacted } from "../compact/attempt.ts"
import { compact } from "../compact/compact.ts"
import { isTripped, noteCompaction } from "../compact/plan/breaker.ts"
import type { PlanEvent } from "../compact/plan/event.ts"
import { shortenResults } from "../compact/shorten-results.ts"
import type { CompactTask } from "../compact/task.ts"
import { HoldfastError } from "../message/errors.ts"
import { tokens } from "../message/ids.ts"
import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Pin } from "../rules/pin.ts"
import { predict } from "../tokens/calibrate.ts"
import { askBeforeCompact, askBeforeInstall, tellAfterCompact } from "./ask-hooks.ts"
import { type Assembled, assemble } from "./assemble.ts"
import type { Budgeted } from "./budget.ts"
import { carriedPins } from "./check-pins.ts"
import { checkpointOf } from "./checkpoint.ts"
import { choicesFor } from "./choices-for.ts"
import { entryId } from "./log/entry.ts"
import type { LogEvent } from "./log/event.ts"
import type { Trace } from "./log/trace.ts"
import { weighCompaction } from "./one-shot/weigh.ts"
import { type Preparing, pinOptions } from "./preparing.ts"

/** What came of a compaction: it is in force, it goes out this once, or it was left. */
export type Compaction =
  | { readonly type: "installed"; readonly checkpoint: string; readonly compacted: Compacted; readonly trace: Trace }
  | { readonly type: "sent"; readonly wire: string; readonly messages: Transcript; readonly trace: Trace }
  | { readonly type: "held"; readonly trace: Trace }

type HeldReason = Extract<LogEvent, { type: "compaction-held" }>["reason"]

const held = (reason: HeldReason, trace: Trace = []): Compaction => ({
  type: "held",
  trace: [...trace, { type: "compaction-held", reason }],
})

/**
 * Compact a view: what hooks say first, then the remedies, then what it costs in cache, then hooks again, then the log. A context that
 * fits may always be left as it is; one that does not is compacted whatever anyone says.
 */
export async function compactView(preparing: Preparing, budgeted: Budgeted, assembled: Assembled): Promise<Compaction> {
  const { live, options } = preparing
  const { plan, sizes, fits } = budgeted
  const mustAdd = !budgeted.pinsStand
  const asked = options.occasion?.asked !== undefined
  const free = fits && !mustAdd && !asked
  if (free && isFresh(preparing)) return held("nothing-new")
  if (free && isTripped(live.breaker, sizes.contextTokens)) return held("no-progress")
  const before = plan.type === "compact" ? await askBeforeCompact(live, budgeted, options) : { events: [] }
  if (before.cancelled === true && !mustAdd) return held("cancelled", before.events)
  const { carried, leftOut } = carriedPins(preparing.pins, assembled, pinOptions(preparing, budgeted))
  if (leftOut.length > 0) preparing.notes.push(noRoom(leftOut, budgeted))
  const task = await taskFor(preparing, budgeted, carried, before)
  const compacted =
    (before.cancelled === true ? undefined : await perform(task, budgeted)) ??
    (mustAdd ? await addRules(task) : undefined)
  if (compacted === undefined) {
    live.breaker = noteCompaction(sizes.contextTokens, sizes.contextTokens)
    return held("no-progress", before.events)
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
    return held("costs-more", [made, ...before.events])
  }
  const told = withContextSizes(compacted, budgeted)
  const install = await askBeforeInstall(live, told, { mustFit: !fits || mustAdd })
  if (install.vetoed === true) return held("vetoed", [made, ...before.events, ...install.events])
  const trace: Trace = [made, ...before.events, ...task.repairs, ...told.events, ...install.events]
  if (preparing.call.kind === "held") {
    return { type: "sent", wire: compacted.wire, messages: compacted.context.messages, trace }
  }
  const installed = await commitCheckpoint(preparing, task, told, trace)
  live.breaker = noteCompaction(compacted.beforeTokens, compacted.afterTokens)
  return installed
}

/** A compaction with the sizes that everyone is told: of the whole context, in the provider's own tokens, like those of a receipt. */
function withContextSizes(compacted: Compacted, { contextTokens, stackTokens, calibration }: Budgeted): Compacted {
  const afterTokens = predict(calibration, tokens(stackTokens + compacted.afterTokens))
  const sizes = { beforeTokens: contextTokens, afterTokens }
  const events = compacted.events.map((event) => (event.type === "remedy-installed" ? { ...event, ...sizes } : event))
  return { ...compacted, ...sizes, events }
}

const noRoom = (leftOut: readonly Pin[], { sizes, policy }: Budgeted): LogEvent => ({
  type: "pins-left-out",
  pins: leftOut.map(({ id }) => id),
  budgetTokens: Math.floor(sizes.windowTokens * policy.pinShare),
})

/** Was everything that is shown compacted already, and nothing said since? Then that was as good as it gets. */
const isFresh = ({ live, call }: Preparing): boolean =>
  call.view.checkpoint !== 0 && live.journal.outline().nodeOf(call.view.checkpoint) === call.view.at

/** A smaller request is compacted in some ten milliseconds. */
export const longBody = 100_000

type ViewTask = CompactTask & {
  readonly known: ReturnType<typeof assemble>["known"]
  readonly repairs: ReturnType<typeof assemble>["events"]
}

/** The view with every result whole: what was shortened before is shortened anew from what it was, never from what was left of it. */
async function taskFor(
  preparing: Preparing,
  { limits }: Budgeted,
  pins: readonly Pin[],
  before: { readonly focus?: string; readonly summary?: string },
): Promise<ViewTask> {
  const { live, call, meter } = preparing
  const { messages, known, events } = assemble(call.frame, call.view, live.documents, "whole")
  return {
    format: call.frame.format,
    request: call.frame,
    messages: [...messages],
    meter,
    limits,
    choices: await choicesFor(preparing, messages, pins, before),
    standing: live.documents,
    ...(call.frame.wire.length > longBody ? { pause: nextTurn } : {}),
    known,
    repairs: events,
  }
}

/** Only a context that does not fit has to be made to; for any other, that it cannot be made smaller is no problem. */
async function perform(task: CompactTask, { plan, policy, fits }: Budgeted): Promise<Compacted | undefined> {
  if (plan.type === "compact" && plan.depth === "micro") {
    const rounds = plan.reasons.some(({ trigger }) => trigger === "tool-rounds") ? policy.toolRounds : undefined
    return shortenResults(task, {
      largestTokens: policy.toolOutputTokens ?? Number.POSITIVE_INFINITY,
      keepRounds: rounds ?? Number.POSITIVE_INFINITY,
    })
  }
  try {
    return await compact(task)
  } catch (error) {
    if (fits && error instanceof HoldfastError && error.problem.code === "budget-impossible") return undefined
    throw error
  }
}

/** The rules and no more: everything else stays as large as it is. */
const addRules = (task: CompactTask): Promise<Compacted> =>
  compact({ ...task, limits: { ...task.limits, targetTokens: task.limits.hardTokens } })

/** Into the log, unless someone else compacted the same view meanwhile: then theirs is in force, and ours was for nothing. */
async function commitCheckpoint(
  { live, call, options }: Preparing,
  task: ViewTask,
  compacted: Compacted,
  trace: Trace,
): Promise<Compaction> {
  const focus = options.focus ?? options.occasion?.asked?.focus
  const body = checkpointOf({
    at: call.view.at,
    base: call.view.checkpoint,
    request: task.request,
    messages: task.messages,
    known: task.known,
    items: call.view.items,
    documents: live.documents,
    compacted,
    trace,
    ...present({ focus }),
  })
  const { entries } = await live.journal.commit((outline) =>
    outline.checkpointAt(call.view.at) === call.view.checkpoint ? [body] : [],
  )
  const seq = entries.find((entry) => entry.body.type === "checkpoint-installed")?.seq
  const checkpoint = entryId(seq ?? live.journal.outline().checkpointAt(call.view.at))
  delete live.undoneAt
  const { remedy, beforeTokens, afterTokens } = compacted
  live.emit({ type: "compaction-installed", checkpoint, remedy, beforeTokens, afterTokens })
  const told = await tellAfterCompact(live, compacted, checkpoint)
  return {
    type: "installed",
    checkpoint,
    compacted,
    trace: [...trace, ...told, { type: "checkpoint-installed", checkpoint }],
  }
}
