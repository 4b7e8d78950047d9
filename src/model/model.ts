import { assert } from "../message/assert.ts"
import type { ModelResponse, StopReason, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { readBaseUrl } from "./address.ts"
import { callModel } from "./call-model.ts"
import { fail } from "./failure.ts"
import { type ModelOptions, type Question, questionBody } from "./question.ts"
import { isModelRefusal, isRefusalPart } from "./refusal.ts"

/** The model's complete, non-empty text. */
export type ModelAnswerText = { readonly text: string; readonly stop: StopReason; readonly usage?: Usage }

/** A model that answers one question at a time. Every failure is a `HoldfastError`, and none contains a key. */
export type Model = {
  readonly ask: (question: Question & { readonly signal?: AbortSignal }) => Promise<ModelAnswerText>
}

/** Calls the model as `callModel` does, but without retries: every caller has a fallback. */
export function createModel(options: ModelOptions): Model {
  readBaseUrl(options.baseUrl)
  return {
    ask: async ({ system, user, signal }) => {
      const body = JSON.stringify(questionBody(options, { system, user }))
      const called = await callModel({ ...options, retries: 0 }, { body, stream: false, ...present({ signal }) })
      assert(called.type === "whole", "a stream that nobody asked for")
      return answerIn(called.response, options)
    },
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
