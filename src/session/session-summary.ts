import { readingSteps } from "../compact/knowledge.ts"
import { readSessionAnswer, sessionQuestion } from "../compact/summary/session-question.ts"
import type { SchemaName } from "../compact/summary/summary.ts"
import { HoldfastError } from "../message/errors.ts"
import type { Format, ModelResponse, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { readAnswerText } from "../model/model.ts"
import { withinMs } from "../model/within-ms.ts"
import { runPaced } from "../store/pace.ts"
import { continueRequest } from "../wire/encode.ts"
import { readResponse } from "./log/read-response.ts"
import { isSessionSummarizer, type SessionSummarizer } from "./one-shot/summarizer.ts"
import type { Live, SummaryDue, SummarySpending } from "./state/live.ts"

/** A request for a summary by the session's own model, to be sent unchanged by the holder of its credential, in the background. */
export type SummaryCall = {
  readonly format: Format
  readonly body: string
  /** A model other than the one in the original request; for Gemini it belongs in the path. */
  readonly model?: string
  readonly answered: (response: ModelResponse) => Promise<void>
  /** Reports that the call failed: refused, rate limited, no connection. It is not repeated for the same history. */
  readonly failed: (reason: string) => void
}

/** Default budget: one summary of a million-token window or five of a usual one, more than a session of a day needs. */
const defaultBudgetTokens = 1_000_000
/** Price of a token read from the provider's cache, and of an output token, relative to an uncached input token. */
const cachedPrice = 0.1
const outputPrice = 5
const answerTokens = 1200
/** Default time limit for the session's own model, which may think first. */
const defaultWaitMs = 180_000

const sessionSummarizerOf = ({ options }: Pick<Live, "options">): SessionSummarizer | undefined =>
  isSessionSummarizer(options.summarizer) ? options.summarizer : undefined

/** The cost of summaries in tokens at the price of uncached input. */
const priceOf = ({ inputTokens, cacheReadTokens, outputTokens }: SummarySpending): number =>
  inputTokens - cacheReadTokens * (1 - cachedPrice) + outputTokens * outputPrice

/** True if the budget allows one more summary: by what was spent, and the cost of one more if the history is in the provider's cache. */
export function affordsSummary(live: Live, contextTokens: number): boolean {
  const { budgetTokens = defaultBudgetTokens, model } = sessionSummarizerOf(live) ?? {}
  const share = model === undefined ? cachedPrice : 1
  return priceOf(live.summaries) + contextTokens * share + answerTokens * outputPrice <= budgetTokens
}

/** Returns the summary request that is due, once. `sent` is the request as it was sent, if that is not what was prepared. */
export async function takeSummaryCall(live: Live, sent?: string): Promise<SummaryCall | undefined> {
  const due = live.summaryDue
  const wanted = sessionSummarizerOf(live)
  if (due === undefined || wanted === undefined || live.removed) return undefined
  delete live.summaryDue
  const { schema = "handoff", language } = live.options
  const { summary: record } = await runPaced(readingSteps(due.conversation, { schema }))
  const question = sessionQuestion({ schema, record, budgetTokens: answerTokens, ...present({ language }) })
  const { model } = wanted
  const body = continueRequest(due.format, sent ?? due.wire, question, present({ model }))
  if (body === undefined) return undefined
  live.summaries = { ...live.summaries, asked: live.summaries.asked + 1 }
  const failed = (reason: string): void => live.emit({ type: "summary-failed", key: due.key, reason })
  return {
    format: due.format,
    body,
    ...present({ model }),
    failed,
    answered: async (response) => {
      addUsage(live, response.usage)
      const reason = await storeSummary(live, due, response, { schema, ...present({ language }) })
      if (reason === undefined) live.emit({ type: "summary-ready", key: due.key })
      else failed(reason)
    },
  }
}

function addUsage(live: Live, usage: Usage | undefined): void {
  if (usage === undefined) return
  const { summaries } = live
  live.summaries = {
    ...summaries,
    inputTokens: summaries.inputTokens + usage.inputTokens,
    cacheReadTokens: summaries.cacheReadTokens + usage.cacheReadTokens,
    outputTokens: summaries.outputTokens + usage.outputTokens,
  }
}

/** Stores the summary in a response, or returns the reason why there is none. Reasoning is ignored, and tool calls are not executed. */
async function storeSummary(
  live: Live,
  { key, conversation }: SummaryDue,
  response: ModelResponse,
  reading: { readonly schema: SchemaName; readonly language?: string },
): Promise<string | undefined> {
  const { text, isRefused } = readAnswerText(response)
  if (isRefused) return "refused"
  const hasCalls = response.messages.some(({ parts }) => parts.some(({ type }) => type === "tool-call"))
  if (text === "") return hasCalls ? "called-tools" : "empty"
  const { summary, event } = readSessionAnswer(text, { messages: conversation, ...reading })
  if (summary === undefined) return event.outcome
  // The session may have been deleted meanwhile.
  if (live.removed || (await live.store.head(live.id)).seq === 0) return "session-removed"
  await live.store.putSummary(live.id, key, JSON.stringify(live.redact(summary)))
  return undefined
}

/** After a response was recorded: asks the session's own model for the summary that is due, if the options have a `send` function. */
export function askSessionModel(live: Live): void {
  const { send } = sessionSummarizerOf(live) ?? {}
  if (send === undefined || live.summaryDue === undefined) return
  live.beside("session-summary", async () => {
    const call = await takeSummaryCall(live)
    if (call === undefined) return
    const { format, body, model } = call
    const limitMs = live.options.summarizerMs ?? defaultWaitMs
    try {
      const response = await withinMs(
        (signal) => send({ format, body, signal, ...present({ model }) }),
        limitMs,
        () => ({ code: "summarizer-late", limitMs }),
      )
      await call.answered(readResponse(response, format))
    } catch (error) {
      // `send` may throw anything: the session continues without this summary.
      call.failed(error instanceof HoldfastError ? error.problem.code : "threw")
    }
  })
}

/** The expected tokens of a summary of a request of this size, including the response. */
export const expectedTokens = (contextTokens: number): number => contextTokens + answerTokens
