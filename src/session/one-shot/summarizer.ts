import { writeWithCustom } from "../../compact/summary/custom-write.ts"
import { attemptFailure, type WrittenSummary, writeWithModel } from "../../compact/summary/model-write.ts"
import { parsePrompty, summarizeWithPrompty } from "../../compact/summary/prompty.ts"
import type { Summarize } from "../../compact/summary/summary.ts"
import type { Summarizer, SummaryQuestion } from "../../compact/task.ts"
import type { Problem } from "../../message/errors.ts"
import { createModel, type ModelOptions } from "../../model/model.ts"
import { withinMs } from "../../model/within-ms.ts"
import type { RuleFinder } from "../../rules/find-rules.ts"
import { readFoundRules, ruleQuestion } from "../../rules/read-found-rules.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"
import { findModel } from "../../tokens/models.ts"
import type { CompactOptions } from "./options.ts"

/** A model that writes summaries: its address and limits, which have defaults. */
export type ModelSummarizer = Pick<ModelOptions, "format" | "baseUrl" | "apiKey" | "headers" | "model"> & {
  readonly maxOutputTokens?: number
  /** Limit on the conversation it is shown; most of its window by default. */
  readonly inputTokens?: number
  /** The text of a `.prompty` file, in place of the built-in prompt. */
  readonly prompty?: string
}

/**
 * The session's own model as summarizer, in the background: its request is the last one that was sent with our question appended, so that
 * the provider reads the history from its cache. `send` makes the call with the session's credential; behind a gateway it is not needed.
 */
export type SessionSummarizer = {
  readonly use: "session"
  /** Another model of the same provider. It has to be cheaper by more than the cache saves. */
  readonly model?: string
  /** Limit on the cost of the summaries of one session, in tokens at the price of uncached input; a million by default. */
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

/** Default time limit of a model call: a response takes a few seconds; after a minute the call counts as hanging. */
const defaultWaitMs = 60_000
/** Default output limit in tokens: enough for twice a page and a half of summary in JSON, or to quote a long page of rules. */
const defaultOutputTokens = 4096
const maxResponseBytes = 4_000_000
/** Share of the window for the conversation; the rest is for the response and for errors in our count. */
const inputShare = 0.7

/** The summarizer of the options; undefined if the built-in writer is used. It always ends and never throws. */
export function createSummarizer(
  { summarizer, maxWaitMs = defaultWaitMs, signal: stop }: CompactOptions,
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

/** Refuses an invalid `.prompty` file before any work begins. */
export async function checkPrompty(summarizer: SummarizerOption | undefined): Promise<void> {
  if (typeof summarizer === "object" && !isSessionSummarizer(summarizer) && summarizer.prompty !== undefined)
    await parsePrompty(summarizer.prompty)
}

type WaitLimit = { readonly maxWaitMs: number; readonly stop: AbortSignal | undefined }

function modelSummarizer(options: ModelSummarizer, waitLimit: WaitLimit): Summarizer {
  const { maxWaitMs } = waitLimit
  const { prompty, inputTokens = Math.floor(findModel(options.model).windowTokens * inputShare), ...where } = options
  const model = createModel({ maxOutputTokens: defaultOutputTokens, ...where, timeoutMs: maxWaitMs, maxResponseBytes })
  const { text: count } = createMeter({ model: options.model })
  if (prompty === undefined) {
    return limited(
      "model",
      (question, signal) =>
        writeWithModel((asked) => model.ask({ ...asked, signal }), { ...question, inputTokens, count }),
      waitLimit,
    )
  }
  return limited(
    "custom",
    async (question, signal) => {
      const summarize = summarizeWithPrompty(await parsePrompty(prompty), (asked) => model.ask({ ...asked, signal }))
      return writeWithCustom(summarize, { ...question, inputTokens, count, signal })
    },
    waitLimit,
  )
}

/** Adds a time limit to a summarizer; a timeout is reported like any other failure. */
function limited(
  writer: Summarizer["writer"],
  write: (question: SummaryQuestion, signal: AbortSignal) => Promise<WrittenSummary>,
  { maxWaitMs, stop }: WaitLimit,
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

/** A model that finds rules: its address and limits, which have defaults. */
export type ModelFinder = Pick<
  ModelSummarizer,
  "format" | "baseUrl" | "apiKey" | "headers" | "model" | "maxOutputTokens"
>

/** A finder that asks a model, which can only point at rules: the text must contain its quotations verbatim. */
export function createModelFinder(where: ModelFinder): RuleFinder {
  const model = createModel({
    maxOutputTokens: defaultOutputTokens,
    ...where,
    timeoutMs: defaultWaitMs,
    maxResponseBytes,
  })
  return async (text, options) => {
    const { text: answer } = await model.ask(ruleQuestion(text, options))
    return readFoundRules(answer, text, options)
  }
}
