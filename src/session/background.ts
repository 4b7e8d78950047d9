import { separate } from "../compact/stack/separate.ts"
import { parseDigest } from "../compact/summary/digest-text.ts"
import type { SchemaName, Summary } from "../compact/summary/summary.ts"
import { ownText } from "../message/fence.ts"
import { groupTurns } from "../message/group.ts"
import { type Format, formats, type Transcript, textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { hashData } from "../message/sha256.ts"
import type { Job } from "../store/store.ts"
import type { Meter } from "../tokens/meter.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { budgetOf, type PrepareState, type ViewBudget } from "./history/prepared.ts"
import { assemble, readMessages, readView } from "./history/view.ts"
import { entryId, seqOf } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"
import { createSummarizer, isSessionSummarizer } from "./one-shot/summarizer.ts"
import { affordsSummary } from "./session-summary.ts"
import type { Live, SummaryDue } from "./state/live.ts"

/** Token budget of a summary, the same as in a compaction: a page and a half. */
const summaryTokens = 1200

/** Starts a background summary of the older part of the view, once for each history. */
export async function beginSummary(
  preparing: PrepareState,
  sent?: Pick<SummaryDue, "wire" | "contextTokens">,
): Promise<Speculation | undefined> {
  const { live, call, meter } = preparing
  const { format, model } = call.frame
  const own = isSessionSummarizer(live.options.summarizer)
  if ((live.queue === undefined && !own) || call.kind === "held") return undefined
  const known = await currentSpeculation(live)
  if (known !== undefined) return known
  const { at: node, checkpoint } = call.view
  if (!isStillWanted(live.journal.outline(), live.at, { node, base: checkpoint })) return undefined
  const assembled = assemble(call)
  const { conversation } = assembled.separation
  const chosen = chooseSpeculation(preparing, budgetOf(preparing, assembled), conversation)
  if (chosen === undefined) return undefined
  const { key, ...about } = chosen
  if (own && (sent === undefined || !affordsSummary(live, sent.contextTokens))) return undefined
  // Add the job first: if the process ends between the two steps, a finished summary is still found later, and the log announces none that
  // does not exist.
  const payload = JSON.stringify({ ...about, model: meter.model.id, format })
  if (!own) await live.queue?.add({ key, session: live.id, kind: "summary", payload })
  await live.journal.commit(() => [{ type: "summary-begun", ...chosen }])
  // The session's own model is asked after the response to `sent` has arrived: then the provider has it in its cache.
  if (own && sent !== undefined)
    live.summaryDue = { key, format, model: model ?? meter.model.id, conversation, ...sent }
  return chosen
}

/** Writes the summary of a job, unless it already exists or is no longer needed. */
export async function writeSummary(live: Live, job: Job, signal: AbortSignal): Promise<void> {
  const asked = readJob(job)
  if (asked === undefined || (await live.store.getSummary(live.id, job.key)) !== undefined) return
  await live.journal.refresh()
  const outline = live.journal.outline()
  if (!isStillWanted(outline, outline.tip(), asked)) {
    live.emit({ type: "summary-abandoned", key: job.key })
    return
  }
  const messages = await readMessages(live, asked.covered)
  const { conversation } = separate({ system: [], tools: [], messages }, { standing: live.documents })
  const previous = await carriedSummary(live, asked.node)
  const { schema = "handoff", language, summarizerMs, summarizer: wanted } = live.options
  const meter = live.meterFor(asked.model, asked.format)
  const summarizer = createSummarizer(
    { format: asked.format, signal, ...present({ summarizer: wanted, maxWaitMs: summarizerMs }) },
    meter,
  )
  if (summarizer === undefined || signal.aborted) return
  const question = { messages: conversation, schema, budgetTokens: summaryTokens, ...present({ previous, language }) }
  const { summary, events } = await summarizer.write(question)
  if (signal.aborted) return
  if (summary === undefined) {
    const outcome = events.at(-1)?.outcome ?? "nothing"
    live.emit({ type: "summary-failed", key: job.key, reason: outcome })
    return
  }
  // The session may have been deleted meanwhile.
  if ((await live.store.head(live.id)).seq === 0) return
  await live.store.putSummary(live.id, job.key, JSON.stringify(live.redact(summary)))
  live.emit({ type: "summary-ready", key: job.key })
}

/** The summary in an earlier digest of the view: the summarizer gets it as the previous summary. */
async function carriedSummary(live: Live, at: number): Promise<Summary | undefined> {
  const { items } = await readView(live, at)
  for (const item of items) {
    const text = item.type === "made" ? item.message.parts.map(textOf).join("") : ""
    const digest = text === "" ? undefined : parseDigest(text)
    if (digest !== undefined) return digest.summary
  }
  return undefined
}

type SummaryJob = Omit<Speculation, "key"> & { readonly model: string; readonly format: Format }

function readJob({ payload }: Job): SummaryJob | undefined {
  const value = tryParse(payload)
  if (!isObject(value)) return undefined
  const { node, base, covered, model, format } = value
  const known = formats.find((one) => one === format)
  if (typeof node !== "number" || typeof base !== "number" || typeof model !== "string" || known === undefined)
    return undefined
  if (!Array.isArray(covered) || !covered.every((seq) => typeof seq === "number")) return undefined
  return { node, base, covered, model, format: known }
}

/** A background summary: the entries it covers, after which checkpoint. */
type Speculation = {
  readonly key: string
  readonly node: number
  readonly base: number
  readonly covered: readonly number[]
}

/** Shorter histories are summarized just as well without a model. */
const minTokens = 2000

/** Share of a compacted context that the newest messages take; the rest is the digest. */
const tailShare = 0.8

/**
 * Chooses the messages to summarize ahead of time: all except those that will still be shown after the compaction. Until then the context
 * grows from the speculation threshold to the compaction threshold, so that much less of today's messages will be among the newest.
 */
function chooseSpeculation(
  { live, call, meter }: PrepareState,
  { policy, sizes }: ViewBudget,
  conversation: Transcript,
): Speculation | undefined {
  const base = call.view.checkpoint
  const roomTokens = sizes.windowTokens - sizes.reserveTokens
  const growth = policy.compactAt - policy.speculateAt
  const tailTokens = Math.max(0, (policy.lowWater - growth) * tailShare * roomTokens)
  const groups = groupTurns(conversation)
  let end = groups.length
  for (let left = tailTokens; end > 0; end--) {
    const group = groups[end - 1]
    if (group === undefined || group.pending.length > 0) continue
    for (let n = group.start; n < group.end; n++) left -= tokensOf(meter, conversation, n)
    if (left < 0) break
  }
  const covered = conversation.slice(0, groups[end - 1]?.end ?? 0).filter((message) => {
    const [only] = message.parts
    return !(message.parts.length === 1 && only?.type === "text" && ownText(textOf(only)) !== undefined)
  })
  const seqs = covered.flatMap(({ id }) => seqOf(id) ?? [])
  const node = seqs.at(-1)
  const weight = covered.reduce((sum, message) => sum + meter.message(message), 0)
  if (node === undefined || weight < minTokens) return undefined
  const key = prefixKey(live.journal.outline(), node, base, live.options.schema ?? "handoff")
  return { key, node, base, covered: seqs }
}

function tokensOf(meter: Meter, conversation: Transcript, n: number): number {
  const message = conversation[n]
  return message === undefined ? 0 : meter.message(message)
}

/** A hash of the history up to this message, and of the summary's schema. */
function prefixKey(outline: Outline, node: number, base: number, schema: SchemaName): string {
  const keys = (outline.path(node) ?? []).map((seq) => outline.node(seq)?.key ?? "")
  return hashData([schema, base, entryId(node), keys])
}

/** True if this is still the session's history, and it was not compacted since the summary was requested. */
function isStillWanted(outline: Outline, at: number, { node, base }: Omit<Speculation, "key" | "covered">): boolean {
  return outline.path(at, node) !== undefined && outline.checkpointAt(at) === base
}

/** The background summary for the current view, if one was started. */
export async function currentSpeculation({ journal, at }: Live): Promise<Speculation | undefined> {
  const outline = journal.outline()
  const [begun] = await journal.ofType("summary-begun", outline.ofType("summary-begun").slice(-1))
  return begun !== undefined && isStillWanted(outline, at, begun.body) ? begun.body : undefined
}

export function readSummary(json: string): Summary | undefined {
  const value = tryParse(json)
  return isSummary(value) ? value : undefined
}

function isSummary(value: unknown): value is Summary {
  return (
    isObject(value) &&
    typeof value.schema === "string" &&
    Array.isArray(value.sections) &&
    value.sections.every(isSection)
  )
}

const isSection = (section: unknown): boolean =>
  isObject(section) &&
  typeof section.name === "string" &&
  Array.isArray(section.lines) &&
  section.lines.every((line) => isObject(line) && typeof line.text === "string" && Array.isArray(line.sources))
