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

/** A question to the session's own model, for whoever has its credential: to be sent as it is. Nobody waits for what comes of it. */
export type SummaryCall = {
  readonly format: Format
  readonly body: string
  /** Another model than the request names; on Gemini the path has to name it. */
  readonly model?: string
  readonly answered: (response: ModelResponse) => Promise<void>
  /** It came to nothing: refused, too many requests, no connection. It is not asked again for the same history. */
  readonly failed: (reason: string) => void
}

/** Of a million-token window one summary, of a usual one five: more than a day's session makes. */
const usualBudgetTokens = 1_000_000
/** A token from the provider's cache costs a tenth of a fresh one, an answer's five times as much. */
const cachedPrice = 0.1
const outputPrice = 5
const answerTokens = 1200
/** How long the session's own model may take: it may think first. */
const usualWaitMs = 180_000

const sessionSummarizerOf = ({ options }: Pick<Live, "options">): SessionSummarizer | undefined =>
  isSessionSummarizer(options.summarizer) ? options.summarizer : undefined

/** In tokens at the price of fresh input. */
const priceOf = ({ inputTokens, cacheReadTokens, outputTokens }: SummarySpending): number =>
  inputTokens - cacheReadTokens * (1 - cachedPrice) + outputTokens * outputPrice

/** May one more be asked for? By what was spent, and what one more takes if the cache holds. */
export function affordsSummary(live: Live, contextTokens: number): boolean {
  const { budgetTokens = usualBudgetTokens, model } = sessionSummarizerOf(live) ?? {}
  const share = model === undefined ? cachedPrice : 1
  return priceOf(live.summaries) + contextTokens * share + answerTokens * outputPrice <= budgetTokens
}

/** The question that is due, once; `sent` is the request as it went out, where that is not what was prepared. */
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
      spend(live, response.usage)
      const reason = await keepAnswer(live, due, response, { schema, ...present({ language }) })
      if (reason === undefined) live.emit({ type: "summary-ready", key: due.key })
      else failed(reason)
    },
  }
}

function spend(live: Live, usage: Usage | undefined): void {
  if (usage === undefined) return
  const { summaries } = live
  live.summaries = {
    ...summaries,
    inputTokens: summaries.inputTokens + usage.inputTokens,
    cacheReadTokens: summaries.cacheReadTokens + usage.cacheReadTokens,
    outputTokens: summaries.outputTokens + usage.outputTokens,
  }
}

/** Store what the model wrote, or say why there is nothing to store. Thinking is passed over, and calls are not made. */
async function keepAnswer(
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
  // It may have been deleted while its summary was written.
  if (live.removed || (await live.store.head(live.id)).seq === 0) return "session-removed"
  await live.store.putSummary(live.id, key, JSON.stringify(live.redact(summary)))
  return undefined
}

/** After an answer was recorded: ask the session's own model, where the options say how to reach it. */
export function askSessionModel(live: Live): void {
  const { send } = sessionSummarizerOf(live) ?? {}
  if (send === undefined || live.summaryDue === undefined) return
  live.beside("session-summary", async () => {
    const call = await takeSummaryCall(live)
    if (call === undefined) return
    const { format, body, model } = call
    const limitMs = live.options.summarizerMs ?? usualWaitMs
    try {
      const response = await withinMs(
        (signal) => send({ format, body, signal, ...present({ model }) }),
        limitMs,
        () => ({ code: "summarizer-late", limitMs }),
      )
      await call.answered(readResponse(response, format))
    } catch (error) {
      // The caller's own function may throw anything: the session goes on without this summary.
      call.failed(error instanceof HoldfastError ? error.problem.code : "threw")
    }
  })
}

/** What a summary of a request of this size takes, its answer included. */
export const expectedTokens = (contextTokens: number): number => contextTokens + answerTokens
