import type { ModelResponse, StopReason, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { readBaseUrl } from "./address.ts"
import { causeOf, createTelling, fail, failureIn, readModelResponse } from "./failure.ts"
import { type ModelOptions, type Question, writeQuestion } from "./question.ts"
import { readLimited } from "./read-limited.ts"
import { isModelRefusal, isRefusalPart } from "./refusal.ts"
import { withinMs } from "./within-ms.ts"

/** A model's words, whole and not empty. */
export type ModelAnswerText = { readonly text: string; readonly stop: StopReason; readonly usage?: Usage }

/** A model that answers one question at a time; whatever goes wrong is a `HoldfastError`, and no key is ever in it. */
export type Model = {
  readonly ask: (question: Question & { readonly signal?: AbortSignal }) => Promise<ModelAnswerText>
}

export function createModel(options: ModelOptions): Model {
  const { host } = readBaseUrl(options.baseUrl)
  const tell = createTelling(options)

  const send = async (question: Question, signal: AbortSignal): Promise<ModelAnswerText> => {
    const { url, headers, body } = writeQuestion(options, question)
    const reach = (cause: unknown): never => fail({ code: "upstream-unreachable", host, reason: causeOf(cause) })
    // A redirect would carry the key to wherever it points.
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal,
      redirect: "manual",
    }).catch(reach)
    const text = await readLimited(response, options.maxResponseBytes).catch(reach)
    if (text === undefined) return fail({ code: "upstream-too-large", host, limitBytes: options.maxResponseBytes })
    const failure = failureIn(text, response, tell)
    return failure === undefined ? answerIn(readModelResponse(options.format, text), options) : fail(failure)
  }

  return {
    ask: ({ system, user, signal }) =>
      withinMs(
        (late) => send({ system, user }, late),
        options.timeoutMs,
        () => ({ code: "upstream-timeout", host, limitMs: options.timeoutMs }),
        signal === undefined ? undefined : { signal, onStop: () => ({ code: "upstream-stopped", host }) },
      ),
  }
}

function answerIn(response: ModelResponse, { model, maxOutputTokens }: ModelOptions): ModelAnswerText {
  const parts = response.messages.filter(({ role }) => role === "assistant").flatMap((message) => message.parts)
  const text = parts
    .flatMap((part) => (part.type === "text" && !isRefusalPart(part) ? [part.text] : []))
    .join("")
    .trim()
  if (response.stop === "refusal" || (text === "" && isModelRefusal(response)))
    return fail({ code: "answer-refused", model })
  if (response.stop === "length" || response.stop === "context-window") {
    return fail({ code: "answer-cut", model, limitTokens: maxOutputTokens })
  }
  if (text === "") return fail({ code: "answer-empty", model })
  return { text, stop: response.stop, ...present({ usage: response.usage }) }
}
