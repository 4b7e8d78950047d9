import type { CompactionPolicy } from "../compact/plan/policy.ts"
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
import type { Live } from "./live.ts"
import { entryId, seqOf } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"
import { createSummarizer } from "./one-shot/summarizer.ts"
import { budgetOf, type Preparing } from "./prepared.ts"
import { affordsSummary, sessionSummarizerOf } from "./session-summary.ts"
import { assemble, readMessages, readView } from "./view.ts"

/** What a summarizer is asked to stay within, as in a compaction: a page and a half. */
const summaryTokens = 1200

/** Ask for a summary of the older part of what is shown, once for each history. */
export async function beginSummary(
  preparing: Preparing,
  sent?: { readonly wire: string; readonly contextTokens: number },
): Promise<Speculation | undefined> {
  const { live, call, meter } = preparing
  const own = sessionSummarizerOf(live) !== undefined
  if ((live.queue === undefined && !own) || call.kind === "held") return undefined
  const known = await currentSpeculation(live)
  if (known !== undefined) return known
  const { at: node, checkpoint } = call.view
  if (!isStillWanted(live.journal.outline(), live.at, { node, base: checkpoint })) return undefined
  const assembled = assemble(call)
  const { policy, sizes } = budgetOf(preparing, assembled)
  const { conversation } = assembled.separation
  const roomTokens = sizes.windowTokens - sizes.reserveTokens
  const { schema = "handoff" } = live.options
  const chosen = chooseSpeculation(
    live.journal.outline(),
    { conversation, checkpoint: call.view.checkpoint },
    { meter, roomTokens, policy, schema },
  )
  if (chosen === undefined) return undefined
  const { key, base, covered } = chosen
  if (own) return beginOwnSummary(preparing, chosen, { conversation, sent })
  const payload = JSON.stringify({ node: chosen.node, base, covered, model: meter.model.id, format: call.frame.format })
  // First the job: whoever ends between the two leaves a summary that is found when it is asked for again, and no promise of one.
  await live.queue?.add({ key, session: live.id, kind: "summary", payload })
  await live.journal.commit(() => [{ type: "summary-begun", ...chosen }])
  return chosen
}

/** The session's own model is asked once the answer to what was sent is there: then the provider has it in its cache. */
async function beginOwnSummary(
  { live, call, meter }: Preparing,
  chosen: Speculation,
  {
    conversation,
    sent,
  }: {
    readonly conversation: Transcript
    readonly sent: { readonly wire: string; readonly contextTokens: number } | undefined
  },
): Promise<Speculation | undefined> {
  if (sent === undefined || !affordsSummary(live, sent.contextTokens)) return undefined
  await live.journal.commit(() => [{ type: "summary-begun", ...chosen }])
  const { format, model = meter.model.id } = call.frame
  live.summaryDue = { key: chosen.key, format, model, conversation, ...sent }
  return chosen
}

/** Write the summary that a job asks for, unless it is there already or nobody needs it any more. */
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
  // It may have been deleted while its summary was written.
  if ((await live.store.head(live.id)).seq === 0) return
  await live.store.putSummary(live.id, job.key, JSON.stringify(live.redact(summary)))
  live.emit({ type: "summary-ready", key: job.key })
}

/** What an earlier digest says that stands in what is summarized: it is told to the summarizer as such. */
async function carriedSummary(live: Live, at: number): Promise<Summary | undefined> {
  const { items } = await readView(live, at)
  for (const item of items) {
    const text = item.type === "made" ? item.message.parts.map(textOf).join("") : ""
    const digest = text === "" ? undefined : parseDigest(text)
    if (digest !== undefined) return digest.summary
  }
  return undefined
}

type Asked = Omit<Speculation, "key"> & { readonly model: string; readonly format: Format }

/** What a job says, if it is one of ours. */
function readJob({ payload }: Job): Asked | undefined {
  const value = tryParse(payload)
  if (!isObject(value)) return undefined
  const { node, base, covered, model, format } = value
  const known = formats.find((one) => one === format)
  if (typeof node !== "number" || typeof base !== "number" || typeof model !== "string" || known === undefined)
    return undefined
  if (!Array.isArray(covered) || !covered.every((seq) => typeof seq === "number")) return undefined
  return { node, base, covered, model, format: known }
}

/** What a background summary is of: these entries, as they stand behind this checkpoint. */
type Speculation = {
  readonly key: string
  readonly node: number
  readonly base: number
  readonly covered: readonly number[]
}

/** Less than this is said without a model as well as with one. */
const leastTokens = 2000

/** The part of what a compaction leaves that is the newest messages; the rest is the digest. */
const tailShare = 0.8

/**
 * What to summarize ahead of time: everything but what will still be shown when the compaction comes. Between now and then the context
 * grows by what lies between the two marks, and that much less of today's messages will be among the newest.
 */
function chooseSpeculation(
  outline: Outline,
  shown: { readonly conversation: Transcript; readonly checkpoint: number },
  room: {
    readonly meter: Meter
    readonly roomTokens: number
    readonly policy: CompactionPolicy
    readonly schema: SchemaName
  },
): Speculation | undefined {
  const { meter, roomTokens, policy, schema } = room
  const { conversation, checkpoint: base } = shown
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
  if (node === undefined || weight < leastTokens) return undefined
  return { key: prefixKey(outline, node, base, schema), node, base, covered: seqs }
}

function tokensOf(meter: Meter, conversation: Transcript, n: number): number {
  const message = conversation[n]
  return message === undefined ? 0 : meter.message(message)
}

/** The hash of the very history that ends with this message, and of what its summary is to look like. */
function prefixKey(outline: Outline, node: number, base: number, schema: SchemaName): string {
  const said = (outline.path(node) ?? []).map((seq) => outline.node(seq)?.key ?? "")
  return hashData([schema, base, entryId(node), said])
}

/** Is this still the session's history, compacted no further than when the summary was asked for? */
function isStillWanted(outline: Outline, at: number, { node, base }: Omit<Speculation, "key" | "covered">): boolean {
  return outline.path(at, node) !== undefined && outline.checkpointAt(at) === base
}

/** The summary that was begun for what is in force now, if one was. */
export async function currentSpeculation({ journal, at }: Live): Promise<Speculation | undefined> {
  const outline = journal.outline()
  const begun = outline.ofType("summary-begun").at(-1)
  const body = begun === undefined ? undefined : (await journal.entries([begun])).get(begun)?.body
  return body?.type === "summary-begun" && isStillWanted(outline, at, body) ? body : undefined
}

/** A summary as it was stored; nothing if it is not one. */
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
