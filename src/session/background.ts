import { separate } from "../compact/stack/separate.ts"
import { parseDigest } from "../compact/summary/digest-text.ts"
import type { Summary } from "../compact/summary/summary.ts"
import { type Format, formats } from "../message/message.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import type { Job } from "../store/job.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { assemble } from "./assemble.ts"
import type { Live } from "./live.ts"
import { createSummarizer } from "./one-shot/summarizer.ts"
import { budgetOf, type Preparing } from "./preparing.ts"
import { readMessages, readView } from "./read-view.ts"
import { chooseSpeculation, isStillWanted, type Speculation } from "./speculation.ts"
import { currentSpeculation } from "./stored-summary.ts"

/** What a summarizer is asked to stay within, as in a compaction: a page and a half. */
const summaryTokens = 1200

/** Ask for a summary of the older part of what is shown, once for each history. */
export async function beginSummary(preparing: Preparing): Promise<Speculation | undefined> {
  const { live, call, meter } = preparing
  if (live.queue === undefined || call.kind === "held") return undefined
  const known = await currentSpeculation(live)
  if (known !== undefined) return known
  const { at: node, checkpoint } = call.view
  if (!isStillWanted(live.journal.outline(), live.at, { node, base: checkpoint })) return undefined
  const assembled = assemble(call.frame, call.view, live.documents)
  const { messages, frame } = assembled
  const { policy, sizes } = budgetOf(preparing, assembled)
  const { conversation } = separate({ ...frame, messages }, { standing: live.documents })
  const roomTokens = sizes.windowTokens - sizes.reserveTokens
  const { schema = "handoff" } = live.options
  const chosen = chooseSpeculation(
    live.journal.outline(),
    { conversation, checkpoint: call.view.checkpoint },
    { meter, roomTokens, policy, schema },
  )
  if (chosen === undefined) return undefined
  const { key, base, covered } = chosen
  const payload = JSON.stringify({ node: chosen.node, base, covered, model: meter.model.id, format: frame.format })
  // First the job: whoever ends between the two leaves a summary that is found when it is asked for again, and no promise of one.
  await live.queue.add({ key, session: live.id, kind: "summary", payload })
  await live.journal.commit(() => [{ type: "summary-begun", ...chosen }])
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
