import { writeWithCustom } from "../../compact/summary/custom-write.ts"
import { attemptFailure, type WrittenSummary, writeWithModel } from "../../compact/summary/model-write.ts"
import { parsePrompty, summarizeWithPrompty } from "../../compact/summary/prompty.ts"
import type { Summarize } from "../../compact/summary/summary.ts"
import type { Summarizer, SummaryQuestion } from "../../compact/task.ts"
import type { Problem } from "../../message/errors.ts"
import { createModel } from "../../model/model.ts"
import type { ModelOptions } from "../../model/question.ts"
import { withinMs } from "../../model/within-ms.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"
import { findModel } from "../../tokens/models.ts"
import type { CompactOptions } from "./options.ts"

/** A model that writes summaries: where it is, and the limits on it, which have defaults. */
export type ModelSummarizer = Pick<ModelOptions, "format" | "baseUrl" | "apiKey" | "headers" | "model"> & {
  readonly maxOutputTokens?: number
  /** How much of the conversation it is shown; most of its window unless given. */
  readonly inputTokens?: number
  /** The text of a `.prompty` file to ask it with, in place of the built-in question. */
  readonly prompty?: string
}

/**
 * The session's own model, in the background: its request is the last one that was sent, with our question behind it, so that the provider
 * reads the history from its cache. `send` makes the call with the session's own credential; a gateway makes it by itself.
 */
export type SessionSummarizer = {
  readonly use: "session"
  /** Another model of the same provider; one that is cheaper by more than what the cache saves. */
  readonly model?: string
  /** What the summaries of one session may take, in tokens at the price of fresh input; a million unless given. */
  readonly budgetTokens?: number
  readonly send?: (call: {
    readonly format: ModelOptions["format"]
    readonly body: string
    readonly model?: string
    readonly signal: AbortSignal
  }) => Promise<string | object>
}

export type SummarizerOption = "extractive" | "none" | Summarize | ModelSummarizer | SessionSummarizer

export const isSessionSummarizer = (option: SummarizerOption | undefined): option is SessionSummarizer =>
  typeof option === "object" && option !== null && "use" in option

/** A summary takes a model some seconds; a minute is a model that hangs. */
const usualWaitMs = 60_000
/** A summary of a page and a half, twice over, in JSON. */
const usualOutputTokens = 4096
const maxResponseBytes = 4_000_000
/** Of a window, so much for what is shown; the rest is for the answer and for our count being off. */
const inputShare = 0.7

/** Nobody, where the built-in writer is enough; otherwise one that always ends and never throws. */
export function createSummarizer(
  { summarizer, maxWaitMs = usualWaitMs, signal: stop }: CompactOptions,
  meter: Meter,
): Summarizer | undefined {
  if (summarizer === undefined || typeof summarizer === "string" || isSessionSummarizer(summarizer)) return undefined
  if (typeof summarizer === "function") {
    const inputTokens = Math.floor(meter.model.windowTokens * inputShare)
    return limited(
      "custom",
      (question, signal) => writeWithCustom(summarizer, { ...question, inputTokens, count: meter.text, signal }),
      { maxWaitMs, stop },
    )
  }
  return modelSummarizer(summarizer, { maxWaitMs, stop })
}

/** Refuse a `.prompty` file with a mistake in it before any work is begun. */
export async function checkPrompty(summarizer: SummarizerOption | undefined): Promise<void> {
  if (typeof summarizer === "object" && !isSessionSummarizer(summarizer) && summarizer.prompty !== undefined)
    await parsePrompty(summarizer.prompty)
}

/** How long at most, and who may end it sooner. */
type Patience = { readonly maxWaitMs: number; readonly stop: AbortSignal | undefined }

function modelSummarizer(options: ModelSummarizer, patience: Patience): Summarizer {
  const { maxWaitMs } = patience
  const { prompty, inputTokens = Math.floor(findModel(options.model).windowTokens * inputShare), ...where } = options
  const model = createModel({ maxOutputTokens: usualOutputTokens, ...where, timeoutMs: maxWaitMs, maxResponseBytes })
  const { text: count } = createMeter({ model: options.model })
  if (prompty === undefined) {
    return limited(
      "model",
      (question, signal) =>
        writeWithModel((asked) => model.ask({ ...asked, signal }), { ...question, inputTokens, count }),
      patience,
    )
  }
  return limited(
    "custom",
    async (question, signal) => {
      const summarize = summarizeWithPrompty(await parsePrompty(prompty), (asked) => model.ask({ ...asked, signal }))
      return writeWithCustom(summarize, { ...question, inputTokens, count, signal })
    },
    patience,
  )
}

/** At most so long, whatever the function does; late is one more way to fail. */
function limited(
  writer: Summarizer["writer"],
  write: (question: SummaryQuestion, signal: AbortSignal) => Promise<WrittenSummary>,
  { maxWaitMs, stop }: Patience,
): Summarizer {
  const late: Problem = { code: "summarizer-late", limitMs: maxWaitMs }
  const stopped: Problem = { code: "upstream-stopped", host: "the summarizer" }
  return {
    writer,
    write: async (question) => {
      try {
        return await withinMs(
          (signal) => write(question, signal),
          maxWaitMs,
          () => late,
          stop === undefined ? undefined : { signal: stop, onStop: () => stopped },
        )
      } catch (error) {
        const failure = attemptFailure(error)
        return { events: [{ type: "summary-attempted", writer, attempt: 1, outcome: failure.type, failure }] }
      }
    },
  }
}
